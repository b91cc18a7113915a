// The versions of a tool: its standing, when and why each was made, the differences of two, and the rollback.

import { useEffect, useState } from "preact/hooks";
import { rollBack, setStanding } from "../../changing.js";
import { moment } from "../../format.js";
import { Loading } from "../../lazy.js";
import { loadVersion, loadVersions } from "../../loading.js";
import { compared, originWords, standingTitle, versionFacts, versionKey } from "../../versions.js";
import { html, t } from "../../view.js";
import { Changes } from "../values/changes.js";
import { Confirm } from "../parts/confirm.js";
import { Problem } from "../parts/problem.js";
import { Select, ToolLink } from "../parts/controls.js";

export function Versions({ tool, versions, sources, problem }) {
  useEffect(() => {
    if (!versions || versions.stale) loadVersions(tool.name);
  }, [tool.name, versions]);
  return html`<div class="versions" data-testid="versions">
    <${Standing} tool=${tool} />
    ${
      problem &&
      html`<${Problem} title=${t("tool-not-possible")} testid="change-problem" ...${problem} />`
    }
    ${versions?.error && html`<${Problem} title=${t("versions-not-shown")} ...${versions.error} />`}
    ${
      versions?.list &&
      html`<h3 class="eyebrow">${t("tool-versions")}</h3>
        <ol>
          ${versions.list.map(
            (v, _, [{ version: newest }]) =>
              html`<${Version} key=${v.version} version=${v} ...${{ tool, newest }} />`,
          )}
        </ol>
        <${Comparison} name=${tool.name} list=${versions.list} sources=${sources} />`
    }
    ${!versions && html`<${Loading} />`}
  </div>`;
}

export function Standing({ tool: { name, standing, frozen, merged_into: into } }) {
  const change = standing === "retired" ? "restore" : "retire";
  return html`<div class="standing">
    <p class="standing-words">
      ${into ? html`${t("tool-merged-into")} <${ToolLink} name=${into} />.` : standingTitle(standing)}
    </p>
    <button
      class="button"
      data-testid="freeze"
      aria-pressed=${Boolean(frozen)}
      title=${t("tool-freeze-note")}
      onClick=${() => setStanding(name, frozen ? "unfreeze" : "freeze")}
    >
      ${t("tool-freeze")}
    </button>
    <${Confirm}
      testid="standing"
      label=${t(`tool-${change}`)}
      question=${t(`tool-${change}-question`, { name })}
      act=${() => setStanding(name, into ? "unmerge" : change)}
    />
  </div>`;
}

function Version({ tool: { name, version: current }, version: v, newest }) {
  const question = t("version-roll-back-question", {
    name,
    to: `${v.version}`,
    next: `${newest + 1}`,
  });
  return html`<li class="version" data-testid="version" data-version=${v.version}>
    <div class="version-head">
      <h4 class="version-title">${t("version-title", { number: `${v.version}` })}</h4>
      ${
        v.version === current &&
        html`<span class="state" data-state="done">${t("version-in-use")}</span>`
      }
      <time class="time" datetime=${v.created_at}>${moment(v.created_at)}</time>
    </div>
    <p class="version-why">${originWords(v)}</p>
    <p class="version-facts">${versionFacts(v)}</p>
    ${
      v.version !== current &&
      html`<${Confirm}
        testid="rollback"
        label=${t("version-roll-back")}
        about=${t("version-title", { number: `${v.version}` })}
        question=${question}
        act=${() => rollBack(name, v.version)}
      />`
    }
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
  const choose = (end) => (version) => setChosen({ ...pair, [end]: version });
  const error = before?.error ?? after?.error;
  return html`<h3 class="eyebrow">${t("versions-compare")}</h3>
    <div class="comparison">
      <${Choice} end="from" list=${list} value=${pair.from} choose=${choose("from")} />
      <${Choice} end="to" list=${list} value=${pair.to} choose=${choose("to")} />
    </div>
    ${error && html`<${Problem} title=${t("versions-not-compared")} ...${error} />`}
    ${
      before?.version &&
      after?.version &&
      html`<${Differences} before=${before.version} after=${after.version} />`
    }`;
}

function Choice({ end, list, value, choose }) {
  return html`<label class="choice"
    >${t(`versions-${end}`)}
    <${Select}
      data-testid=${`compare-${end}`}
      value=${value}
      options=${list.map(({ version }) => [version, t("version-option", { number: `${version}` })])}
      choose=${choose}
    />
  </label>`;
}

// The differences of two versions of a tool; without the first all is new.
export const Differences = ({ before, after }) =>
  html`<div class="differences" data-testid="differences">
    ${["code", "tests"].map(
      (part) =>
        html`<h4 key=${part} class="differences-title">${t(`tool-${part}`)}</h4>
          <${Changes}
            before=${before[part]}
            after=${after[part]}
            label=${t(`versions-${part}-changes`)}
          />`,
    )}
  </div>`;
