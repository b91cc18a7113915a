// Controls that many views share.

import { stateWords } from "../../format.js";
import { html, Icon, openTool, StateIcon, t } from "../../view.js";

// A button, or with `href` a link, that is an icon alone: its label is its title, too.
// `more`: further attributes; `large`: as high as other controls.
export function IconButton({
  icon,
  label,
  large = false,
  class: also = "",
  title = label,
  ...more
}) {
  const kind = `icon-button${large ? "" : " small"} ${also}`.trim();
  const tag = more.href ? "a" : "button";
  return html`<${tag} class=${kind} aria-label=${label} title=${title} ...${more}>
    <${Icon} name=${icon} />
  <//>`;
}

// A part of the page that scrolls, also by keys: it has a name and takes the focus.
export const Region = ({ label, children, ...more }) =>
  html`<div tabindex="0" role="region" aria-label=${label} ...${more}>${children}</div>`;

// A list to choose one of.
// `options`: [value, words] each; `choose` gets the value that was chosen, of whatever type.
export function Select({ options, value, choose, class: kind = "select", ...more }) {
  const changed = ({ target }) => choose(options[target.selectedIndex][0]);
  return html`<select class=${kind} value=${String(value)} onChange=${changed} ...${more}>
    ${options.map(
      ([one, words]) => html`<option key=${one} value=${String(one)}>${words}</option>`,
    )}
  </select>`;
}

// Buttons of which one is pressed.
export const Switch = ({ label, value, of, choose }) =>
  html`<span class="switch" role="group" aria-label=${label}
    >${of.map(
      (view) =>
        html`<button
          key=${view}
          data-testid=${`view-${view}`}
          aria-pressed=${view === value}
          onClick=${() => choose(view)}
        >
          ${t(`view-${view}`)}
        </button>`,
    )}</span
  >`;

// The placeholder of an empty list.
export const Nothing = ({ icon, title, text }) =>
  html`<div class="nothing">
    <${Icon} name=${icon} />
    <p class="nothing-title">${title}</p>
    <p>${text}</p>
  </div>`;

// The button that shows all of what is shown in part, and folds it again.
export const More = ({ open, label, toggle, class: kind = "code-more", ...more }) =>
  html`<button class=${kind} aria-expanded=${open} onClick=${toggle} ...${more}>
    ${open ? t("text-less") : label}
  </button>`;

// The button that goes to what came last, and follows what comes.
export const Jump = ({ class: kind = "jump", follow }) =>
  html`<button class=${kind} onClick=${follow}>
    <${Icon} name="arrowDown" />${t("chat-latest")}
  </button>`;

// A box to check, or a switch, with its words after it.
// `set` gets whether it is checked now; `also` are attributes of the label.
export const Check = ({ label, set, also = { class: "check" }, ...more }) =>
  html`<label ...${also}
    ><input
      type="checkbox"
      onChange=${({ target }) => set(target.checked)}
      ...${more}
    />${label}</label
  >`;

// A field to search or filter by; `set` gets what is typed.
export const SearchField = ({ label, set, ...more }) =>
  html`<input
    type="search"
    placeholder=${label}
    aria-label=${label}
    onInput=${({ target }) => set(target.value)}
    ...${more}
  />`;

// The name of a tool, which leads to its page.
export const ToolLink = ({ name, testid }) =>
  html`<button class="tool-link" data-testid=${testid} onClick=${() => openTool(name)}>
    <${Icon} name="tool" />${name}
  </button>`;

// The state of something, as an icon with its word, which only a screen reader has if `silent`.
export const State = ({
  state,
  words = stateWords(state),
  silent = false,
  icon = state,
  ...more
}) =>
  html`<span class="state" data-state=${state} ...${more}
    ><${StateIcon} state=${icon} /><span class=${silent ? "visually-hidden" : null}
      >${words}</span
    ></span
  >`;
