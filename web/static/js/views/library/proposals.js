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
import { loadTools } from "../../loading.js";
import { originWords } from "../../versions.js";
import { html, Spinner, t } from "../../view.js";
import { Changes } from "../values/changes.js";
import { CodeEditor } from "./editor.js";
import { Disclosure } from "../parts/disclosure.js";
import { ErrorWords, Problem } from "../parts/problem.js";

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
  const decide = ({ name, version }, decision) =>
    attempt(() => postDecision(name, decision), { name, version, decision });
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
function takenBack({ name, decision, version }) {
  if (decision === "refuse") return postDecision(name, "reopen");
  return version > 1 ? postRollback(name, version - 1) : postStanding(name, "retire");
}

function Proposal({ proposal, decide, load }) {
  const { name, version, based_on: before, description } = proposal;
  const title = before ? t("version-option", { number: `${version}` }) : t("proposal-new");
  return html`<article class="version" aria-label=${name} data-testid="proposal">
    <div class="version-head">
      <h4 class="version-title">${name}</h4>
      <span class="badge">${title}</span>
    </div>
    <p class="version-why">${description}</p>
    ${before > 0 && html`<p class="version-facts">${originWords(proposal)}</p>`}
    <${Disclosure} label=${t("proposal-behaviour")}><${Behaviour} name=${name} /><//>
    <${Disclosure} label=${t("proposal-sources")}><${Sources} name=${name} load=${load} /><//>
    <div class="confirm-answers">
      <button
        class="button primary"
        data-testid="proposal-accept"
        aria-label=${t("proposal-accept-of", { name })}
        onClick=${() => decide(proposal, "accept")}
      >
        ${t("proposal-accept")}
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

// What `request` gives for the name, or null while it loads, or its problem.
function useLoaded(request, name, again) {
  const [value, setValue] = useState(null);
  useEffect(() => {
    request(name).then(setValue, (error) => setValue({ problem: error }));
  }, [name, again]);
  return value;
}

const Waiting = () => html`<${Spinner} label=${t("loading")} />`;

function Behaviour({ name }) {
  const report = useLoaded(getBehaviour, name);
  if (!report) return html`<${Waiting} />`;
  if (report.problem) return html`<${ErrorWords} error=${report.problem} />`;
  const { compared, recorded, changed, calls } = report;
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

function Sources({ name, load }) {
  const [saved, setSaved] = useState(0);
  const page = useLoaded(getProposal, name, saved);
  if (!page) return html`<${Waiting} />`;
  if (page.problem) return html`<${ErrorWords} error=${page.problem} />`;
  const done = () => {
    setSaved(saved + 1);
    load();
  };
  return html`<div class="differences">
    <h5 class="differences-title">${t("tool-code")}</h5>
    <${Changes}
      before=${page.code_before}
      after=${page.code}
      label=${t("tool-code-of", { name })}
    />
    <h5 class="differences-title">${t("tool-tests")}</h5>
    <${Changes}
      before=${page.tests_before}
      after=${page.tests}
      label=${t("tool-tests-of", { name })}
    />
    <${Disclosure} label=${t("proposal-edit")}
      ><${CodeEditor} key=${saved} tool=${page} proposed done=${done}
    /><//>
  </div>`;
}
