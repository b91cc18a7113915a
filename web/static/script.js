// The page's entry.

import { render } from "preact";
import { connect } from "./js/connection.js";
import { html } from "./js/html.js";
import { keepDrafts, keepRequests } from "./js/keeping.js";
import { acceptKeys } from "./js/keys.js";
import { acceptDrops } from "./js/picking.js";
import { keepRoom } from "./js/room.js";
import { followRoute } from "./js/route.js";
import { App } from "./js/views/frame/app.js";

const root = document.getElementById("app");
root.replaceChildren(); // what the server drew, see index.html
keepRoom();
render(html`<${App} />`, root);
keepDrafts();
keepRequests();
connect();
followRoute();
acceptDrops();
acceptKeys();
