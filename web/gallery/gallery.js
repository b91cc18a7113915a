// The entry of /gallery, in development: every component live, in each of its states and in both themes.

import { render } from "preact";
import { html } from "/static/js/html.js";
import { Gallery } from "./views.js";

const recorded = await (await fetch("/gallery/gallery.json")).json();
render(html`<${Gallery} recorded=${recorded} />`, document.getElementById("gallery"));
