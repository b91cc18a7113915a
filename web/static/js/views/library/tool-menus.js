// The menus of tools that leave and arrive: one tool's, and the library's; and a tool's badge.

import { useState } from "preact/hooks";
import { libraryBundle, toolExport } from "../../api.js";
import { standingTitle, standingWords } from "../../versions.js";
import { html, t } from "../../view.js";
import { Menu, MenuItem } from "../parts/menu.js";
import { ToolImport } from "./tool-import.js";

const FORMS = ["script", "skill", "bundle"];

const download = (href, name) =>
  html`<${MenuItem}
    icon="download"
    label=${t(name)}
    href=${href}
    key=${name}
    data-testid=${name}
  />`;

export const ToolMenu = ({ name }) =>
  html`<${Menu} id="tool-menu" label=${t("tool-more", { name })} large>
    ${FORMS.map((form) => download(toolExport(name, form), `export-${form}`))}
  <//>`;

export function LibraryMenu({ empty }) {
  const [imports, setImports] = useState(false);
  return html`<${Menu} id="library-menu" label=${t("library-more")} large>
      <${MenuItem}
        icon="plus"
        label=${t("import-menu")}
        data-testid="import-tools"
        act=${() => setImports(true)}
      />
      ${!empty && download(libraryBundle, "export-library")}
    <//>
    ${imports && html`<${ToolImport} close=${() => setImports(false)} />`}`;
}

// The standing of a tool in a word.
export function Badge({ standing }) {
  return html`<span
    class="badge"
    data-testid="badge"
    data-standing=${standing}
    title=${standingTitle(standing)}
    >${standingWords(standing)}</span
  >`;
}
