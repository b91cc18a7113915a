// The indexes of other libraries that the person follows: what a check finds, and a form for another one.

import { useEffect, useState } from "preact/hooks";
import { call, checkUpdates } from "../../api.js";
import { inWords } from "../../cause.js";
import { Loading } from "../../lazy.js";
import { html, t } from "../../view.js";
import { visible } from "../../visible.js";
import { Confirm } from "../parts/confirm.js";
import { Details, Problem } from "../parts/problem.js";

const ROUTE = "/api/v1/subscriptions";
const AN_INDEX = "https://tools.example.org/index.json";

export function Subscriptions() {
  const [list, setList] = useState([]);
  const [findings, setFindings] = useState(null); // of the last check
  const [working, setWorking] = useState(false);
  const [problem, setProblem] = useState(null);
  const [place, setPlace] = useState("");
  const load = async () => setList((await call("GET", ROUTE)).subscriptions);
  useEffect(() => void load().catch(setProblem), []);
  const attempt = async (work) => {
    setWorking(true);
    setProblem(null);
    try {
      await work();
      await load();
    } catch (error) {
      setProblem(error);
    }
    setWorking(false);
  };
  const follow = (event) => {
    event.preventDefault();
    attempt(async () => {
      await call("POST", ROUTE, { place });
      setPlace("");
    });
  };
  const check = (installs) =>
    attempt(async () => {
      const made = [];
      await checkUpdates(installs, (kind, data) =>
        kind === "finding" ? made.push(data) : setProblem(inWords(data)),
      );
      setFindings(made);
    });
  return html`<section
    class="subscriptions"
    aria-label=${t("subscriptions")}
    data-testid="subscriptions"
  >
    <h3 class="eyebrow">${t("subscriptions")}</h3>
    <p class="import-words">${t("subscriptions-about")}</p>
    ${list.map(
      (one) =>
        html`<${Followed}
          key=${one.name}
          subscription=${one}
          remove=${() => attempt(() => call("DELETE", `${ROUTE}/${encodeURIComponent(one.name)}`))}
        />`,
    )}
    <form class="subscription-form" onSubmit=${follow}>
      <label class="field"
        >${t("subscription-place")}<input
          class="input"
          type="text"
          inputmode="url"
          required
          pattern="(git[+])?https://.+"
          placeholder=${AN_INDEX}
          autocomplete="off"
          spellcheck="false"
          data-testid="subscription-place"
          value=${place}
          onInput=${({ target }) => setPlace(target.value)}
      /></label>
      <button type="submit" class="button" disabled=${working} data-testid="subscription-add">
        ${t("subscription-add")}
      </button>
    </form>
    ${
      problem &&
      html`<div role="alert">
        <${Problem} title=${t("tool-not-possible")} testid="subscription-problem" ...${problem} />
      </div>`
    }
    ${
      list.length > 0 &&
      html`<button
        class="button"
        disabled=${working}
        data-testid="subscriptions-check"
        onClick=${() => check(false)}
      >
        ${t("subscriptions-check")}
      </button>`
    }
    ${working && html`<${Loading} />`}
    <div role="status" data-testid="subscriptions-found">
      ${findings && !working && html`<${Findings} findings=${findings} check=${check} />`}
    </div>
  </section>`;
}

function Followed({ subscription: { name, place, fingerprint, problem }, remove }) {
  return html`<article class="version" aria-label=${name} data-testid="subscription">
    <h4 class="version-title">${visible(name)}</h4>
    <p class="subscription-place">${visible(place)}</p>
    <code class="digest">${fingerprint}</code>
    ${problem && html`<${Details} text=${visible(problem)} />`}
    <${Confirm}
      label=${t("subscription-remove")}
      about=${name}
      question=${t("subscription-remove-question")}
      act=${remove}
      testid="subscription-remove"
    />
  </article>`;
}

function Findings({ findings, check }) {
  const shown = findings.filter(({ outcome }) => outcome !== "present");
  if (shown.length === 0) return html`<p class="import-words">${t("subscriptions-none")}</p>`;
  const asks = shown.some(({ outcome }) => outcome === "asks");
  return html`<ul class="import-tools">
      ${shown.map(
        ({ name, outcome, detail }) =>
          html`<li class="import-tool" key=${name} data-outcome=${outcome}>
            <div class="version-head">
              <code>${visible(name)}</code
              ><span class="import-outcome">${t(`import-outcome-${outcome}`)}</span>
            </div>
            ${detail && html`<p class="import-words">${visible(detail)}</p>`}
          </li>`,
      )}
    </ul>
    ${
      asks &&
      html`<button class="button" onClick=${() => check(true)}>${t("import-install")}</button>`
    }`;
}
