// Templates: htm bound to preact. All text that a template shows is made visible; a button sends a
// form only if it says so.

import htm from "htm";
import { Component, h } from "preact";
import { visible } from "./visible.js";

const shown = (child) => (typeof child === "string" ? visible(child) : child);

export const html = htm.bind((type, props, ...children) =>
  h(type, type === "button" ? { type: "button", ...props } : props, ...children.map(shown)),
);

const same = (a, b) => Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

// A view that is drawn again only when one of its properties changes.
export const memo = (View) =>
  class Memo extends Component {
    shouldComponentUpdate(next) {
      return !same(this.props, next);
    }

    render(props) {
      return html`<${View} ...${props} />`;
    }
  };
