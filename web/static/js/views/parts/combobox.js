// A text field whose words the browser completes from a list, and a menu of the whole list; any other text is as good.

import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { html, Spinner } from "../../view.js";
import { IconButton } from "./controls.js";
import { MenuItem, MenuItems, place } from "./menu.js";

// `open` is called when the list is wanted.
export function Combobox({ common, value, options, loading, readonly, open, label, input }) {
  const id = useId();
  const [field, button, menu] = [useRef(null), useRef(null), useRef(null)];
  const settle = () => {
    const isOpen = menu.current?.matches(":popover-open");
    if (isOpen) place(menu.current, button.current);
    return isOpen;
  };
  useLayoutEffect(() => void settle(), [options]);
  const toggled = () => settle() && open();
  const choose = (option) => {
    input(option);
    field.current.focus();
  };
  return html`<div class="combobox">
    <input
      class="input"
      ...${common}
      ref=${field}
      list=${`${id}-list`}
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      maxlength="200"
      readonly=${readonly}
      value=${value}
      onFocus=${() => !readonly && options.length === 0 && open()}
      onInput=${({ target }) => input(target.value)}
    />
    <datalist id=${`${id}-list`}>
      ${options.map((option) => html`<option key=${option} value=${option}></option>`)}
    </datalist>
    ${
      !readonly &&
      html`<${IconButton}
          icon="chevronDown"
          label=${label}
          class="combobox-button"
          ref=${button}
          popovertarget=${id}
          aria-haspopup="menu"
          data-testid="combobox-open"
        /><${MenuItems} id=${id} label=${label} ref=${menu} toggled=${toggled}>
          ${loading && html`<${Spinner} />`}
          ${options.map(
            (option) =>
              html`<${MenuItem}
                key=${option}
                icon=${option === value ? "check" : ""}
                label=${option}
                data-testid="combobox-option"
                act=${() => choose(option)}
              />`,
          )}
        <//>`
    }
  </div>`;
}
