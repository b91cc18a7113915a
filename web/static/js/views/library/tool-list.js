// The list of the library: searched, ordered and narrowed; of many tools those near the visible part are drawn.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ago } from "../../format.js";
import { searchTools } from "../../loading.js";
import { kindsOf, listed, ORDER_NAMES } from "../../search.js";
import { standingTitle, standingWords } from "../../versions.js";
import { dispatch, html, Icon, memo, openTool, t } from "../../view.js";
import { rowAt, useGrowing } from "../../virtual.js";
import { Health } from "./health.js";
import { Proposals } from "./proposals.js";
import { Servers } from "./servers.js";
import { Badge, LibraryMenu } from "./tool-menus.js";
import { Nothing, SearchField, Select } from "../parts/controls.js";

const MOVES = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 8,
  PageUp: (at) => at - 8,
  Home: () => 0,
  End: () => Infinity,
};

// `left`: a ref to the tool that was open before, whose row takes the focus.
export function ToolList({ tools, search, kind, found, order, choose, left }) {
  const scroller = useRef(null);
  const lines = useMemo(
    () => listed(tools ?? [], { search, kind, order, found }),
    [tools, search, kind, order, found],
  );
  const [at, setAt] = useState(() => {
    const index = lines.findIndex(({ tool }) => tool.name === left.current);
    return { index: Math.max(0, index), moves: left.current !== null };
  });
  const current = Math.min(at.index, lines.length - 1);
  const { drawn, end } = useGrowing(lines.length, scroller, current);
  useLayoutEffect(() => {
    if (at.moves) rowAt(scroller.current, current)?.querySelector("button").focus();
    left.current = null;
  }, [at]);
  const go = (index) => setAt({ index, moves: true });
  const press = (event) => {
    const move = MOVES[event.key]?.(current);
    if (move === undefined || lines.length === 0) return;
    event.preventDefault();
    if (move < 0) document.getElementById("library-search").focus();
    else go(Math.min(move, lines.length - 1));
  };
  const fromSearch = (event) => {
    if (event.key !== "ArrowDown" || lines.length === 0) return;
    event.preventDefault();
    go(0);
  };
  const searched = (text) => {
    setAt({ index: 0 });
    searchTools(text);
  };
  return html`<section class="library" aria-label=${t("library-label")} data-testid="library">
    <div class="search">
      <${Icon} name="search" />
      <${SearchField}
        id="library-search"
        data-testid="library-search"
        label=${t("library-search")}
        maxlength="400"
        value=${search}
        set=${searched}
        onKeyDown=${fromSearch}
      />
      <${LibraryMenu} empty=${tools?.length === 0} />
    </div>
    ${
      tools?.length > 0 &&
      html`<${Choices}
        ...${{ tools, kind, order, choose }}
        searching=${search.trim() !== ""}
        count=${lines.length}
      />`
    }
    <div class="panel-scroller" ref=${scroller}>
      <${Proposals} />
      ${tools?.length > 0 && html`<${Health} />`}
      ${tools && lines.length === 0 && html`<${NoTools} search=${search} kind=${kind} />`}
      <ul class="tool-list" aria-label=${t("library-label")} onKeyDown=${press}>
        ${lines
          .slice(0, drawn)
          .map(
            ({ tool, request }, index) =>
              html`<${ToolRow}
                key=${tool.name}
                ...${{ tool, request, order, index }}
                of=${lines.length}
                current=${index === current}
              />`,
          )}
      </ul>
      <div ref=${end}></div>
      <${Servers} />
    </div>
  </section>`;
}

function Choices({ tools, kind, order, choose, searching, count }) {
  const kinds = useMemo(
    () =>
      kindsOf(tools, kind).map(({ kind: one, count: of }) => [
        one,
        one === "all" ? t("kind-all") : t("library-option", { kind: t(`kind-${one}`), count: of }),
      ]),
    [tools, kind],
  );
  return html`<div class="library-choices">
    ${
      kinds.length > 1 &&
      html`<${Select}
        data-testid="tools-kind"
        aria-label=${t("library-kind")}
        value=${kind}
        options=${kinds}
        choose=${(chosen) => dispatch({ type: "kind_chosen", kind: chosen })}
      />`
    }
    ${
      searching
        ? html`<span class="library-count" role="status">${t("library-found", { count })}</span>`
        : html`<${Select}
            data-testid="tools-order"
            aria-label=${t("library-order")}
            value=${order}
            options=${ORDER_NAMES.map((name) => [name, t(`order-${name}`)])}
            choose=${choose}
          />`
    }
  </div>`;
}

const ToolRow = memo(({ tool, request, order, index, of, current }) => {
  const open = () => openTool(tool.name);
  return html`<li data-index=${index} aria-setsize=${of} aria-posinset=${index + 1}>
    <button
      class="tool-row"
      data-testid="tool-row"
      data-tool=${tool.name}
      tabindex=${current ? 0 : -1}
      onClick=${open}
    >
      <span class="tool-row-head"
        ><span class="tool-row-name">${tool.name}</span>${marks[tool.standing]?.()}<span
          class="tool-row-fact"
          >${fact(tool, order)}</span
        ></span
      >
      <span class="tool-row-description">${tool.description}</span>
      ${request && html`<span class="tool-row-request">${t("library-request", { request })}</span>`}
    </button>
  </li>`;
});

// New tools are known by their few uses.
const marks = {
  trusted: () =>
    html`<span
      class="tool-row-trusted"
      role="img"
      aria-label=${standingWords("trusted")}
      title=${standingTitle("trusted")}
      ><${Icon} name="shield"
    /></span>`,
  suspect: () => html`<${Badge} standing="suspect" />`,
  retired: () => html`<${Badge} standing="retired" />`,
};

// The value that orders the list, if a tool has it; else the number of uses.
function fact({ uses, created_at: made, last_used: last }, order) {
  if (order === "newest") return ago(made);
  if (order === "last") return last ? ago(last) : "";
  return uses > 0 ? t("tool-uses", { count: uses }) : "";
}

function NoTools({ search, kind }) {
  const [title, text] = search.trim()
    ? [t("library-none-found", { search }), t("library-none-found-text")]
    : kind === "all"
      ? [t("recent-none"), t("recent-none-text")]
      : [t("library-none-of-kind"), ""];
  return html`<${Nothing} icon="book" title=${title} text=${text} />`;
}
