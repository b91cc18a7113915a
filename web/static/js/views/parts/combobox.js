// A text field with a list to choose from; any other text is as good.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html, Icon, Spinner } from "../../view.js";

const MOST = 200; // options that are drawn

// `open` is called when the list is wanted; while it is unchanged the text hides no option.
export function Combobox({ common, value, options, loading, readonly, open, label, input }) {
  const [shown, setShown] = useState(false);
  const [typed, setTyped] = useState(false);
  const [active, setActive] = useState(-1);
  const listId = useId();
  const [field, listed] = [useRef(null), useRef(null)];
  const words = typed ? value.trim().toLowerCase() : "";
  const found = options.filter((one) => one.toLowerCase().includes(words)).slice(0, MOST);
  const at = Math.min(active, found.length - 1);
  const show = () => {
    if (readonly || shown) return;
    setShown(true);
    setTyped(false);
    setActive(-1);
    open();
  };
  const hide = () => setShown(false);
  const choose = (option) => {
    input(option);
    hide();
    field.current.focus();
  };
  useLayoutEffect(() => {
    listed.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, shown]);
  const pressed = (event) => {
    const { key } = event;
    if (key === "Escape" && shown) hide();
    else if (key === "Enter" && shown && found[at]) choose(found[at]);
    else if ((key === "ArrowDown" || key === "ArrowUp") && !shown) show();
    else if (key === "ArrowDown") setActive(at + 1 < found.length ? at + 1 : 0);
    else if (key === "ArrowUp") setActive(at > 0 ? at - 1 : found.length - 1);
    else return;
    event.preventDefault();
    event.stopPropagation(); // Escape closes the list, not the dialog around it
  };
  const written = ({ target }) => {
    input(target.value);
    setTyped(true);
    setActive(-1);
    if (!shown) {
      setShown(true);
      open();
    }
  };
  const optionId = (index) => `${listId}-${index}`;
  return html`<div
    class="combobox"
    onFocusOut=${({ relatedTarget, currentTarget }) =>
      !currentTarget.contains(relatedTarget) && hide()}
  >
    <input
      class="input"
      ...${common}
      ref=${field}
      role="combobox"
      aria-expanded=${shown}
      aria-controls=${listId}
      aria-autocomplete="list"
      aria-activedescendant=${shown && found[at] ? optionId(at) : null}
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      maxlength="200"
      readonly=${readonly}
      value=${value}
      onInput=${written}
      onKeyDown=${pressed}
      onClick=${show}
    />
    ${
      !readonly &&
      html`<button
        class="icon-button small combobox-button"
        tabindex="-1"
        aria-label=${label}
        aria-expanded=${shown}
        data-testid="combobox-open"
        onClick=${() => (shown ? hide() : show())}
      >
        ${loading ? html`<${Spinner} />` : html`<${Icon} name="chevronDown" />`}
      </button>`
    }
    <div
      class="combobox-list"
      id=${listId}
      role="listbox"
      aria-label=${label}
      ref=${listed}
      hidden=${!shown || found.length === 0}
      tabindex="-1"
    >
      ${found.map(
        (option, index) =>
          html`<div
            key=${option}
            id=${optionId(index)}
            class="combobox-option"
            role="option"
            data-testid="combobox-option"
            aria-selected=${index === at}
            onPointerDown=${(e) => e.preventDefault()}
            onClick=${() => choose(option)}
          >
            ${option}
          </div>`,
      )}
    </div>
  </div>`;
}
