// The versions of a tool: its standing, when and why each was made, the differences of two, and the rollback.

import { useEffect, useState } from "preact/hooks";
import { retire, restore, rollBack } from "../changing.js";
import { moment } from "../format.js";
import { html } from "../html.js";
import { loadVersion, loadVersions } from "../loading.js";
import { compared, standingTitle, versionFacts, versionKey } from "../versions.js";
import { Badge } from "./badge.js";
import { Changes } from "./changes.js";
import { Confirm } from "./confirm.js";
import { Problem } from "./problem.js";

export function Versions({ tool, versions, sources, problem }) {
  useEffect(() => {
    if (!versions || versions.stale) loadVersions(tool.name);
  }, [tool.name, versions]);
  return html`<div class="versions" data-testid="versions">
    <${Standing} tool=${tool} />
    ${problem && html`<${Problem} title="That was not possible" testid="change-problem" ...${problem} />`}
    ${versions?.error && html`<${Problem} title="The versions can’t be shown" ...${versions.error} />`}
    ${versions?.list && html`<${VersionList} tool=${tool} list=${versions.list} /><${Comparison} name=${tool.name} list=${versions.list} sources=${sources} />`}
    ${!versions && html`<div class="nothing"><span class="spinner" role="img" aria-label="Loading"></span></div>`}
  </div>`;
}

function Standing({ tool: { name, standing } }) {
  const retired = standing === "retired";
  const asked = retired
    ? {
        label: "Restore",
        question: `Restore ${name}? Searches offer it again, at first as provisional.`,
        act: () => restore(name),
      }
    : {
        label: "Retire",
        question: `Retire ${name}? It won’t be offered until you restore it.`,
        act: () => retire(name),
      };
  return html`<div class="standing"><${Badge} standing=${standing} /><p class="standing-words">${standingTitle(standing)}</p><${Confirm} testid="standing" ...${asked} /></div>`;
}

function VersionList({ tool, list }) {
  return html`<h3 class="eyebrow">Versions</h3>
    <ol>${list.map((v) => html`<${Version} key=${v.version} tool=${tool} version=${v} newest=${list[0].version} />`)}</ol>`;
}

function Version({ tool: { name, version: current }, version: v, newest }) {
  const question = `Roll ${name} back to version ${v.version}? This creates version ${newest + 1} for everyone; no version is lost.`;
  return html`<li class="version" data-testid="version" data-version=${v.version}>
    <div class="version-head">
      <h4 class="version-title">Version ${v.version}</h4>
      ${v.version === current && html`<span class="state" data-state="done">in use</span>`}
      <time class="time" datetime=${v.created_at}>${moment(v.created_at)}</time>
    </div>
    <p class="version-why">${v.why}</p>
    <p class="version-facts">${versionFacts(v)}</p>
    ${v.version !== current && html`<${Confirm} testid="rollback" label="Roll back" question=${question} act=${() => rollBack(name, v.version)} />`}
  </li>`;
}

function Comparison({ name, list, sources }) {
  const [chosen, setChosen] = useState({});
  const pair = compared(list, chosen);
  const [before, after] = pair
    ? [pair.from, pair.to].map((number) => sources[versionKey(name, number)])
    : [];
  useEffect(() => {
    if (pair && !before) loadVersion(name, pair.from);
    if (pair && !after) loadVersion(name, pair.to);
  }, [name, pair?.from, pair?.to]);
  if (!pair) return null;
  const choose = (end) => (event) => setChosen({ ...pair, [end]: Number(event.target.value) });
  const error = before?.error ?? after?.error;
  return html`<h3 class="eyebrow">Compare</h3>
    <div class="comparison">
      <${Choice} label="from" list=${list} value=${pair.from} choose=${choose("from")} />
      <${Choice} label="to" list=${list} value=${pair.to} choose=${choose("to")} />
    </div>
    ${error && html`<${Problem} title="These versions can’t be compared" ...${error} />`}
    ${before?.version && after?.version && html`<${Sources} before=${before.version} after=${after.version} />`}`;
}

function Choice({ label, list, value, choose }) {
  return html`<label class="choice">${label}
    <select class="select" data-testid=${`compare-${label}`} value=${value} onChange=${choose}>${list.map((v) => html`<option key=${v.version} value=${v.version}>version ${v.version}</option>`)}</select>
  </label>`;
}

function Sources({ before, after }) {
  return html`<div class="differences" data-testid="differences">
    <h4 class="differences-title">Code</h4>
    <${Changes} before=${before.code} after=${after.code} label="Changes of the code" />
    <h4 class="differences-title">Tests</h4>
    <${Changes} before=${before.tests} after=${after.tests} label="Changes of the tests" />
  </div>`;
}
