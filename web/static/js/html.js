// Templates: htm bound to preact. Whatever text a template shows, all of it can be seen.

import htm from "htm";
import { h } from "preact";
import { visible } from "./visible.js";

const shown = (child) => (typeof child === "string" ? visible(child) : child);

export const html = htm.bind((type, props, ...children) => h(type, props, ...children.map(shown)));
