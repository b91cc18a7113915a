// A file of data: JSON, or a table of commas, semicolons or tabs.

import { useMemo } from "preact/hooks";
import { typed } from "../../charts.js";
import { tableOfText } from "../../csv.js";
import { html } from "../../html.js";
import { tableOf } from "../../results.js";
import { t } from "../../texts.js";
import { Value } from "./value.js";

// `value`: of a JSON file.
export function DataFile({ text, name, address, wide, value }) {
  const table = useMemo(
    () => (value === undefined ? typed(tableOfText(text)) : tableOf(value)),
    [text, value],
  );
  const shape = table
    ? t("file-table", { count: table.rows.length, columns: table.columns.length })
    : name;
  const whole = value === undefined ? { csv: address } : { json: address };
  const stem = name
    .split("/")
    .at(-1)
    .replace(/\.\w+$/, "");
  return html`<section
    class="value"
    data-testid=${value === undefined ? "project-table" : "json-file"}
    data-filled=${wide}
    aria-label=${name}
  >
    <${Value}
      value=${value}
      table=${table}
      shape=${shape}
      name=${stem}
      whole=${whole}
      filled=${wide}
    />
  </section>`;
}
