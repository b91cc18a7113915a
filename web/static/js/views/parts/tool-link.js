// The name of a tool, which leads to its page.

import { html, Icon, openTool } from "../../view.js";

export const ToolLink = ({ name, testid }) =>
  html`<button class="tool-link" data-testid=${testid} onClick=${() => openTool(name)}>
    <${Icon} name="tool" />${name}
  </button>`;
