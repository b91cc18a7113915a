// The proposals: new tools and versions that wait until the person accepts them, with what they change.

import { useEffect, useState } from "preact/hooks";
import {
  getBehaviour,
  getProposal,
  getProposals,
  postDecision,
  postRollback,
  postStanding,
} from "../../api.js";
import { Loaded } from "../../lazy.js";
import { loadTools } from "../../loading.js";
import { originWords } from "../../versions.js";
import { html, t } from "../../view.js";
import { visible } from "../../visible.js";
import { ToolEditor } from "./editor.js";
import { Disclosure } from "../parts/disclosure.js";
import { Problem } from "../parts/problem.js";
import { Differences } from "./versions.js";

export function Proposals() {
  const [list, setList] = useState([]);
  const [decided, setDecided] = useState(null); // {name, decision, version}
  const [problem, setProblem] = useState(null);
  const load = () => getProposals().then(setList, setProblem);
  useEffect(() => void load(), []);
  const attempt = async (work, after) => {
    setProblem(null);
    try {
      await work();
      setDecided(after);
    } catch (error) {
      setProblem(error);
    }
    await load();
    loadTools();
  };
  // Who accepts has the objections before them.
  const decide = ({ name, version, origin }, decision) =>
    attempt(() => postDecision(name, decision === "accept" ? "accept?anyway=true" : decision), {
      name,
      version,
      origin,
      decision,
    });
  if (list.length === 0 && !decided && !problem) return null;
  return html`<section class="proposals" aria-label=${t("proposals")} data-testid="proposals">
    <h3 class="eyebrow">${t("proposals")}</h3>
    ${problem && html`<${Problem} title=${t("tool-not-possible")} ...${problem} />`}
    <div role="status">
      ${
        decided &&
        html`<p class="standing">
          <span class="standing-words">${t(`proposal-done-${decided.decision}`, decided)}</span>
          <button
            class="button"
            data-testid="proposal-undo"
            onClick=${() => attempt(() => takenBack(decided), null)}
          >
            ${t("conversation-undo")}
          </button>
        </p>`
      }
    </div>
    ${list.map((one) => html`<${Proposal} key=${one.name} proposal=${one} decide=${decide} load=${load} />`)}
  </section>`;
}

// The opposite of a decision.
function takenBack({ name, decision, version, origin }) {
  if (decision === "refuse") return postDecision(name, "reopen");
  if (origin.how === "merged") return postStanding(origin.tool, "unmerge");
  return version > 1 ? postRollback(name, version - 1) : postStanding(name, "retire");
}

function Proposal({ proposal, decide, load }) {
  const { name, version, based_on: before, description, objections = [] } = proposal;
  const title = before ? t("version-option", { number: `${version}` }) : t("proposal-new");
  const [label, accept] =
    objections.length > 0
      ? [t("proposal-accept-anyway"), t("proposal-accept-anyway-of", { name })]
      : [t("proposal-accept"), t("proposal-accept-of", { name })];
  return html`<article class="version" aria-label=${name} data-testid="proposal">
    <div class="version-head">
      <h4 class="version-title">${name}</h4>
      <span class="badge">${title}</span>
    </div>
    <p class="version-why">${description}</p>
    ${before > 0 && html`<p class="version-facts">${originWords(proposal)}</p>`}
    <${Disclosure} label=${t("proposal-behaviour")}
      ><${Loaded} view=${Behaviour} request=${() => getBehaviour(name)}
    /><//>
    <${Disclosure} label=${t("proposal-sources")}
      ><${Loaded} view=${Sources} request=${() => getProposal(name)} load=${load}
    /><//>
    ${
      objections.length > 0 &&
      html`<div class="problem" data-testid="proposal-objections">
        <div>
          <p>${t("proposal-objections")}</p>
          <ul class="import-requests">
            ${objections.map((one) => html`<li key=${one}>${visible(one)}</li>`)}
          </ul>
        </div>
      </div>`
    }
    <div class="confirm-answers">
      <button
        class="button primary"
        data-testid="proposal-accept"
        aria-label=${accept}
        onClick=${() => decide(proposal, "accept")}
      >
        ${label}
      </button>
      <button
        class="button"
        data-testid="proposal-refuse"
        aria-label=${t("proposal-refuse-of", { name })}
        onClick=${() => decide(proposal, "refuse")}
      >
        ${t("proposal-refuse")}
      </button>
    </div>
  </article>`;
}

function Behaviour({ compared, recorded, changed, calls }) {
  return html`<div data-testid="behaviour">
    <p class="step-note">
      ${compared > 0 ? t("proposal-compared", { compared, recorded, changed }) : t("proposal-calls")}
    </p>
    <dl class="facts calls">
      ${calls.map(
        ({ call, before, after }) =>
          html`<dt key=${call}><code>${call}</code></dt>
            <dd>${before && html`<del>${before}</del> `}<ins>${after}</ins></dd>`,
      )}
    </dl>
  </div>`;
}

function Sources({ load, again, ...tool }) {
  const before = { code: tool.code_before, tests: tool.tests_before };
  const done = () => {
    again();
    load();
  };
  return html`<${Differences} before=${before} after=${tool} />
    <${Disclosure} label=${t("proposal-edit")}
      ><${ToolEditor} tool=${tool} proposed done=${done}
    /><//>`;
}
