// A problem: what happened, and what to do about it. Text from a model is Markdown; the server's own words are folded.

import { sentence } from "../../format.js";
import { Markdown } from "../../markdown.js";
import { html, Icon, t } from "../../view.js";
import { Disclosure } from "./disclosure.js";
import { Prose } from "./prose.js";

const ICONS = { bad: "alert", warn: "square", calm: "declined" };

export function Problem({
  title,
  message,
  details,
  reached,
  remedy,
  tone = "bad",
  markdown = false,
  testid,
  children,
}) {
  return html`<div class="problem" data-tone=${tone} data-testid=${testid}>
    <${Icon} name=${ICONS[tone]} />
    <div class="problem-main">
      <p class="problem-title">${title}</p>
      ${
        message &&
        (markdown
          ? html`<${Markdown} text=${message} />`
          : html`<p><${Prose} text=${sentence(message)} /></p>`)
      }
      ${reached && html`<p data-testid="reached">${reached}</p>`}
      ${remedy && html`<p><strong>${t("problem-remedy")}</strong> <${Prose} text=${remedy} /></p>`}
      ${details && html`<${Details} text=${details} />`}
      ${children && html`<div class="problem-actions">${children}</div>`}
    </div>
  </div>`;
}

export const Details = ({ text }) =>
  html`<${Disclosure} label=${t("problem-details")}><p class="problem-details">${text}</p><//>`;

// An error in a line of its own place.
export const ErrorWords = ({ error: { message, remedy, details } }) =>
  html`${sentence(message)} ${sentence(remedy)}${details && html`<${Details} text=${details} />`}`;
