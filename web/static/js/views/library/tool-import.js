// The dialog that adds the tools of a bundle: who signed it, what the tools say of themselves, what
// the gate finds, and the person's word.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { checkBundle, importBundle } from "../../api.js";
import { inWords, titleOf } from "../../cause.js";
import { canBeAdded, chosenTools, packagesOf, wordsOf } from "../../exchange.js";
import { list } from "../../format.js";
import { Loading } from "../../lazy.js";
import { html, Icon, t } from "../../view.js";
import { visible } from "../../visible.js";
import { CodeBlock } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";
import { closeAround, Dialog } from "../parts/dialog.js";
import { Details, Problem } from "../parts/problem.js";
import { Check } from "../parts/controls.js";
import { Subscriptions } from "./subscriptions.js";

const EMPTY = {
  offer: null,
  findings: {},
  installs: false, // whether the person allows the packages that tools need
  working: false,
  added: null,
  problem: null,
};

export function ToolImport({ close }) {
  const run = useRef(0); // of the newest file; what comes of an earlier one is dropped
  const [file, setFile] = useState(null);
  const [state, setState] = useState(EMPTY);
  const [left, leave] = useState(new Set());
  useLayoutEffect(() => () => run.current++, []);

  // Runs a request whose answer comes as events.
  const follow = async (begin, end) => {
    const mine = ++run.current;
    const change = (made) => mine === run.current && setState((old) => ({ ...old, ...made(old) }));
    change(() => ({ working: true, problem: null }));
    const tell = (kind, data) =>
      change(({ findings }) => {
        if (kind === "finding") return { findings: { ...findings, [data.name]: data } };
        return kind === "offer" ? { offer: data } : { problem: inWords(data) };
      });
    try {
      await begin(tell);
      change(end);
    } catch (problem) {
      change(() => ({ problem }));
    }
    change(() => ({ working: false }));
  };
  const check = (bundle, installs) =>
    follow(
      (tell) => checkBundle(bundle, installs, tell),
      () => ({ installs }),
    );
  const choose = ({ target }) => {
    const [chosen] = target.files;
    if (!chosen) return;
    setFile(chosen);
    setState(EMPTY);
    leave(new Set());
    check(chosen, false);
  };
  const { offer, findings, installs, working, added, problem } = state;
  const chosen = offer ? chosenTools(offer.tools, findings, left) : [];
  const add = () =>
    follow(
      (tell) =>
        importBundle(file, { digest: offer.digest, only: chosen.join(","), installs }, tell),
      (now) => ({
        added: Object.values(now.findings).filter(({ outcome }) => outcome === "added").length,
      }),
    );
  const toggle = (name) => {
    const next = new Set(left);
    if (!next.delete(name)) next.add(name);
    leave(next);
  };
  const checked = Object.keys(findings).length;
  const asked = packagesOf(findings).join(", ");
  const said =
    added !== null
      ? t("import-added", { count: added })
      : offer &&
        t(working ? "import-checking" : "import-checked", {
          count: checked,
          of: offer.tools.length,
        });
  return html`<${Dialog}
    kind="tool-import"
    title=${t("import-title")}
    testid="tool-import"
    close=${close}
  >
    <label class="field"
      >${t("import-file")}<input
        type="file"
        class="input import-file"
        accept=".zip"
        data-testid="import-file"
        onChange=${choose}
    /></label>
    ${!file && html`<${Subscriptions} />`}
    ${
      problem &&
      html`<div role="alert">
        <${Problem} title=${t("import-refused")} testid="import-problem" ...${problem} />
      </div>`
    }
    ${offer && html`<${SignedBy} signer=${offer.signer} />`}
    ${
      offer &&
      html`<ul class="import-tools" aria-label=${t("import-tools")}>
        ${offer.tools.map(
          (tool) =>
            html`<${OneTool}
              key=${tool.name}
              tool=${tool}
              finding=${findings[tool.name]}
              chosen=${!left.has(tool.name)}
              toggle=${added === null && !working ? toggle : null}
            />`,
        )}
      </ul>`
    }
    <p class="import-status" role="status" data-testid="import-status">${said}</p>
    ${working && html`<${Loading} />`}
    ${
      asked &&
      !working &&
      html`<p class="import-words">
        ${t("import-packages", { packages: asked })}
        <button class="button" data-testid="import-packages" onClick=${() => check(file, true)}>
          ${t("import-install")}
        </button>
      </p>`
    }
    ${
      offer &&
      html`<div class="form-actions">
        ${
          added === null &&
          html`<button
            class="button primary"
            data-testid="import-add"
            disabled=${working || chosen.length === 0}
            aria-describedby="import-words"
            onClick=${add}
          >
            ${t("import-add", { count: chosen.length })}
          </button>`
        }
        <button class="button quiet" data-testid="import-close" onClick=${closeAround}>
          ${t(added === null ? "confirm-cancel" : "close")}
        </button>
        ${
          added === null && html`<p class="import-words" id="import-words">${t("import-words")}</p>`
        }
      </div>`
    }
  <//>`;
}

function SignedBy({ signer: { status, name, fingerprint } }) {
  return html`<div class="import-signer" data-status=${status} data-testid="import-signer">
    <${Icon} name=${status === "own" || status === "trusted" ? "shield" : "alert"} />
    <p>
      ${t(`signer-${status}`, { name: visible(name) })}${
        fingerprint && html` <code class="digest">${fingerprint}</code>`
      }
    </p>
  </div>`;
}

function OneTool({ tool, finding, chosen, toggle }) {
  const said = wordsOf(tool, visible);
  const { name, parameters, requests, model } = said;
  const needs = [...said.imports, ...said.packages, ...(said.network ?? [])];
  const outcome = finding?.outcome ?? "waiting";
  return html`<li
    class="import-tool"
    data-testid="import-tool"
    data-tool=${name}
    data-outcome=${outcome}
  >
    <${Check}
      checked=${chosen && canBeAdded(finding)}
      disabled=${!toggle || !canBeAdded(finding)}
      set=${() => toggle(name)}
      label=${html`<code>${name}</code
        ><span class="import-outcome">${t(`import-outcome-${outcome}`)}</span>`}
    />
    ${
      outcome === "refused" &&
      html`<p class="import-refusal">${titleOf(finding) || t("import-refused-gate")}</p>
        <${Details} text=${visible(finding.detail)} />`
    }
    ${finding?.receipt && html`<p class="import-label">${t(`import-receipt-${finding.receipt}`)}</p>`}
    ${finding?.receipt === "differs" && html`<${Details} text=${visible(finding.detail)} />`}
    <p class="overview-text">${said.description}</p>
    <code class="digest">${said.signature}</code>
    ${
      parameters.length > 0 &&
      html`<dl class="facts">
        ${parameters.map(
          ([parameter, words]) =>
            html`<dt key=${parameter}><code>${parameter}</code></dt>
              <dd>${words}</dd>`,
        )}
      </dl>`
    }
    ${
      requests.length > 0 &&
      html`<p class="import-label">${t("import-requests")}</p>
        <ul class="import-requests">
          ${requests.map((request, n) => html`<li key=${n}>${request}</li>`)}
        </ul>`
    }
    ${
      needs.length > 0 &&
      html`<p class="import-label">${t("import-needs", { needs: list(needs) })}</p>`
    }
    ${model && html`<p class="import-label">${t("author-model", { model })}</p>`}
    <${Disclosure} label=${t("import-code", { name })}
      ><${CodeBlock} code=${said.code} label=${t("tool-code-of", { name })} /><${CodeBlock}
        code=${said.tests}
        label=${t("tool-tests-of", { name })}
    /><//>
  </li>`;
}
