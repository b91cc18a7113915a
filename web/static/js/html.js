// Templates: htm bound to preact. All text that a template shows is made visible; a button sends a
// form only if it says so.

import htm from "htm";
import { h } from "preact";
import { visible } from "./visible.js";

const shown = (child) => (typeof child === "string" ? visible(child) : child);

export const html = htm.bind((type, props, ...children) =>
  h(type, type === "button" ? { type: "button", ...props } : props, ...children.map(shown)),
);
