// What the server stores of a person, for how long, and the button that deletes it.

import { useEffect, useState } from "preact/hooks";
import { deleteData, getData } from "../../api.js";
import { fileSize, number } from "../../format.js";
import { html, t } from "../../view.js";
import { Confirm } from "../parts/confirm.js";

export function StoredData() {
  const [data, setData] = useState(null);
  useEffect(() => {
    getData().then(setData, (error) => console.info("not loaded:", error.message));
  }, []);
  if (!data) return null;
  const kept = data.keep_days > 0 ? "data-kept" : "data-kept-always";
  return html`<section class="settings-part" aria-labelledby="settings-data">
    <h3 class="settings-heading" id="settings-data">${t("data")}</h3>
    <table class="spending" data-testid="stored-data">
      <tbody>
        ${data.kinds.map((one) => html`<${Kind} key=${one.kind} ...${one} />`)}
      </tbody>
    </table>
    <p class="run-note">${t(kept, { count: data.keep_days })} ${t("data-note")}</p>
    <${Confirm}
      label=${t("data-delete")}
      question=${t("data-delete-question")}
      act=${async () => setData(await deleteData())}
      testid="delete-data"
    />
  </section>`;
}

const Kind = ({ kind, count, size }) =>
  html`<tr>
    <th scope="row">${t(`data-${kind}`)}</th>
    <td>${number(count)}</td>
    <td>${size > 0 && fileSize(size)}</td>
  </tr>`;
