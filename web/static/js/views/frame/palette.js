// The command palette: a dialog with a combobox over conversations, tools, projects, lessons and actions.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { getConversations } from "../../api.js";
import { perform } from "../../commands.js";
import { recall, remember } from "../../choices.js";
import { entriesOf, filtered, found, NO_FILTER, pieces, withChoice } from "../../palette.js";
import { currentThread } from "../../reducer.js";
import { isBusy } from "../../thread.js";
import { dispatch, html, Icon, store, t } from "../../view.js";
import { Keys } from "./keys.js";
import { Check, IconButton, Select } from "../parts/controls.js";

const RECENT = "palette";
const PAUSE = 150; // milliseconds after the last key
const optionId = (index) => `palette-option-${index}`;

export function Palette() {
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const [dialog, list] = [useRef(null), useRef(null)];
  const state = store.value;
  const recent = useMemo(() => recall(RECENT, []), []);
  const { conversations, conversationId, tools, projects, lessons } = state;
  const running = isBusy(currentThread(state));
  const entries = useMemo(
    () => entriesOf(state, running),
    [conversations, conversationId, tools, projects, lessons, running],
  );
  const [filter, setFilter] = useState(NO_FILTER);
  const [hits, setHits] = useState({});
  useEffect(() => {
    if (!query.trim()) return undefined;
    const take = (list) => setHits(Object.fromEntries(list.map((c) => [c.id, c.snippet])));
    const find = () => getConversations(query).then(take, () => setHits({}));
    const timer = setTimeout(find, PAUSE);
    return () => clearTimeout(timer);
  }, [query]);
  const groups = useMemo(() => {
    const all = found(filtered(entries, filter), query, recent, hits);
    const text = query.trim();
    return text ? [...all, { kind: "ask", entries: [asking(text)] }] : all;
  }, [entries, query, filter, hits]);
  const options = groups.flatMap((group) => group.entries);
  const at = Math.min(active, options.length - 1);

  useLayoutEffect(() => void dialog.current.showModal(), []);
  useLayoutEffect(() => {
    list.current.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, query]);

  // The dialog's own event comes in a later task, when the palette may be open again.
  const leave = () => {
    dialog.current.close(); // gives the focus back, which a command may then move
    dispatch({ type: "palette_closed" });
  };
  const choose = (one) => {
    leave();
    if (one.kind !== "ask") remember(RECENT, withChoice(recent, one.id));
    perform(one);
  };
  const pressed = (event) => {
    if (event.isComposing) return;
    const last = options.length - 1;
    const to = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
      PageDown: Math.min(at + 8, last),
      PageUp: Math.max(at - 8, 0),
    }[event.key];
    const toggles = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if (to !== undefined) setActive(to);
    else if (event.key === "Enter" && options[at]) choose(options[at]);
    else if (toggles) leave();
    else return;
    event.preventDefault();
  };
  const written = ({ target }) => {
    setQuery(target.value);
    setActive(0);
  };

  let index = -1;
  return html`<dialog
    class="palette"
    data-testid="palette"
    aria-label=${t("palette-label")}
    ref=${dialog}
    closedby="any"
    onClose=${() => dialog.current && leave()}
  >
    <div class="palette-field">
      <${Icon} name="search" />
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant=${options[at] ? optionId(at) : null}
        data-testid="palette-input"
        aria-label=${t("palette-label")}
        placeholder=${t("palette-placeholder")}
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        maxlength="200"
        enterkeyhint="go"
        autofocus
        value=${query}
        onInput=${written}
        onKeyDown=${pressed}
      />
      <${IconButton} icon="cross" label=${t("close")} onClick=${leave} />
    </div>
    <${Filters} filter=${filter} change=${(part) => setFilter({ ...filter, ...part })} />
    <div
      class="palette-list"
      id="palette-list"
      role="listbox"
      aria-label=${t("palette-label")}
      ref=${list}
    >
      ${groups.map(
        ({ kind, entries: members }) =>
          html`<div role="group" key=${kind} aria-label=${t(`palette-of-${kind}`)}>
            <p class="eyebrow palette-kind" aria-hidden="true">${t(`palette-of-${kind}`)}</p>
            ${members.map((one) => {
              index += 1;
              const mine = index;
              return html`<${Option}
                key=${one.id}
                entry=${one}
                id=${optionId(mine)}
                selected=${mine === at}
                point=${() => setActive(mine)}
                choose=${() => choose(one)}
              />`;
            })}
          </div>`,
      )}
    </div>
    <p class="visually-hidden" role="status">
      ${query.trim() && t("palette-found", { count: options.length - 1 })}
    </p>
  </dialog>`;
}

const KINDS = ["", "conversation", "tool", "project"];
const DAYS = [0, 7, 30, 365];

function Filters({ filter: { kind, days, files }, change }) {
  const kinds = KINDS.map((one) => [one, t(one ? `palette-of-${one}` : "palette-everything")]);
  const times = DAYS.map((one) => [
    one,
    one ? t("palette-days", { days: one }) : t("palette-ever"),
  ]);
  return html`<div class="palette-filters" data-testid="palette-filters">
    <${Select}
      options=${kinds}
      value=${kind}
      choose=${(kind) => change({ kind })}
      aria-label=${t("palette-kind")}
    />
    <${Select}
      options=${times}
      value=${days}
      choose=${(days) => change({ days })}
      aria-label=${t("palette-time")}
    />
    <${Check} checked=${files} set=${(files) => change({ files })} label=${t("palette-files")} />
  </div>`;
}

const asking = (text) => ({ id: "ask", kind: "ask", key: text, icon: "arrowUp", title: text });

function Option({ entry, id, selected, point, choose }) {
  const { title, places, detail, icon, keys, kind } = entry;
  return html`<div
    class="palette-option"
    role="option"
    id=${id}
    aria-selected=${selected}
    data-testid="palette-option"
    data-kind=${kind}
    onPointerMove=${point}
    onClick=${choose}
  >
    <${Icon} name=${icon} />
    <span class="palette-words">
      <span class="palette-title"
        >${pieces(title, places).map(({ hit, text }) =>
          hit ? html`<mark class="palette-hit">${text}</mark>` : text,
        )}</span
      >
      ${detail && html`<span class="palette-detail">${detail}</span>`}
    </span>
    ${keys && html`<${Keys} of=${keys} />`}
  </div>`;
}
export const PaletteButton = () =>
  html`<button
    class="palette-button"
    data-testid="open-palette"
    aria-haspopup="dialog"
    aria-keyshortcuts="Control+K"
    title=${t("palette-label")}
    onClick=${() => dispatch({ type: "palette_opened" })}
  >
    <${Icon} name="search" /><span>${t("palette-open")}</span> <${Keys} of="palette" />
  </button>`;
