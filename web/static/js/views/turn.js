// A turn in the conversation: the request, its progress, the answer, and its cost.

import { causeOf, isBetterRephrased } from "../cause.js";
import { askAgain, stop } from "../connection.js";
import { runningStep } from "../delegation.js";
import { duration, nowWords, usageText } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { memo } from "../memo.js";
import { allowNotices, mayAsk } from "../notifying.js";
import { canBeKept } from "../plan.js";
import { dispatch } from "../store.js";
import { isWritten } from "../thread.js";
import { Answer } from "./answer.js";
import { Births, BuiltEarlier } from "./birth.js";
import { BudgetMeter } from "./budget.js";
import { CopyButton } from "./code.js";
import { Elapsed } from "./elapsed.js";
import { MadeFiles, RequestFiles } from "./files.js";
import { Keep } from "./keep.js";
import { Plan } from "./plan.js";
import { Problem } from "./problem.js";
import { Progress } from "./progress.js";
import { LongResults } from "./result.js";
import { Questions } from "./questions.js";
import { FollowUps } from "./requests.js";

const showActivity = (turnId) => dispatch({ type: "turn_selected", turnId });

export const TurnView = memo(
  ({ turn, skew, stopping, kept, last, after, builtBy, conversationId }) => {
    const { outcome, failure } = turn;
    const asks = last && outcome === "asked" && turn.questions;
    return html`<li class="turn" data-testid="turn" data-turn=${turn.id} data-state=${turn.state} data-outcome=${outcome}>
    ${turn.keeps && html`<p class="keeps" data-testid="keeps">Save these steps as a tool</p>`}
    ${turn.runs && html`<p class="keeps" data-testid="by-hand">Run by hand</p>`}
    <${Request} turn=${turn} />
    <${Answered} turn=${turn} />
    <${RequestFiles} files=${turn.files} conversationId=${conversationId} />
    <${Progress} steps=${turn.steps} answered=${turn.state === "done" || outcome === "declined"} />
    <${Plan} steps=${turn.steps} />
    ${turn.state === "running" && html`<${Now} turn=${turn} skew=${skew} stopping=${stopping} />`}
    ${turn.state === "running" && turn.budget && html`<${BudgetMeter} budget=${turn.budget} />`}
    ${turn.thoughts.length > 0 && html`<${Thoughts} thoughts=${turn.thoughts} />`}
    ${asks && html`<${Questions} turnId=${turn.id} ...${turn.questions} />`}
    ${
      turn.answer &&
      !asks &&
      outcome !== "declined" &&
      html`<${Answer} text=${turn.answer} streams=${turn.state === "running"} />`
    }
    <${LongResults} turn=${turn} conversationId=${conversationId} />
    <${MadeFiles} files=${turn.made} conversationId=${conversationId} />
    ${failure && html`<${Problem} testid="turn-failure" title=${causeOf(turn)} markdown=${failure.where === "specify"} ...${failure}>${isBetterRephrased(turn) && html`<${Rephrase} turn=${turn} />`}<${Again} turn=${turn} conversationId=${conversationId} words="Try again" /><//>`}
    ${outcome === "declined" && html`<${Declined} turn=${turn} />`}
    ${outcome === "stopped" && html`<${Problem} testid="turn-stopped" tone="warn" title="Stopped" message=${turn.stopReason}><${Again} turn=${turn} conversationId=${conversationId} words="Ask again" /><//>`}
    <${Births} steps=${turn.steps} />
    ${builtBy && html`<${BuiltEarlier} turn=${turn} builtBy=${builtBy} />`}
    ${!kept && canBeKept(turn) && html`<${Keep} turnId=${turn.id} />`}
    ${turn.state !== "running" && html`<${Summary} turn=${turn} conversationId=${conversationId} />`}
    ${last && outcome === "answered" && after?.length > 0 && html`<div class="follow-ups"><h3 class="eyebrow">You often ask next</h3><${FollowUps} after=${after} /></div>`}
  </li>`;
  },
);

// In journals of older versions the answers are the request.
function Answered({ turn: { request, answers } }) {
  const words = answers.map(({ question, value }) => `${question} ${value}`);
  if (words.length === 0 || words.join("\n") === request) return null;
  return html`<ul class="answered" data-testid="answered">
    ${words.map((line) => html`<li key=${line}>${line}</li>`)}
  </ul>`;
}

const Again = ({ turn, conversationId, words }) =>
  html`<button type="button" class="button" data-testid="again" onClick=${() => askAgain(turn, conversationId)}>${words}</button>`;

function Request({ turn }) {
  const edit = () => dispatch({ type: "request_edited", turn });
  return html`<div class="request-line">
    ${isWritten(turn) && html`<${Action} icon="pencil" label="Edit the request" testid="edit-request" act=${edit} />`}
    <p class="request" data-testid="request">${turn.request}</p>
  </div>`;
}

const Action = ({ icon, label, testid, act }) =>
  html`<button type="button" class="icon-button small turn-action" data-testid=${testid} aria-label=${label} title=${label} onClick=${act}><${Icon} name=${icon} /></button>`;

// The request and its files, in the composer.
function Rephrase({ turn }) {
  const rephrase = () => dispatch({ type: "request_edited", turn });
  return html`<button type="button" class="button" data-testid="rephrase" onClick=${rephrase}>Rephrase</button>`;
}

// What can't be known or done here: the reason, and what there is instead.
function Declined({ turn }) {
  return html`<${Problem} testid="turn-declined" tone="calm" title="I can’t do this yet" markdown=${true} message=${turn.answer}>
    ${turn.nearest.length > 0 && html`<span class="problem-near">Nearest tools:</span>`}
    ${turn.nearest.map((name) => html`<${ToolLink} key=${name} name=${name} />`)}
    <${Rephrase} turn=${turn} />
  <//>`;
}

function ToolLink({ name, testid }) {
  const open = () => dispatch({ type: "tool_opened", name });
  return html`<button type="button" class="tool-link" data-testid=${testid} onClick=${open}><${Icon} name="tool" />${name}</button>`;
}

function Now({ turn, skew, stopping }) {
  const step = runningStep(turn.steps);
  return html`<div class="now" data-testid="now">
    <span class="spinner" aria-hidden="true"></span>
    <button type="button" class="now-words" onClick=${() => showActivity(turn.id)}>${stopping ? "Stopping" : nowWords(step?.kind)}</button>
    <${Elapsed} since=${turn.startedAt} skew=${skew} />
    ${mayAsk.value && html`<button type="button" class="icon-button small notify" data-testid="notify" aria-label="Notify me when it ends" title="Notify me when it ends" onClick=${allowNotices}><${Icon} name="bell" /></button>`}
    <button type="button" class="button stop" data-testid="stop" onClick=${() => stop(turn.id)}><${Icon} name="square" />Stop</button>
  </div>`;
}

function Thoughts({ thoughts }) {
  return html`<details class="thoughts" data-testid="thoughts">
    <summary>Thinking</summary>
    ${thoughts.map(({ call, text }) => html`<p key=${call}>${text}</p>`)}
  </details>`;
}

function Summary({ turn, conversationId }) {
  const facts = [duration(turn.seconds), usageText(turn.usage)].filter(Boolean).join(" · ");
  return html`<div class="summary" data-testid="summary">
    ${turn.tool && html`<${ToolLink} name=${turn.tool} testid="summary-tool" />`}
    <span class="summary-facts">${facts}</span>
    <span class="turn-actions" role="group" aria-label="Actions">
      ${turn.answer && html`<${CopyButton} text=${turn.answer} label="answer" />`}
      ${!turn.keeps && !["failed", "stopped"].includes(turn.outcome) && html`<${Action} icon="again" label="Ask again" testid="ask-again" act=${() => askAgain(turn, conversationId)} />`}
    </span>
    <button type="button" class="text-button" data-testid="show-activity" onClick=${() => showActivity(turn.id)}>Activity<${Icon} name="chevronRight" /></button>
  </div>`;
}
