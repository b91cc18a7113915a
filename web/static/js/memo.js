// A view that is drawn again only when one of its properties changes.

import { Component } from "preact";
import { html } from "./html.js";

const same = (a, b) => Object.keys({ ...a, ...b }).every((key) => a[key] === b[key]);

export function memo(View) {
  return class Memo extends Component {
    shouldComponentUpdate(next) {
      return !same(this.props, next);
    }

    render(props) {
      return html`<${View} ...${props} />`;
    }
  };
}
