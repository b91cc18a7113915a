// The menus of tools that leave and arrive: one tool's, and that of the library.

import { useRef, useState } from "preact/hooks";
import { libraryBundle, toolExport } from "../../api.js";
import { html } from "../../html.js";
import { Icon } from "../../icons.js";
import { t } from "../../texts.js";
import { move, place } from "../frame/conversation-menu.js";
import { Problem } from "../parts/problem.js";
import { ToolImport } from "./tool-import.js";

const FORMS = ["script", "skill", "bundle"];

function Menu({ id, label, button, children }) {
  const menu = useRef(null);
  const toggled = ({ newState }) => {
    if (!menu.current) return; // the event comes later than what it tells of
    if (newState === "open") place(menu.current, button.current);
    else if (menu.current.contains(document.activeElement)) button.current.focus();
  };
  return html`<button
      type="button"
      class="icon-button"
      ref=${button}
      popovertarget=${id}
      aria-haspopup="menu"
      data-testid=${id}
      aria-label=${label}
      title=${label}
    >
      <${Icon} name="more" />
    </button>
    <div
      class="menu"
      id=${id}
      popover="auto"
      role="menu"
      aria-label=${label}
      ref=${menu}
      onToggle=${toggled}
      onKeyDown=${move}
      onClick=${() => menu.current.hidePopover()}
    >
      ${children}
    </div>`;
}

const download = (address, label, testid) =>
  html`<a
    role="menuitem"
    tabindex="-1"
    class="menu-item"
    href=${address}
    download
    key=${testid}
    data-testid=${testid}
    ><${Icon} name="download" />${label}</a
  >`;

export function ToolMenu({ name }) {
  const button = useRef(null);
  return html`<${Menu} id="tool-menu" label=${t("tool-more", { name })} button=${button}>
    ${FORMS.map((form) => download(toolExport(name, form), t(`export-${form}`), `export-${form}`))}
  <//>`;
}

export function LibraryMenu({ empty }) {
  const button = useRef(null);
  const [imports, setImports] = useState(false);
  const close = () => {
    setImports(false);
    button.current?.focus();
  };
  return html`<${Menu} id="library-menu" label=${t("library-more")} button=${button}>
      <button
        type="button"
        role="menuitem"
        tabindex="-1"
        class="menu-item"
        data-testid="import-tools"
        onClick=${() => setImports(true)}
      >
        <${Icon} name="plus" />${t("import-menu")}
      </button>
      ${!empty && download(libraryBundle, t("export-library"), "export-library")}
    <//>
    ${imports && html`<${ToolImport} close=${close} problemView=${Problem} />`}`;
}
