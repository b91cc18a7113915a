// The tool library: a list to search, and behind each row the tool itself.

import { useEffect, useRef } from "preact/hooks";
import { plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { dispatch } from "../store.js";
import { matching } from "../search.js";
import { offered, retiredCount } from "../versions.js";
import { Badge } from "./badge.js";
import { ToolDetail } from "./tool.js";

export const Library = memo(
  ({ tools, search, openTool, detail, versions, sources, problem, showRetired }) => {
    const left = useRef(null);
    useEffect(() => {
      if (!openTool && left.current)
        document.querySelector(`[data-tool="${CSS.escape(left.current)}"]`)?.focus();
      left.current = openTool;
    }, [openTool]);
    if (openTool) {
      const line = tools?.find((tool) => tool.name === openTool);
      return html`<${ToolDetail} key=${openTool} name=${openTool} line=${line} detail=${detail} versions=${versions} sources=${sources} problem=${problem?.name === openTool ? problem : null} />`;
    }
    const found = matching(offered(tools ?? [], showRetired), search);
    const retired = retiredCount(tools ?? []);
    return html`<section class="library" aria-label="Tool library" data-testid="library">
    <div class="search">
      <${Icon} name="search" />
      <input type="search" data-testid="library-search" placeholder="Search tools" aria-label="Search tools" value=${search} onInput=${(e) => dispatch({ type: "search_changed", text: e.target.value })} />
      ${retired > 0 && html`<label class="check"><input type="checkbox" data-testid="show-retired" checked=${showRetired} onChange=${(e) => dispatch({ type: "retired_shown", shown: e.target.checked })} />Show ${retired} retired</label>`}
    </div>
    <div class="panel-scroller">
      ${tools && found.length === 0 && html`<${NoTools} search=${search} />`}
      <ul class="tool-list">${found.map((tool) => html`<${ToolRow} key=${tool.name} tool=${tool} />`)}</ul>
    </div>
  </section>`;
  },
);

const ToolRow = memo(({ tool }) => {
  return html`<li>
    <button type="button" class="tool-row" data-testid="tool-row" data-tool=${tool.name} onClick=${() => dispatch({ type: "tool_opened", name: tool.name })}>
      <span class="tool-row-head"><span class="tool-row-name">${tool.name}</span><${Badge} standing=${tool.standing} /><span class="tool-row-uses">${tool.uses > 0 ? `used ${plural(tool.uses, "time")}` : "not used yet"}</span></span>
      <span class="tool-row-description">${tool.description}</span>
    </button>
  </li>`;
});

function NoTools({ search }) {
  return html`<div class="nothing">
    <${Icon} name="book" />
    <p class="nothing-title">${search ? `No tool matches “${search}”` : "No tools yet"}</p>
    <p>${search ? "Ask for it in the conversation and it will be built." : "The first request that needs one adds it here."}</p>
  </div>`;
}
