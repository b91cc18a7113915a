// The command palette: a dialog with a combobox over conversations, tools, projects, lessons and actions.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { perform } from "../../commands.js";
import { recall, remember } from "../../choices.js";
import { mayAsk } from "../../notifying.js";
import { entriesOf, found, pieces, withChoice } from "../../palette.js";
import { currentThread } from "../../reducer.js";
import { language } from "../../texts.js";
import { theme } from "../../theme.js";
import { isBusy } from "../../thread.js";
import { dispatch, html, Icon, store, t } from "../../view.js";
import { Keys } from "./keys.js";
import { IconButton } from "../parts/controls.js";

const RECENT = "palette";
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
    () =>
      entriesOf(state, {
        running,
        dark: theme.value === "dark",
        german: language === "de",
        mayAsk: mayAsk.value,
      }),
    [conversations, conversationId, tools, projects, lessons, running, mayAsk.value],
  );
  const groups = useMemo(() => {
    const all = found(entries, query, recent);
    const text = query.trim();
    return text ? [...all, { kind: "ask", entries: [asking(text)] }] : all;
  }, [entries, query]);
  const options = groups.flatMap((group) => group.entries);
  const at = Math.min(active, options.length - 1);

  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
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
