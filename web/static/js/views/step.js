// One step of the activity feed: its name, its state in colour and words, how long it took, and its result.

import { ACTIONS } from "../build.js";
import { duration, STATE_WORDS, stepWords } from "../format.js";
import { html } from "../html.js";
import { Icon, StateIcon, stepIcon } from "../icons.js";
import { memo } from "../memo.js";
import { CodeRunStep, DelegationStep } from "./step-agents.js";
import { CodeStep, ImplementationStep } from "./step-code.js";
import { ConsensusStep, MutationStep } from "./step-consensus.js";
import { ExecutionStep } from "./step-execution.js";
import { PlanStep } from "./step-plan.js";
import { ActStep, CheckStep } from "./step-project.js";
import { SearchOutcome } from "./step-search.js";
import { SpecificationStep } from "./step-specification.js";
import { StubStep, VerificationStep } from "./step-tests.js";
import { FailureStep, LessonsStep, MismatchStep, StoppedStep, TextStep } from "./step-text.js";
import { Elapsed } from "./elapsed.js";

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
  turn_stopped: StoppedStep,
};

export const Step = memo(({ step, before, steps, skew }) => {
  const { kind, state, attempt } = step;
  const Body = BODIES[kind] ?? TextStep;
  return html`<li class="step" data-testid="step" data-step=${kind} data-state=${state} data-attempt=${attempt}>
    <span class="step-node"><${Icon} name=${stepIcon(kind)} /></span>
    <div class="step-head">
      <h3 class="step-title">${stepWords(kind)}</h3>
      ${attempt > 1 && kind !== "code_run" && html`<span class="attempt">attempt ${attempt}</span>`}
      <span class="state" data-state=${state}><${StateIcon} state=${state} />${STATE_WORDS[state]}</span>
      ${state === "running" ? html`<${Elapsed} since=${step.startedAt} skew=${skew} />` : html`<span class="time">${duration(step.seconds)}</span>`}
    </div>
    <div class="step-body"><${Body} step=${step} before=${before} steps=${steps} skew=${skew} /></div>
  </li>`;
});
