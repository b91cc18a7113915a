// A turn in the conversation: the request, its progress, the answer, and its cost.

import { useState } from "preact/hooks";
import { causeOf, isBetterRephrased, reachedOf, settingsHelp } from "../../cause.js";
import { askAgain, fork, stop } from "../../connection.js";
import { runningStep } from "../../delegation.js";
import { duration, nowWords, stepWords, usageText } from "../../format.js";
import { picturesOf } from "../../files.js";
import { lazy } from "../../lazy.js";
import { allowNotices, mayAsk } from "../../notifying.js";
import { canBeKept } from "../../plan.js";
import { saidWith } from "../../questions.js";
import { isWritten } from "../../thread.js";
import { answerOf, isCutOff } from "../../turn.js";
import { dispatch, html, Icon, memo, rich, show, Spinner, store, t } from "../../view.js";
import { Answer } from "./answer.js";
import { Births, BuiltEarlier } from "./birth.js";
import { BudgetMeter } from "../parts/budget.js";
import { CopyButton } from "../values/code.js";
import { Elapsed } from "../parts/elapsed.js";
import { MadeFiles, RequestFiles } from "../values/files.js";
import { Keep, Plan } from "./plan.js";
import { Problem } from "../parts/problem.js";
import { Progress } from "./progress.js";
import { Recomputed } from "./recomputed.js";
import { LongResults } from "./result.js";
import { Answered, Questions } from "./questions.js";
import { FollowUps } from "./requests.js";
import { SettingsButton } from "../frame/settings-button.js";
import { Wrong } from "./wrong.js";
import { IconButton, More, ToolLink } from "../parts/controls.js";

const Lacking = lazy(async () => (await import("../later.js")).Lacking);

const showActivity = (turnId) => dispatch({ type: "turn_selected", turnId });

// `before`: the turn before this one; `answers`: those of the turn after it.
export const TurnView = memo(
  ({
    turn,
    number,
    count,
    older,
    newer,
    before,
    answers,
    skew,
    stopping,
    kept,
    last,
    after,
    builtBy,
    offline,
    conversationId,
  }) => {
    const { outcome, failure } = turn;
    const asked = outcome === "asked" && turn.questions;
    const text = answerOf(turn);
    return html`<li
      class="turn"
      data-testid="turn"
      data-turn=${turn.id}
      data-state=${turn.state}
      data-outcome=${outcome}
    >
      ${turn.keeps && html`<p class="keeps" data-testid="keeps">${t("turn-keep")}</p>`}
      ${turn.disputes && html`<p class="keeps" data-testid="disputes">${t("turn-disputes")}</p>`}
      ${turn.runs && html`<p class="keeps" data-testid="by-hand">${t("turn-by-hand")}</p>`}
      <${Request} turn=${turn} before=${before} />
      <${RequestFiles} files=${turn.files} conversationId=${conversationId} />
      ${
        count > 1 &&
        html`<${Versions} number=${number} count=${count} older=${older} newer=${newer} />`
      }
      <${Progress}
        turnId=${turn.id}
        course=${turn.course}
        steps=${turn.steps}
        state=${turn.state}
      />
      <${Plan} turnId=${turn.id} steps=${turn.steps} answered=${outcome === "answered"} />
      ${turn.state === "running" && html`<${Now} turn=${turn} skew=${skew} stopping=${stopping} />`}
      ${turn.silent && html`<${Silence} turn=${turn} skew=${skew} />`}
      ${turn.state === "running" && turn.budget && html`<${BudgetMeter} budget=${turn.budget} />`}
      ${turn.thoughts.length > 0 && html`<${Thoughts} thoughts=${turn.thoughts} />`}
      ${
        asked &&
        (last
          ? html`<${asked.lacks ? Lacking : Questions} turnId=${turn.id} ...${asked} />`
          : html`<${Answered} questions=${asked.questions} answers=${answers} />`)
      }
      ${
        text &&
        !asked &&
        outcome !== "declined" &&
        html`<${Answer}
          text=${text}
          streams=${turn.state === "running"}
          corrected=${turn.corrected}
          checked=${turn.checked}
          cutOff=${isCutOff(turn)}
          pictures=${picturesOf(turn, conversationId)}
        />`
      }
      ${
        turn.recomputed?.computed > 0 &&
        html`<${Recomputed}
          tool=${turn.recomputed.tool}
          label=${t("recomputed", turn.recomputed)}
        />`
      }
      ${
        turn.proposed &&
        html`<p>
          <button class="button" data-testid="turn-proposed" onClick=${() => show("library")}>
            <${Icon} name="book" />${t("proposal-look", { name: turn.proposed })}
          </button>
        </p>`
      }
      ${
        turn.undelivered &&
        html`<${Problem}
          tone="warn"
          testid="turn-undelivered"
          title=${t("turn-undelivered")}
          ...${turn.undelivered}
        />`
      }
      <${LongResults} turn=${turn} conversationId=${conversationId} />
      <${MadeFiles} files=${turn.made} conversationId=${conversationId} />
      ${
        failure &&
        html`<${Problem}
          testid="turn-failure"
          title=${causeOf(turn)}
          markdown=${true}
          ...${failure}
          reached=${failure.kind === "budget" && reachedOf(turn)}
          >${isBetterRephrased(turn) && html`<${Rephrase} turn=${turn} />`}${
            settingsHelp(failure) && html`<${SettingsButton} testid="failure-settings" />`
          }${
            failure.values?.needs &&
            html`<${ToolLink} name=${failure.values.name} testid="failure-grant" />`
          }<${Again} ...${{ turn, conversationId }} words=${t("try-again")}
        /><//>`
      }
      ${outcome === "declined" && html`<${Declined} turn=${turn} offline=${offline} />`}
      ${
        outcome === "stopped" &&
        html`<${Problem}
          testid="turn-stopped"
          tone="warn"
          title=${stepWords("turn_stopped")}
          message=${turn.stopReason}
          ><${Again} ...${{ turn, conversationId }} words=${t("turn-again")}
        /><//>`
      }
      <${Births} turnId=${turn.id} steps=${turn.steps} />
      ${builtBy && html`<${BuiltEarlier} turn=${turn} builtBy=${builtBy} />`}
      ${!kept && canBeKept(turn) && html`<${Keep} turnId=${turn.id} />`}
      ${
        turn.state !== "running" &&
        html`<${Summary} turn=${turn} conversationId=${conversationId} />`
      }
      ${
        last &&
        outcome === "answered" &&
        after?.length > 0 &&
        html`<div class="follow-ups">
          <h3 class="eyebrow">${t("turn-after")}</h3>
          <${FollowUps} after=${after} />
        </div>`
      }
    </li>`;
  },
);

const Again = ({ turn, conversationId, words }) =>
  html`<button class="button" data-testid="again" onClick=${() => askAgain(turn, conversationId)}>
    ${words}
  </button>`;

// Longer requests fold, so that the answer is near.
const LONG = { characters: 1200, lines: 16 };
const isLong = (text) => text.length > LONG.characters || text.split("\n").length > LONG.lines;

function Request({ turn, before }) {
  const [open, setOpen] = useState(false);
  const words = saidWith(turn, before);
  const long = isLong(words);
  const edit = () => dispatch({ type: "request_edited", turn });
  return html`<div class="request-line">
      ${
        isWritten(turn) &&
        html`<${Action} icon="pencil" label=${t("turn-edit")} testid="edit-request" act=${edit} />`
      }
      <h2 class="request" data-testid="request" data-folded=${long && !open}>${words}</h2>
    </div>
    ${
      long &&
      html`<${More}
        class="text-button request-more"
        data-testid="request-more"
        open=${open}
        label=${t("text-all", { count: words.length })}
        toggle=${() => setOpen(!open)}
      />`
    }`;
}

// The other versions of a request, each of which begins a branch.
function Versions({ number, count, older, newer }) {
  const choose = (turnId, to, side) => {
    dispatch({ type: "branch_chosen", turnId, number: to, count });
    requestAnimationFrame(() => {
      const buttons = document.querySelectorAll(`[data-turn="${turnId}"] .turn-versions button`);
      [buttons[side], buttons[1 - side]].find((button) => button?.disabled === false)?.focus();
    });
  };
  return html`<div
    class="turn-versions"
    role="group"
    aria-label=${t("versions")}
    data-testid="versions"
  >
    <${Action}
      icon="chevronLeft"
      label=${t("versions-older")}
      testid="older-version"
      disabled=${!older}
      act=${() => choose(older, number - 1, 0)}
    />
    <span>${t("activity-place", { number, count })}</span>
    <${Action}
      icon="chevronRight"
      label=${t("versions-newer")}
      testid="newer-version"
      disabled=${!newer}
      act=${() => choose(newer, number + 1, 1)}
    />
  </div>`;
}

const Action = ({ testid, act, ...more }) =>
  html`<${IconButton} class="turn-action" data-testid=${testid} onClick=${act} ...${more} />`;

// The request and its files, in the composer.
function Rephrase({ turn }) {
  const rephrase = () => dispatch({ type: "request_edited", turn });
  return html`<button class="button" data-testid="rephrase" onClick=${rephrase}>
    ${t("turn-rephrase")}
  </button>`;
}

// A request that can't be answered here: the reason, and the alternatives.
function Declined({ turn, offline }) {
  return html`<${Problem}
    testid="turn-declined"
    tone="calm"
    title=${t("turn-declined")}
    markdown=${true}
    message=${turn.answer}
  >
    ${turn.nearest.length > 0 && html`<span class="problem-near">${t("turn-nearest")}</span>`}
    ${turn.nearest.map((name) => html`<${ToolLink} key=${name} name=${name} />`)}
    <${Rephrase} turn=${turn} />
    ${offline && html`<${SettingsButton} testid="declined-settings" />`}
  <//>`;
}

function Now({ turn, skew, stopping }) {
  const step = runningStep(turn.steps);
  return html`<div class="now" data-testid="now">
    <${Spinner} />
    <button class="now-words" onClick=${() => showActivity(turn.id)}>
      ${
        stopping
          ? t("turn-stopping")
          : turn.again
            ? t("now-asked-again", { attempt: turn.again })
            : nowWords(step, store.value.health?.unready)
      }
    </button>
    <${Elapsed} since=${turn.startedAt} skew=${skew} />
    ${
      mayAsk.value &&
      html`<${IconButton}
        icon="bell"
        label=${t("turn-notify")}
        class="notify"
        data-testid="notify"
        onClick=${allowNotices}
      />`
    }
    <button class="button stop" data-testid="stop" onClick=${() => stop(turn.id)}>
      <${Icon} name="square" />${t("turn-stop")}
    </button>
  </div>`;
}

// How long the model has sent nothing, and what comes of it.
function Silence({ turn: { silent, again }, skew }) {
  const next = (again || 1) < silent.attempts ? "now-silent-again" : "now-silent-fails";
  const time = html`<${Elapsed} since=${silent.since} skew=${skew} />`;
  return html`<p class="run-note" data-testid="silent">
    ${rich(next, { time, limit: duration(silent.timeout) })}
  </p>`;
}

function Thoughts({ thoughts }) {
  return html`<details class="thoughts" data-testid="thoughts">
    <summary>${t("turn-thoughts")}</summary>
    ${thoughts.map(({ call, text }) => html`<p key=${call}>${text}</p>`)}
  </details>`;
}

function Summary({ turn, conversationId }) {
  const [disputed, setDisputed] = useState(false);
  return html`${
      disputed &&
      html`<${Wrong} ...${{ turn, conversationId }} close=${() => setDisputed(false)} />`
    }
    <div class="summary" data-testid="summary">
      ${turn.tool && html`<${ToolLink} name=${turn.tool} testid="summary-tool" />`}
      <span class="summary-facts">${duration(turn.seconds)}</span>
      <span class="summary-usage">${usageText(turn.usage)}</span>
      <span class="turn-actions" role="group" aria-label=${t("turn-actions")}>
        ${turn.answer && html`<${CopyButton} text=${turn.answer} label=${t("turn-answer")} />`}
        ${
          turn.outcome === "answered" &&
          !turn.corrected &&
          html`<${Action}
            icon="wrong"
            label=${t("wrong")}
            testid="wrong"
            act=${() => setDisputed(!disputed)}
          />`
        }
        ${
          !turn.keeps &&
          !turn.disputes &&
          !["failed", "stopped"].includes(turn.outcome) &&
          html`<${Action}
            icon="again"
            label=${t("turn-again")}
            testid="ask-again"
            act=${() => askAgain(turn, conversationId)}
          />`
        }
        <${Action}
          icon="fork"
          label=${t("turn-fork")}
          testid="fork"
          act=${() => fork(conversationId, turn.id)}
        />
      </span>
      <button
        class="text-button"
        data-testid="show-activity"
        onClick=${() => showActivity(turn.id)}
      >
        <span>${t("turn-activity")}</span><${Icon} name="chevronRight" />
      </button>
    </div>`;
}
