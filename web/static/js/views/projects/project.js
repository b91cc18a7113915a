// The open project, in place of the conversation: its history or its files, what runs or waits, and
// what should change next.

import { useEffect, useState } from "preact/hooks";
import { figuresText } from "../../build.js";
import { causeOf } from "../../cause.js";
import { act, say, stop } from "../../connection.js";
import { duration, nowWords, stepWords, usageText } from "../../format.js";
import { loadProject } from "../../loading.js";
import {
  changedIn,
  detailOf,
  doneIn,
  figuresIn,
  HISTORY,
  projectPath,
  stampOf,
  STATUS,
  tabsOf,
  targetOf,
} from "../../projects.js";
import { useFollow } from "../../scroll.js";
import { running } from "../../steps.js";
import { turnsOf } from "../../thread.js";
import { dispatch, html, Icon, memo, Spinner, stepIcon, t } from "../../view.js";
import { Answer } from "../chat/answer.js";
import { BudgetMeter } from "../parts/budget.js";
import { Disclosure } from "../parts/disclosure.js";
import { Elapsed } from "../parts/elapsed.js";
import { Problem } from "../parts/problem.js";
import { BuildOn } from "./project-form.js";
import { OpenFile, ProjectTabs, Tree } from "./project-files.js";
import { ProjectMenu } from "./project-menu.js";
import { ActStep } from "../activity/step-project.js";
import { Jump, Region, State } from "../parts/controls.js";

export function Project({ state, project, thread }) {
  const { id, name } = project;
  const stamp = stampOf(thread);
  useEffect(() => void loadProject(id), [id, stamp]);
  const turns = turnsOf(thread);
  const turn = turns.at(-1);
  const detail = detailOf(state);
  const files = detail?.project?.files ?? [];
  const tabs = tabsOf(state);
  const busy = turn?.state === "running";
  const inFiles = tabs.shown !== HISTORY;
  return html`<main class="chat" aria-label=${t("project-label", { name })} data-testid="project">
    <${Head} ...${{ project, detail, files, busy }} figures=${figuresIn(thread, files)} />
    <${ProjectTabs} tabs=${tabs} files=${files} />
    ${
      inFiles
        ? html`<${Files} ...${{ id, detail, files, tabs, busy }} texts=${state.projectTexts} />`
        : html`<${History} key=${id} turns=${turns} detail=${detail} />`
    }
    <div class="chat-foot project-foot">
      ${
        busy
          ? html`<${Running}
              key=${turn.id}
              turn=${turn}
              skew=${state.skew}
              stopping=${Boolean(state.stopping[turn.id])}
            />`
          : html`<${BuildOn}
              key=${id}
              project=${project}
              goal=${state.draft}
              focus=${state.focusComposer}
            />`
      }
    </div>
  </main>`;
}

function Head({ project, detail, files, busy, figures }) {
  const { id, name, status } = project;
  const state = busy ? "running" : STATUS[status];
  const has = (test) => !busy && files.some(({ path }) => test.test(path));
  const run = async (action) =>
    (await act(id, action)) && dispatch({ type: "project_tab_shown", tab: HISTORY });
  const button = (testid, icon, label, action) =>
    html`<button class="button" data-testid=${testid} onClick=${() => run(action)}>
      <${Icon} name=${icon} />${label}
    </button>`;
  return html`<header class="project-head">
    <div class="project-line">
      <h2 class="project-title">${name}</h2>
      <${State} state=${state} data-testid="project-state" />
      ${
        figures &&
        html`<p class="project-figures" data-testid="project-figures">${figuresText(figures)}</p>`
      }
    </div>
    <div class="project-actions" role="toolbar" aria-label=${t("turn-actions")}>
      ${
        has(/^main\.py$/) &&
        button("run-main", "play", t("project-run"), { action: "execute_py_file", name: "main.py" })
      }
      ${
        has(/(^|\/)(test_[^/]*|[^/]*_test)\.py$/) &&
        button("run-tests", "flask", t("project-test"), { action: "run_tests" })
      }
      ${
        files.length > 0 &&
        html`<a class="button" data-testid="download-zip" href=${`${projectPath(id)}/zip`} download
          ><${Icon} name="download" /><span class="project-words">${t("project-download")}</span></a
        >`
      }
      ${
        !busy &&
        html`<${ProjectMenu} project=${project} backups=${detail?.project?.backups ?? []} />`
      }
    </div>
  </header>`;
}

function History({ turns, detail }) {
  const { scroller, content, away, follow } = useFollow(String(turns.length), turns.length > 0);
  return html`<${Region} class="chat-scroller" label=${t("project-history")} ref=${scroller}>
    <div class="chat-content" ref=${content}>
      ${detail?.error && html`<${Problem} title=${t("project-not-shown")} ...${detail.error} />`}
      <ol class="turns" data-testid="project-history">
        ${turns.map(
          (turn, index) =>
            html`<${ProjectTurn} key=${turn.id} turn=${turn} last=${index === turns.length - 1} />`,
        )}
      </ol>
    </div>
    ${away && html`<${Jump} class="jump project-jump" follow=${follow} />`}
  <//>`;
}

// A build, or what a person did by hand: what was asked, what was done, and how it ended.
const ProjectTurn = memo(({ turn, last }) => {
  const { id, state, request, build, steps, answer, failure, stopReason } = turn;
  const facts = [duration(turn.seconds), usageText(turn.usage)].filter(Boolean).join(" · ");
  const byHand = !build?.name && steps.length > 0;
  const ran = byHand && steps.findLast((step) => step.run || step.tested || step.change);
  const done = doneIn(steps);
  const changed = changedIn(steps);
  const lines = html`<ol class="acts">
    ${done.map((step) => html`<${Act} key=${step.key} step=${step} />`)}
  </ol>`;
  return html`<li class="turn" data-testid="project-turn" data-turn=${id} data-state=${state}>
    ${byHand && html`<p class="keeps">${t("project-by-hand")}</p>`}
    <h3 class="visually-hidden">${t("project-request")}</h3>
    <div class="request-line"><p class="request" data-testid="request">${request}</p></div>
    ${
      !byHand &&
      done.length > 0 &&
      (state === "running"
        ? lines
        : html`<${Disclosure} label=${t("project-done", { count: done.length })}>${lines}<//>`)
    }
    ${
      state !== "running" &&
      html`<div class="project-end" data-testid=${last ? "project-end" : null} data-state=${state}>
        ${
          ran
            ? html`<div class="step-body" data-testid="outcome"><${ActStep} step=${ran} /></div>`
            : answer && html`<${Answer} text=${answer} streams=${false} />`
        }
        ${
          failure &&
          html`<${Problem}
            testid="turn-failure"
            title=${causeOf(turn)}
            markdown=${true}
            ...${failure}
            reached=""
          />`
        }
        ${
          state === "stopped" &&
          html`<${Problem}
            testid="turn-stopped"
            tone="warn"
            title=${stepWords("turn_stopped")}
            message=${stopReason}
            remedy=${t("project-stopped")}
          />`
        }
      </div>`
    }
    ${
      !byHand &&
      changed.length > 0 &&
      html`<ul class="files" aria-label=${t("project-changed-files")}>
        ${changed.map(
          (path) =>
            html`<li key=${path}>
              <button
                class="file"
                data-testid="changed-file"
                onClick=${() => dispatch({ type: "file_opened", path })}
              >
                <${Icon} name="file" /><span class="file-name">${path}</span>
              </button>
            </li>`,
        )}
      </ul>`
    }
    ${
      state !== "running" &&
      html`<div class="summary">
        <span class="summary-facts">${facts}</span
        ><button
          class="text-button"
          data-testid="show-activity"
          onClick=${() => dispatch({ type: "turn_selected", turnId: id })}
        >
          ${t("project-steps")}<${Icon} name="chevronRight" />
        </button>
      </div>`
    }
  </li>`;
});

function Act({ step }) {
  const { kind, state, change, figures } = step;
  const text = figures ? figuresText(figures) : targetOf(step) || change?.path;
  return html`<li class="act" data-testid="act" data-kind=${kind}>
    <${Icon} name=${stepIcon(kind)} /><span class="act-words">${stepWords(kind)}</span
    >${text && html`<span class="act-target">${text}</span>`}<${State} state=${state} silent />
  </li>`;
}

function Files({ id, detail, files, tabs, texts, busy }) {
  const file = files.find(({ path }) => path === tabs.shown);
  return html`<${Region}
    class="chat-scroller project-files"
    label=${t("project-files", { count: files.length })}
    data-file=${Boolean(file)}
  >
    ${detail?.error && html`<${Problem} title=${t("project-not-shown")} ...${detail.error} />`}
    ${detail?.project && html`<${Tree} id=${id} files=${files} shown=${tabs.shown} busy=${busy} />`}
    ${
      file &&
      html`<${OpenFile}
        key=${file.path}
        ...${{ id, file, busy }}
        text=${texts[file.sha256]}
        edit=${tabs.edits[file.path]}
      />`
    }
  <//>`;
}

function Running({ turn, skew, stopping }) {
  const { waits } = turn.build ?? {};
  const [pausing, setPausing] = useState(false);
  useEffect(() => {
    if (waits) setPausing(false);
  }, [waits]);
  const pause = async () => setPausing(Boolean((await say(turn.id, "pause"))?.heard));
  const step = running(turn.steps).at(-1);
  const words = stopping ? t("turn-stopping") : waits ? t("project-waiting") : nowWords(step);
  return html`<div class="project-running">
    ${waits && html`<${Waiting} turnId=${turn.id} waits=${waits} step=${step} />`}
    <div class="now" data-testid="now">
      <${Spinner} />
      <button
        class="now-words"
        onClick=${() => dispatch({ type: "turn_selected", turnId: turn.id })}
      >
        ${words}
      </button>
      <${Elapsed} since=${turn.startedAt} skew=${skew} />
      ${
        turn.build?.name &&
        !waits &&
        html`<button class="button" data-testid="pause" disabled=${pausing} onClick=${pause}>
          <${Icon} name="pause" />${t(pausing ? "project-pausing" : "project-pause")}
        </button>`
      }
      <button class="button stop" data-testid="stop" onClick=${() => stop(turn.id)}>
        <${Icon} name="square" />${t("turn-stop")}
      </button>
    </div>
    ${turn.budget && html`<${BudgetMeter} budget=${turn.budget} />`}
  </div>`;
}

function Waiting({ turnId, waits, step }) {
  const answer = (word, label, primary = false) =>
    html`<button
      class=${`button${primary ? " primary" : ""}`}
      data-testid=${`say-${word}`}
      onClick=${() => say(turnId, word)}
    >
      ${label}
    </button>`;
  const target = targetOf(step);
  return html`<div
    class="waiting"
    role="group"
    aria-label=${t("project-waits")}
    data-testid="waiting"
  >
    <p class="waiting-title">
      ${
        waits.package
          ? t("project-install", { package: waits.package })
          : html`${stepWords(waits.action)}${target && html` <code>${target}</code>`}?`
      }
    </p>
    ${step?.reasoning && html`<p class="waiting-why">${step.reasoning}</p>`}
    <div class="form-actions">
      ${
        waits.package
          ? [answer("approve", t("project-approve"), true), answer("refuse", t("project-refuse"))]
          : [answer("act", t("project-act"), true), answer("act_on", t("project-act-on"))]
      }
    </div>
  </div>`;
}
