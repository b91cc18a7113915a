// What a person's requests cost by month, and what the tools that were used again saved.

import { useEffect, useState } from "preact/hooks";
import { getSpending } from "../../api.js";
import { dollars, monthName, number } from "../../format.js";
import { html, t } from "../../view.js";

const COLUMNS = ["month", "turns", "tokens", "cost", "saved"];

export function Spending() {
  const [{ months, spent, limit }, setReport] = useState({ months: [], limit: null });
  useEffect(() => {
    getSpending().then(setReport, (error) => console.info("not loaded:", error.message));
  }, []);
  const limited = { spent: dollars(spent ?? 0, 2), limit: dollars(limit ?? 0, 2) };
  return html`<section class="settings-part" aria-labelledby="settings-spending">
    <h3 class="settings-heading" id="settings-spending">${t("spending")}</h3>
    ${limit !== null && html`<p data-testid="spending-limit">${t("spending-limit", limited)}</p>`}
    <table class="spending" data-testid="spending">
      <thead>
        <tr>
          ${COLUMNS.map((one) => html`<th key=${one} scope="col">${t(`spending-${one}`)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${months.map((month) => html`<${Month} key=${month.month} ...${month} />`)}
      </tbody>
    </table>
    <p class="run-note">${t(months.length > 0 ? "spending-note" : "spending-none")}</p>
  </section>`;
}

function Month({ month, turns, tokens, cost, reuses, saved_tokens: saved, saved_cost: money }) {
  const parts = [money !== null && dollars(money, 2), t("usage-tokens", { count: saved })];
  return html`<tr>
    <th scope="row">${monthName(month)}</th>
    <td>${number(turns)}</td>
    <td>${number(tokens)}</td>
    <td>${cost === null ? t("spending-unknown") : dollars(cost, 2)}</td>
    <td>${reuses > 0 && parts.filter(Boolean).join(" · ")}</td>
  </tr>`;
}
