// What a person's requests cost by month, and what the tools that were used again saved; and what
// each tool cost and saved, for everybody.

import { useEffect, useState } from "preact/hooks";
import { getSpending, getToolAccounts } from "../../api.js";
import { dollars, duration, monthName, number } from "../../format.js";
import { Loaded } from "../../lazy.js";
import { html, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";

const COLUMNS = ["month", "turns", "tokens", "cost", "saved"];
const TOOL_COLUMNS = ["tool", "built", "reuses", "saved"];

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
    <${ToolAccounts} />
  </section>`;
}

// Fetched when it is opened, as it grows with the library.
const ToolAccounts = () =>
  html`<div data-testid="tool-accounts">
    <${Disclosure} label=${t("spending-tools")}
      ><${Loaded} view=${AccountTable} request=${getToolAccounts}
    /><//>
  </div>`;

function AccountTable({ tools }) {
  const accounts = tools.filter(({ built, reuses }) => built || reuses > 0);
  if (accounts.length === 0) return html`<p class="run-note">${t("spending-none")}</p>`;
  return html`<table class="spending">
      <thead>
        <tr>
          ${TOOL_COLUMNS.map((one) => html`<th key=${one} scope="col">${t(`spending-${one}`)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${accounts.map((one) => html`<${ToolAccount} key=${one.tool} ...${one} />`)}
      </tbody>
    </table>
    <p class="run-note">${t("spending-tools-note")}</p>`;
}

function ToolAccount({ tool, built, reuses, saved, pays }) {
  return html`<tr>
    <th scope="row">
      ${tool}${pays === false && html` <span class="unpaid">${t("spending-unpaid")}</span>`}
    </th>
    <td>${built ? costsText(built) : t("spending-unbuilt")}</td>
    <td>${number(reuses)}</td>
    <td>${reuses > 0 && costsText(saved)}</td>
  </tr>`;
}

function costsText({ tokens, cost, seconds }) {
  const money = cost ? dollars(cost, 2) : "";
  const time = seconds > 0 ? duration(seconds) : "";
  return [money, t("usage-tokens", { count: tokens }), time].filter(Boolean).join(" · ");
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
