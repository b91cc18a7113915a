// The entry of /gallery, in development: every component live, in each of its states and in both themes.

import { render } from "preact";
import { html } from "./js/html.js";
import { Gallery } from "./js/views/gallery.js";

const recorded = await (await fetch("/static/gallery.json")).json();
render(html`<${Gallery} recorded=${recorded} />`, document.getElementById("gallery"));
