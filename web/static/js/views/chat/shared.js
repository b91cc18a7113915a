// A shared conversation, to be read only: requests, answers, results, what was built, and the steps folded.

import { birthsIn } from "../../births.js";
import { causeOf } from "../../cause.js";
import { duration, moment, stepWords } from "../../format.js";
import { picturesOf } from "../../files.js";
import { Mark } from "../../icons.js";
import { saidWith } from "../../questions.js";
import { parseSpecification, signatureText } from "../../specification.js";
import { addRecords, emptyThread, turnsOf } from "../../thread.js";
import { isCutOff } from "../../turn.js";
import { html, Icon, stepIcon, t } from "../../view.js";
import { Answer } from "./answer.js";
import { Birth } from "./birth.js";
import { CodeBlock } from "../values/code.js";
import { Disclosure } from "../parts/disclosure.js";
import { MadeFiles, RequestFiles } from "../values/files.js";
import { Problem } from "../parts/problem.js";
import { Answered } from "./questions.js";
import { LongResults } from "./result.js";
import { State } from "../parts/controls.js";

export function SharedConversation({ id, title, at, records, problem }) {
  const turns = records ? turnsOf(addRecords(emptyThread, records)) : [];
  return html`<div class="shared">
    <header class="shared-head">
      <p class="shared-brand"><${Mark} /><span>${t("share-brand")}</span></p>
      <h1 class="shared-title">${title ?? t("gone-title")}</h1>
      <p class="shared-facts">
        ${
          problem
            ? t("share-not-loaded", { reason: problem })
            : t("share-as-of", { time: moment(at) })
        }
      </p>
    </header>
    <main>
      ${records && turns.length === 0 && html`<p class="shared-facts">${t("share-empty")}</p>`}
      <ol class="turns" aria-label=${t("share-turns")}>
        ${turns.map(
          (turn, index) =>
            html`<${SharedTurn}
              key=${turn.id}
              ...${{ turn, id }}
              before=${turns[index - 1]}
              answers=${turns[index + 1]?.answers}
            />`,
        )}
      </ol>
    </main>
    <footer class="shared-foot">${t("share-foot")}</footer>
  </div>`;
}

function SharedTurn({ turn, before, answers, id }) {
  const { outcome, failure, answer } = turn;
  return html`<li class="turn" data-testid="shared-turn" data-outcome=${outcome}>
    <h2 class="visually-hidden">${t("share-request")}</h2>
    <div class="request-line">
      <p class="request" data-testid="request">${saidWith(turn, before)}</p>
    </div>
    <${RequestFiles} files=${turn.files} conversationId=${id} />
    ${
      outcome === "asked" &&
      html`<${Answered} questions=${turn.questions.questions} answers=${answers} />`
    }
    ${
      answer &&
      outcome !== "asked" &&
      html`<${Answer}
        text=${answer}
        streams=${false}
        corrected=${turn.corrected}
        cutOff=${isCutOff(turn)}
        pictures=${picturesOf(turn, id)}
      />`
    }
    <${LongResults} turn=${turn} conversationId=${id} />
    <${MadeFiles} files=${turn.made} conversationId=${id} />
    ${
      failure &&
      html`<${Problem}
        testid="turn-failure"
        title=${causeOf(turn)}
        markdown=${true}
        message=${failure.message}
      />`
    }
    ${
      outcome === "stopped" &&
      html`<${Problem}
        testid="turn-stopped"
        tone="warn"
        title=${stepWords("turn_stopped")}
        message=${turn.stopReason}
      />`
    }
    ${birthsIn(turn.steps).map((birth) => html`<${Birth} key=${birth.name} ...${birth} shared />`)}
    ${
      turn.steps.length > 0 &&
      html`<${Disclosure} label=${stepsLabel(turn)}><${Steps} steps=${turn.steps} /><//>`
    }
  </li>`;
}

const stepsLabel = ({ steps, seconds }) =>
  [t("share-steps", { count: steps.length }), duration(seconds)].filter(Boolean).join(" · ");

// Steps as lines; those of a plan's parts and of agents below them.
function Steps({ steps }) {
  return html`<ol class="shared-steps">
    ${steps.map((step) => html`<${Step} key=${step.key} step=${step} />`)}
  </ol>`;
}

function Step({ step }) {
  const { kind, state, seconds, tool, text, parts = [], steps: inner = [] } = step;
  const code = codeOf(step);
  return html`<li class="shared-step" data-testid="shared-step" data-kind=${kind}>
    <p class="shared-step-line">
      <${Icon} name=${stepIcon(kind)} /><span class="shared-step-name"
        >${[stepWords(kind), tool].filter(Boolean).join(": ")}</span
      >
      <${State} state=${state} /><span class="time">${duration(seconds)}</span>
    </p>
    ${text && html`<p class="shared-step-text">${text}</p>`}
    ${code && html`<${CodeBlock} code=${code} label=${stepWords(kind)} />`}
    ${parts.map(
      (part) =>
        html`<div key=${part.id}>
          <p class="shared-step-text">${part.request}</p>
          <${Steps} steps=${part.steps} />
        </div>`,
    )}
    ${inner.length > 0 && html`<${Steps} steps=${inner} />`}
  </li>`;
}

// The code that a step wrote or ran.
function codeOf({ kind, artifact = "", code = "", arguments: given = "" }) {
  if (kind === "specify") return signatureOf(artifact);
  if (["test", "implement", "repair", "mend", "refactor"].includes(kind)) return artifact;
  return code || given;
}

function signatureOf(artifact) {
  const specification = parseSpecification(artifact);
  return specification ? signatureText(specification) : "";
}
