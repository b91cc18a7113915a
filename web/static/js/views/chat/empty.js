// The front door, which an empty conversation shows: what this is, and an example of each kind of work.

import { EXAMPLES, filesOf, requestOf } from "../../examples.js";
import { dispatch, html, Icon, memo, Spinner, t } from "../../view.js";
import { LocalServers } from "../settings/local-servers.js";
import { Details, Problem } from "../parts/problem.js";

export const Empty = memo(({ sandbox, preparing, offline, servers, loading, missing }) => {
  if (loading)
    return html`<div class="empty">
      <${Spinner} label=${t("door-loading")} />
    </div>`;
  return html`<div class="empty">
    ${
      missing &&
      html`<${Problem}
        testid="missing"
        tone="calm"
        title=${t("door-missing")}
        message=${t("door-missing-text")}
      />`
    }
    <h2 class="empty-title">${t("door-title")}</h2>
    <ol class="door-steps">
      <${Step} drawing=${Asked} title=${t("door-ask")} text=${t("door-ask-text")} />
      <${Step} drawing=${Built} title=${t("door-build")} text=${t("door-build-text")} />
      <${Step} drawing=${Kept} title=${t("door-keep")} text=${t("door-keep-text")} />
    </ol>
    ${
      sandbox &&
      !sandbox.available &&
      !preparing &&
      html`<div class="callout" data-tone="warn">
        <${Icon} name="alert" />
        <div>
          <strong>${t("door-no-sandbox")}</strong> ${t("remedy-sandbox-missing")}
          <${Details} text=${sandbox.detail} />
        </div>
      </div>`
    }
    ${offline && html`<${LocalServers} servers=${servers} />`}
    <h3 class="eyebrow">${t("door-examples")}</h3>
    <ul class="kinds">
      ${EXAMPLES.map((example) => html`<li key=${example.id}><${Kind} example=${example} /></li>`)}
    </ul>
  </div>`;
});

function Step({ drawing, title, text }) {
  return html`<li class="door-step">
    <${drawing} />
    <div>
      <h3 class="door-step-title">${title}</h3>
      <p class="door-step-text">${text}</p>
    </div>
  </li>`;
}

function Kind({ example }) {
  const { id, icon, file } = example;
  const text = requestOf(example);
  const choose = () => dispatch({ type: "example_chosen", text, files: filesOf(example) });
  return html`<button class="kind" data-testid="example" data-kind=${id} onClick=${choose}>
    <span class="kind-name"><${Icon} name=${icon} />${t(`example-${id}`)}</span>
    <span class="kind-request">${text}</span>
    ${
      file &&
      html`<span class="kind-file"
        ><${Icon} name="paperclip" />${t("door-sample", { name: file.name })}</span
      >`
    }
  </button>`;
}

const Drawing = ({ children }) =>
  html`<svg class="drawing" viewBox="0 0 96 64" aria-hidden="true" focusable="false">
    ${children}
  </svg>`;

// A request on its way.
const Asked = () =>
  html`<${Drawing}>
    <path
      class="drawn"
      d="M18 8h44a10 10 0 0 1 10 10v14a10 10 0 0 1-10 10H34L22 52V42h-4A10 10 0 0 1 8 32V18A10 10 0 0 1 18 8Z"
    />
    <path class="drawn-line" d="M20 20h38M20 30h22" />
    <circle class="drawn-accent" cx="78" cy="46" r="11" />
    <path class="drawn-on-accent" d="M78 51V41M73.500 45l4.500-4.500 4.500 4.500" />
  <//>`;

// Code, and the tests that it passed.
const Built = () =>
  html`<${Drawing}>
    <rect class="drawn" x="6" y="6" width="54" height="44" rx="8" />
    <path class="drawn-line" d="M16 17h16M16 26h30M22 35h14" />
    <rect class="drawn" x="44" y="26" width="46" height="32" rx="8" />
    <path class="drawn-good" d="m52 36 3 3 5-6M52 48l3 3 5-6" />
    <path class="drawn-line" d="M67 36h14M67 48h14" />
  <//>`;

// Tools on a shelf, the new one among them.
const Kept = () =>
  html`<${Drawing}>
    <rect class="drawn" x="12" y="26" width="17" height="28" rx="4" />
    <rect class="drawn" x="34" y="16" width="17" height="38" rx="4" />
    <rect class="drawn-accent" x="56" y="10" width="24" height="44" rx="5" />
    <path class="drawn-on-accent" d="m69 19-6 14h9l-5 12" />
    <path class="drawn-line" d="M4 56h88" />
  <//>`;
