// The data that the server stores, of a person and in all, its periods, and the button that deletes it.

import { useEffect, useState } from "preact/hooks";
import { deleteData, getData } from "../../api.js";
import { fileSize, number } from "../../format.js";
import { html, t } from "../../view.js";
import { Confirm } from "../parts/confirm.js";
import { Disclosure } from "../parts/disclosure.js";

const GOES = ["all", "part", "none"]; // what the button deletes: `deletion` of a kind

export function StoredData() {
  const [data, setData] = useState(null);
  useEffect(() => {
    getData().then(setData, (error) => console.info("not loaded:", error.message));
  }, []);
  if (!data) return null;
  const kept = data.keep_days > 0 ? "data-kept" : "data-kept-always";
  return html`<section class="settings-part" aria-labelledby="settings-data">
    <h3 class="settings-heading" id="settings-data">${t("data-title")}</h3>
    <table class="spending" data-testid="stored-data">
      <tbody>
        ${data.kinds
          .filter(({ count }) => count !== null)
          .map((one) => html`<${Kind} key=${one.kind} ...${one} />`)}
      </tbody>
    </table>
    <p class="run-note">${t(kept, { count: data.keep_days })} ${t("data-note")}</p>
    <${Disclosure} label=${t("data-all")}>
      <div class="data-all" data-testid="all-data">
        ${GOES.map((goes) => html`<${Places} key=${goes} goes=${goes} kinds=${data.kinds} />`)}
      </div>
      <p class="run-note">${t("data-not-stored")}</p>
    <//>
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

const Places = ({ goes, kinds }) =>
  html`<h4 class="eyebrow" id=${`data-goes-${goes}`}>${t(`data-goes-${goes}`)}</h4>
    <ul aria-labelledby=${`data-goes-${goes}`}>
      ${kinds
        .filter(({ deletion }) => deletion === goes)
        .map((one) => html`<${Place} key=${one.kind} ...${one} />`)}
    </ul>`;

const Place = ({ kind, tables, places, until, setting }) =>
  html`<li>
    <b>${t(`data-${kind}`)}</b>
    <p class="run-note">
      ${t(`data-until-${until}`)}${" "}${setting && html`<code>${setting}</code>`}
    </p>
    <p class="run-note">
      ${[...tables, ...places].map((name) => html`<code key=${name}>${name}</code>${" "}`)}
    </p>
  </li>`;
