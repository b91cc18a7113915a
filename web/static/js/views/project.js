// The open project, in place of the conversation: its progress, what waits for approval, its files, and what to do next.

import { useEffect, useState } from "preact/hooks";
import { deleteProject } from "../api.js";
import { act, restoreBackup, say, stop } from "../connection.js";
import { figuresText } from "../build.js";
import {
  duration,
  fileSize,
  moment,
  nowWords,
  plural,
  STATE_WORDS,
  stepWords,
  usageText,
} from "../format.js";
import { causeOf } from "../cause.js";
import { html } from "../html.js";
import { Icon, StateIcon } from "../icons.js";
import { loadProject } from "../loading.js";
import { Markdown } from "../markdown.js";
import { detailOf, figuresIn, projectPath, shownFile, stampOf, STATUS } from "../projects.js";
import { running } from "../steps.js";
import { dispatch } from "../store.js";
import { turnsOf } from "../thread.js";
import { BudgetMeter } from "./budget.js";
import { Confirm } from "./confirm.js";
import { Disclosure } from "./disclosure.js";
import { Elapsed } from "./elapsed.js";
import { BuildOn } from "./project-form.js";
import { ProjectFiles } from "./project-files.js";
import { Problem } from "./problem.js";
import { ActStep } from "./step-project.js";

export function Project({ state, project, thread }) {
  const { id } = project;
  const stamp = stampOf(thread);
  useEffect(() => {
    loadProject(id);
  }, [id, stamp]);
  const turn = turnsOf(thread).at(-1);
  const detail = detailOf(state);
  const files = detail?.project?.files ?? [];
  const busy = turn?.state === "running";
  return html`<main class="chat" aria-label=${`Project ${project.name}`} data-testid="project">
    <div class="chat-scroller" tabindex="0" role="region" aria-label="Project">
      <div class="project">
        <${Head} project=${project} turn=${turn} figures=${figuresIn(thread, files)} />
        ${busy ? html`<${Running} key=${turn.id} turn=${turn} skew=${state.skew} stopping=${Boolean(state.stopping[turn.id])} />` : files.length > 0 && html`<${Actions} id=${id} files=${files} />`}
        ${turn && !busy && html`<${End} turn=${turn} />`}
        ${detail?.error && html`<${Problem} title="This project can’t be shown" ...${detail.error} />`}
        ${detail?.project && html`<${ProjectFiles} id=${id} files=${files} file=${shownFile(files, state.openFile)} texts=${state.projectTexts} busy=${busy} />`}
        ${!busy && html`<${BuildOn} key=${id} project=${project} />`}
        ${!busy && detail?.project && html`<${Backups} project=${detail.project} />`}
        ${!busy && html`<${Removal} project=${project} />`}
      </div>
    </div>
  </main>`;
}

function Head({ project: { name, goal, status }, turn, figures }) {
  const state = turn?.state === "running" ? "running" : STATUS[status];
  return html`<header class="project-head">
    <div class="project-line">
      <h2 class="project-title">${name}</h2>
      <span class="state" data-state=${state} data-testid="project-state"><${StateIcon} state=${state} />${STATE_WORDS[state]}</span>
    </div>
    <p class="project-goal" data-testid="project-shown-goal">${goal}</p>
    ${figures && html`<p class="project-figures" data-testid="project-figures">${figuresText(figures)}</p>`}
  </header>`;
}

function Running({ turn, skew, stopping }) {
  const { waits } = turn.build ?? {};
  const [pausing, setPausing] = useState(false);
  useEffect(() => waits && setPausing(false), [waits]);
  const pause = async () => setPausing(Boolean((await say(turn.id, "pause"))?.heard));
  const step = running(turn.steps).at(-1);
  return html`<div class="project-running">
    <div class="now" data-testid="now">
      <span class="spinner" aria-hidden="true"></span>
      <button type="button" class="now-words" onClick=${() => dispatch({ type: "turn_selected", turnId: turn.id })}>${stopping ? "Stopping" : waits ? "Waiting for you" : nowWords(step?.kind)}</button>
      <${Elapsed} since=${turn.startedAt} skew=${skew} />
      ${turn.build?.name && !waits && html`<button type="button" class="button" data-testid="pause" disabled=${pausing} onClick=${pause}><${Icon} name="pause" />${pausing ? "Pausing" : "Pause"}</button>`}
      <button type="button" class="button stop" data-testid="stop" onClick=${() => stop(turn.id)}><${Icon} name="square" />Stop</button>
    </div>
    ${waits && html`<${Waiting} turnId=${turn.id} waits=${waits} step=${step} />`}
    ${turn.budget && html`<${BudgetMeter} budget=${turn.budget} />`}
  </div>`;
}

function Waiting({ turnId, waits, step }) {
  const answer = (word, label, primary = false) =>
    html`<button type="button" class=${`button${primary ? " primary" : ""}`} data-testid=${`say-${word}`} onClick=${() => say(turnId, word)}>${label}</button>`;
  const target = [step?.arguments?.name, ...(step?.arguments?.arguments ?? [])]
    .filter(Boolean)
    .join(" ");
  return html`<div class="waiting" role="group" aria-label="The build waits" data-testid="waiting">
    <p class="waiting-title">${waits.package ? html`Install <code>${waits.package}</code> for this project’s sandbox?` : html`${stepWords(waits.action)}${target && html` <code>${target}</code>`}?`}</p>
    ${step?.reasoning && html`<p class="waiting-why">${step.reasoning}</p>`}
    <div class="form-actions">${waits.package ? [answer("approve", "Install it", true), answer("refuse", "Do without it")] : [answer("act", "Do this step", true), answer("act_on", "Continue without asking")]}</div>
  </div>`;
}

function Actions({ id, files }) {
  const has = (test) => files.some(({ path }) => test.test(path));
  return html`<div class="project-actions">
    ${has(/^main\.py$/) && html`<button type="button" class="button" data-testid="run-main" onClick=${() => act(id, { action: "execute_py_file", name: "main.py" })}><${Icon} name="play" />Run main.py</button>`}
    ${has(/(^|\/)(test_[^/]*|[^/]*_test)\.py$/) && html`<button type="button" class="button" data-testid="run-tests" onClick=${() => act(id, { action: "run_tests" })}><${Icon} name="flask" />Run the tests</button>`}
    <a class="button" data-testid="download-zip" href=${`${projectPath(id)}/zip`} download><${Icon} name="download" />Download</a>
  </div>`;
}

// The result of the newest turn: a build's summary, or what a person ran.
function End({ turn }) {
  const facts = [duration(turn.seconds), usageText(turn.usage)].filter(Boolean).join(" · ");
  const open = () => dispatch({ type: "turn_selected", turnId: turn.id });
  const ran = turn.build?.name ? null : turn.steps.findLast((step) => step.run || step.tested);
  return html`<div class="project-end" data-testid="project-end" data-state=${turn.state}>
    ${ran ? html`<div class="step-body" data-testid="outcome"><${ActStep} step=${ran} /></div>` : turn.answer && html`<${Markdown} text=${turn.answer} />`}
    ${turn.failure && html`<${Problem} testid="turn-failure" title=${causeOf(turn)} ...${turn.failure} />`}
    ${turn.state === "stopped" && html`<${Problem} testid="turn-stopped" tone="warn" title="Stopped" message=${turn.stopReason} remedy="You can continue building at any time; what was built is kept." />`}
    <div class="summary"><span class="summary-facts">${facts}</span><button type="button" class="text-button" data-testid="show-activity" onClick=${open}>Steps<${Icon} name="chevronRight" /></button></div>
  </div>`;
}

function Backups({ project: { id, name, backups } }) {
  if (backups.length === 0) return null;
  return html`<${Disclosure} label=${plural(backups.length, "backup")}>
    <ol data-testid="backups">${backups.map(
      ({ number, at, size }) => html`<li key=${number} class="version">
      <div class="version-head"><h3 class="version-title">Backup ${number}</h3><span class="version-facts">${fileSize(size)}</span><time class="time" datetime=${at}>${moment(at)}</time></div>
      <${Confirm} testid=${`restore-${number}`} label="Restore" question=${`Restore the files of ${name} from this backup? The current files become the newest backup.`} act=${() => restoreBackup(id, number)} />
    </li>`,
    )}</ol>
  <//>`;
}

function Removal({ project: { id, name } }) {
  const remove = async () => {
    try {
      await deleteProject(id);
      dispatch({ type: "project_deleted", id });
    } catch (error) {
      dispatch({
        type: "noticed",
        message: `${name} was not deleted: ${error.message}.`,
        remedy: error.remedy ?? "",
      });
    }
  };
  return html`<div><${Confirm} testid="delete-project" label="Delete the project" question=${`Delete ${name} with its files, backups and steps? This can’t be undone.`} act=${remove} /></div>`;
}
