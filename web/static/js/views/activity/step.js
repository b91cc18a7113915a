// One step of the activity: its state, name, outcome and time in one line, and below it all that it shows.

import { ACTIONS } from "../../build.js";
import { isBare } from "../../feed.js";
import { duration, stateWords } from "../../format.js";
import { outcomeOf, titleOf } from "../../outcome.js";
import { addressOfStep } from "../../route.js";
import { dispatch, html, Icon, memo, StateIcon, t } from "../../view.js";
import { Found } from "../parts/disclosure.js";
import { CodeRunStep, DelegationStep } from "./step-agents.js";
import { CodeStep, ImplementationStep } from "./step-code.js";
import { ConsensusStep, MutationStep } from "./step-consensus.js";
import { ExecutionStep } from "./step-execution.js";
import { PlanStep } from "./step-plan.js";
import { ActStep, CheckStep } from "./step-project.js";
import { SearchOutcome } from "./step-search.js";
import { SpecificationStep } from "./step-specification.js";
import { StubStep, VerificationStep } from "./step-tests.js";
import { FailureStep, LessonsStep, MismatchStep, ResumedStep, TextStep } from "./step-text.js";
import { Elapsed } from "../parts/elapsed.js";
import { WideButton } from "../frame/wide.js";
import { IconButton } from "../parts/controls.js";
import { Details } from "../parts/problem.js";

const BODIES = {
  tool_found: SearchOutcome,
  no_tool_found: SearchOutcome,
  lessons_shown: LessonsStep,
  specify: SpecificationStep,
  test: CodeStep,
  stub: StubStep,
  implement: ImplementationStep,
  compare: ConsensusStep,
  verify: VerificationStep,
  strengthen: MutationStep,
  plan: PlanStep,
  delegation: DelegationStep,
  code_run: CodeRunStep,
  execute: ExecutionStep,
  tool_mismatch: MismatchStep,
  project_check: CheckStep,
  restored: ActStep,
  ...Object.fromEntries(ACTIONS.map((action) => [action, ActStep])),
  turn_failed: FailureStep,
  turn_resumed: ResumedStep,
};

// Open is what runs, what failed, and what a person opened; of anything else the outcome stands in one line.
export const Step = memo(({ step, path, turnId, open, found, view, before, steps, skew }) => {
  const { kind, state, attempt } = step;
  const Body = BODIES[kind] ?? TextStep;
  const bare = isBare(step);
  const shows = open && !bare;
  const toggle = () => dispatch({ type: "step_toggled", turnId, path, open: !open });
  const title = html`${titleOf(step)}<span class="visually-hidden">: ${stateWords(state)}</span>`;
  return html`<li
    class="step"
    data-testid="step"
    data-step=${kind}
    data-path=${path}
    data-state=${state}
    data-attempt=${attempt}
    data-open=${shows}
    data-bare=${bare}
  >
    <div class="step-head">
      <span class="step-node"><${StateIcon} state=${state} /></span>
      <h3 class="step-title">
        ${
          bare
            ? html`<span class="step-name" tabindex="-1">${title}</span>`
            : html`<button class="step-name" aria-expanded=${open} onClick=${toggle}>
                <span class="step-fold"><${Icon} name="chevronRight" /></span>${title}
              </button>`
        }
      </h3>
      ${
        attempt > 1 &&
        kind !== "code_run" &&
        html`<span class="attempt">${t("step-attempt", { number: attempt })}</span>`
      }
      ${
        !shows &&
        html`<span class="step-outcome" data-testid="step-outcome"
          >${outcomeOf(step, steps ?? undefined)}</span
        >`
      }
      ${
        shows &&
        html`<span class="step-actions"
          ><${IconButton}
            icon="link"
            label=${t("step-link", { step: titleOf(step) })}
            title=${t("step-link-title")}
            href=${addressOfStep(turnId, path)} /><${WideButton}
        /></span>`
      }
      ${
        state === "running"
          ? html`<${Elapsed} since=${step.startedAt} skew=${skew} />`
          : html`<span class="time">${duration(step.seconds)}</span>`
      }
    </div>
    ${
      shows &&
      html`<${Found.Provider} value=${found}
        ><div class="step-body">
          <${Body} ...${{ step, path, view, before, steps, skew }} />
          ${step.details && html`<${Details} text=${step.details} />`}
        </div><//
      >`
    }
  </li>`;
});
