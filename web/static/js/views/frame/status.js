// The state of model, sandbox and library: a word in the header, the details in a popover. A narrow
// page has one word for all of them.

import { remedyOf } from "../../cause.js";
import { backendWords } from "../../format.js";
import { libraryStatus, modelStatus, sandboxStatus, worst } from "../../statuses.js";
import { html, Icon, show, t } from "../../view.js";
import { Disclosure } from "../parts/disclosure.js";
import { LocalServers } from "../settings/local-servers.js";
import { Details } from "../parts/problem.js";
import { SettingsButton } from "./settings-button.js";

const ICONS = { model: "model", sandbox: "box", library: "book" };

export function Statuses({ health, count }) {
  const all = [modelStatus(health), sandboxStatus(health), libraryStatus(health, count)];
  const [model, sandbox, library] = all;
  return html`<div class="statuses" role="group" aria-label=${t("status-label")}>
    <${Overall} all=${all} />
    <${Status} ...${model}><${Model} model=${health?.model} /><//>
    <${Status} ...${sandbox}><${Sandbox} sandbox=${health?.sandbox} state=${sandbox.state} /><//>
    <${Status} ...${library}><${Library} library=${health?.library} /><//>
  </div>`;
}

// The dot of a narrow page: the state that needs attention most, and the way to each of them.
function Overall({ all }) {
  const { tone, word } = worst(all);
  return html`<div class="overall">
    <button
      class="chip"
      data-testid="status"
      data-tone=${tone}
      popovertarget="about-status"
      aria-label=${`${t("status-label")}: ${word}`}
    >
      <span class="tone-dot" data-tone=${tone}></span><span class="chip-word">${word}</span>
    </button>
    <div
      id="about-status"
      class="popover"
      popover="auto"
      role="dialog"
      aria-label=${t("status-label")}
      data-testid="status-details"
    >
      <h2 class="popover-title">${t("status-label")}</h2>
      <ul class="status-list">
        ${all.map(
          ({ id, label, ...one }) =>
            html`<li key=${id}>
              <button
                class="status-row"
                popovertarget=${`about-${id}`}
                data-testid=${`status-row-${id}`}
              >
                <span class="tone-dot" data-tone=${one.tone}></span><span>${label}</span>${" "}<span
                  class="muted"
                  >${one.word}</span
                ><${Icon} name="chevronRight" />
              </button>
            </li>`,
        )}
      </ul>
    </div>
  </div>`;
}

function Status({ id, label, state, tone, word, title, children }) {
  return html`<div class="status">
    <button
      class="chip"
      data-testid=${`status-${id}`}
      data-state=${state}
      data-tone=${tone}
      popovertarget=${`about-${id}`}
      aria-label=${`${label} ${word}`}
    >
      <${Icon} name=${ICONS[id]} /><span class="chip-label">${label}${" "}</span
      ><span class="chip-word">${word}</span>
    </button>
    <div
      id=${`about-${id}`}
      class="popover"
      popover="auto"
      role="dialog"
      aria-label=${label}
      data-testid=${`status-${id}-details`}
    >
      <h2 class="popover-title"><span class="tone-dot" data-tone=${tone}></span>${title}</h2>
      ${children}
    </div>
  </div>`;
}

function Model({ model }) {
  if (!model) return null;
  return html`
    ${model.offline && html`<p>${t("status-model-offline-text")}</p>`}
    ${model.offline && html`<${LocalServers} servers=${model.local_servers} />`}
    ${
      model.trouble
        ? html`<div class="model-trouble" data-testid="model-trouble">
            <p>${remedyOf({ kind: "model", cause: model.cause })} ${t("status-model-again")}</p>
            <${Details} text=${model.trouble} />
          </div>`
        : model.server &&
          html`<p class="muted">${t("status-model-at", { server: model.server })}</p>`
    }
    <${SettingsButton} testid="status-settings" />
  `;
}

function Sandbox({ sandbox, state }) {
  const preparing = state === "preparing";
  const words = preparing
    ? t("status-sandbox-preparing-text")
    : sandbox?.available
      ? t("status-sandbox-available-text", { backend: backendWords(sandbox.backend) })
      : t("status-sandbox-unavailable-text");
  return html`<p>${words}</p>
    ${sandbox?.available && !preparing && html`<p class="muted">${sandbox.detail}</p>`}
    ${sandbox && !sandbox.available && !preparing && html`<${Details} text=${sandbox.detail} />`}
    ${
      !preparing &&
      Object.keys(sandbox?.not_guaranteed ?? {}).length > 0 &&
      html`<${Disclosure} label=${t("status-sandbox-limits")}
        ><ul class="limits">
          ${Object.keys(sandbox.not_guaranteed).map((id) => html`<li key=${id}>${t(`lacks-${id}`)}</li>`)}
        </ul><//
      >`
    }`;
}

function Library({ library }) {
  const browse = () => {
    document.getElementById("about-library").hidePopover();
    show("library");
  };
  return html`<p>${t("status-library-text")}</p>
    ${library?.search && html`<p class="muted">${t(`library-search-${library.search}`)}</p>`}
    ${library?.detail && html`<${Details} text=${library.detail} />`}
    <button class="button" onClick=${browse}>${t("status-library-browse")}</button>`;
}
