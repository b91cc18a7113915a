// The tool library: a list to search, and behind each row the tool itself.

import { useEffect, useRef } from "preact/hooks";
import { plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";
import { matching } from "../search.js";
import { ToolDetail } from "./tool.js";

export const Library = memo(({ tools, search, openTool, detail }) => {
  const left = useRef(null);
  useEffect(() => {
    if (!openTool && left.current) document.querySelector(`[data-tool="${CSS.escape(left.current)}"]`)?.focus();
    left.current = openTool;
  }, [openTool]);
  if (openTool) return html`<${ToolDetail} key=${openTool} name=${openTool} detail=${detail} />`;
  const found = matching(tools ?? [], search);
  return html`<section class="library" aria-label="Tool library" data-testid="library">
    <div class="search">
      <${Icon} name="search" />
      <input type="search" data-testid="library-search" placeholder="Search tools" aria-label="Search tools" value=${search} onInput=${(e) => dispatch({ type: "search_changed", text: e.target.value })} />
    </div>
    <div class="panel-scroller">
      ${tools && found.length === 0 && html`<${NoTools} search=${search} />`}
      <ul class="tool-list">${found.map((tool) => html`<${ToolRow} key=${tool.name} tool=${tool} />`)}</ul>
    </div>
  </section>`;
});

const ToolRow = memo(({ tool }) => {
  return html`<li>
    <button type="button" class="tool-row" data-testid="tool-row" data-tool=${tool.name} onClick=${() => dispatch({ type: "tool_opened", name: tool.name })}>
      <span class="tool-row-head"><span class="tool-row-name">${tool.name}</span><span class="tool-row-uses">${tool.uses > 0 ? `used ${plural(tool.uses, "time")}` : "not used yet"}</span></span>
      <span class="tool-row-description">${tool.description}</span>
    </button>
  </li>`;
});

function NoTools({ search }) {
  return html`<div class="nothing">
    <${Icon} name="book" />
    <p class="nothing-title">${search ? `No tool matches “${search}”` : "No tools yet"}</p>
    <p>${search ? "Ask for it in the conversation, and one is built." : "The first request that needs one adds it here."}</p>
  </div>`;
}
