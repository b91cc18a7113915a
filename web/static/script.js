// The page's entry.

import { render } from "preact";
import { connect } from "./js/connection.js";
import { html } from "./js/html.js";
import { keepDrafts } from "./js/keeping.js";
import { acceptKeys } from "./js/keys.js";
import { acceptDrops } from "./js/picking.js";
import { followRoute } from "./js/route.js";
import { App } from "./js/views/app.js";

render(html`<${App} />`, document.getElementById("app"));
keepDrafts();
connect();
followRoute();
acceptDrops();
acceptKeys();
