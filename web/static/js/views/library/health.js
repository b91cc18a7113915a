// The health of the library: tools that do the same, weak tests, and what is slow or unused, each with what may be
// done about it and how to take that back.

import { useState } from "preact/hooks";
import { call, postStanding } from "../../api.js";
import { number } from "../../format.js";
import { Spinner } from "../../icons.js";
import { Loaded } from "../../lazy.js";
import { loadTools } from "../../loading.js";
import { html, openTool, t } from "../../view.js";
import { ToolLink } from "../parts/controls.js";
import { Disclosure } from "../parts/disclosure.js";
import { Problem } from "../parts/problem.js";

const ROUTE = "/api/v1/health/library";
const KINDS = ["twins", "suspect", "weak", "slow", "never_used", "stale", "unpaid", "one_person"];
const SHOWN = 5; // findings of a kind that are drawn at first

export const Health = () =>
  html`<section class="proposals" aria-label=${t("health-title")} data-testid="health">
    <${Disclosure} label=${t("health-title")} keep=${ROUTE}
      ><${Loaded} view=${Findings} request=${() => call("GET", ROUTE)}
    /><//>
  </section>`;

function Findings({ tools, compared, unmeasured, findings }) {
  const [done, setDone] = useState(null); // {proposal, tools, waits}
  const [gone, setGone] = useState([]); // tools that are no longer offered
  const [busy, setBusy] = useState(null);
  const [problem, setProblem] = useState(null);
  const attempt = async (finding, work, after) => {
    setBusy(finding);
    setProblem(null);
    try {
      after(await work());
      loadTools();
    } catch (error) {
      setProblem(error);
    }
    setBusy(null);
  };
  const act = (finding) =>
    attempt(
      finding,
      () => apply(finding),
      (result) => {
        const waits = Boolean(result.waits);
        setDone({ ...finding, waits });
        if (!waits) setGone([...gone, finding.tools.at(-1)]);
      },
    );
  const undo = () =>
    attempt(
      done,
      () => takeBack(done),
      () => {
        setGone(gone.filter((name) => name !== done.tools.at(-1)));
        setDone(null);
      },
    );
  const open = findings.filter((one) => !one.tools.some((name) => gone.includes(name)));
  return html`<p class="step-note">
      ${t("health-counts", { tools, compared })}
      ${unmeasured > 0 && html`${" "}${t("health-unmeasured", { count: unmeasured })}`}
    </p>
    ${problem && html`<${Problem} title=${t("tool-not-possible")} ...${problem} />`}
    <div role="status">
      ${
        done &&
        html`<p class="standing">
          <span class="standing-words" data-testid="health-done">${doneWords(done)}</span>
          ${
            !done.waits &&
            html`<button class="button" data-testid="health-undo" disabled=${busy} onClick=${undo}>
              ${t("conversation-undo")}
            </button>`
          }
        </p>`
      }
      ${open.length === 0 && html`<p>${t("health-nothing")}</p>`}
    </div>
    ${KINDS.map(
      (kind) =>
        html`<${Kind}
          key=${kind}
          ...${{ kind, busy, act }}
          findings=${open.filter((one) => one.kind === kind)}
        />`,
    )}`;
}

function Kind({ kind, findings, busy, act }) {
  const [whole, setWhole] = useState(false);
  if (findings.length === 0) return null;
  const drawn = whole ? findings : findings.slice(0, SHOWN);
  return html`<div class="findings" data-testid="findings" data-kind=${kind}>
    <h3 class="eyebrow">${t(`health-${kind}`)} · ${number(findings.length)}</h3>
    <ul>
      ${drawn.map((one) => html`<${Finding} key=${one.tools.join(" ")} finding=${one} ...${{ busy, act }} />`)}
    </ul>
    ${
      drawn.length < findings.length &&
      html`<button class="code-more" onClick=${() => setWhole(true)}>
        ${t("health-all", { count: findings.length })}
      </button>`
    }
  </div>`;
}

function Finding({ finding, busy, act }) {
  const { kind, tools, evidence, proposal } = finding;
  const [name, duplicate] = tools;
  const waits = busy === finding;
  const label = t(`health-do-${proposal}`);
  const does = proposal === "merge" || proposal === "retire";
  return html`<li class="finding" data-testid="finding" data-tool=${name}>
    <div>
      <${ToolLink} name=${name} />${duplicate && html` = <${ToolLink} name=${duplicate} />`}
      <p class="finding-words">${t(`health-evidence-${kind}`, rounded(evidence))}</p>
    </div>
    <button
      class="button"
      data-testid="finding-act"
      aria-label=${t("health-do-of", { label, name: tools.at(-1) })}
      disabled=${busy !== null}
      onClick=${() => (does ? act(finding) : openTool(name))}
    >
      ${waits && html`<${Spinner} label=${t("loading")} />`}${label}
    </button>
  </li>`;
}

const rounded = (evidence) =>
  Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [
      name,
      Number.isInteger(value) ? value : Number(value.toPrecision(2)),
    ]),
  );

const doneWords = ({ proposal, tools: [name, duplicate], waits }) =>
  t(waits ? "health-waits" : `health-done-${proposal}`, { name, duplicate: duplicate ?? name });

function apply({ proposal, tools: [name, duplicate] }) {
  if (proposal === "retire") return postStanding(name, "retire");
  return call("POST", `/api/v1/tools/${encodeURIComponent(duplicate)}/merge`, { into: name });
}

const takeBack = ({ proposal, tools }) =>
  postStanding(tools.at(-1), proposal === "merge" ? "unmerge" : "restore");
