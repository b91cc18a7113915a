"""The plan runner: the steps of a plan as agents, each of which begins when those it needs have replied."""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from selfeng.agents import AgentReply
from selfeng.core.errors import AgentError, PlanFailed
from selfeng.core.events import Event, PlanMade, PlanStepChanged
from selfeng.core.files import File
from selfeng.core.plan import Plan, PlannedStep, StepResult, in_order
from selfeng.core.question import told
from selfeng.core.stage_event import StageEvent
from selfeng.core.turn import Turn
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened
from selfeng.runtime import InteractionContext, MessageSequencePromise, MiniAgent
from selfeng.stages.stages import Executed, PlanExecuted, RequestState, Stages
from selfeng.synthesis_engine import DirectAnswer

SHOWN = 500
"""Characters of a result that an event holds."""


@dataclass
class _Work:
    """A plan under way."""

    turn: Turn
    results: dict[str, StepResult] = field(default_factory=dict)
    files: dict[str, tuple[File, ...]] = field(default_factory=dict)
    """What each step has left."""


class PlanRunner:
    """Runs plans; steps that don't wait for each other run at once."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._agent = MiniAgent(self._step, alias="PLAN_STEP", description="Does one step of a plan.")

    async def take(self, state: RequestState) -> str:
        """The stage `plan` of a turn."""
        plan = state.building.result
        assert isinstance(plan, Plan), plan
        state.outcome = PlanExecuted(results=await self.run(state.turn, plan))
        return "done"

    async def run(self, turn: Turn, plan: Plan) -> tuple[StepResult, ...]:
        """The results of all steps, in the order of the plan. The first step that fails ends the others, and is told when they
        have ended.

        Raises:
            PlanFailed: a step failed; names it, why, and what was reached.
        """
        turn.emit(PlanMade(steps=plan.steps))
        work = _Work(turn)
        replies: dict[str, MessageSequencePromise] = {}
        for step in in_order(plan):
            replies[step.id] = self._agent.inquire([replies[need] for need in step.needs], step=step, work=work)
        try:
            await asyncio.gather(*(reply.aresolve_messages() for reply in replies.values()))
        finally:
            for reply in replies.values():
                reply.cancel()
            await asyncio.gather(*(reply.aresolve_messages() for reply in replies.values()), return_exceptions=True)
        return tuple(work.results[step.id] for step in plan.steps)

    async def _step(self, ctx: InteractionContext, step: PlannedStep, work: _Work) -> None:
        """The agent: what comes to it are the replies of the steps that it needs, and its own is the result as text."""
        await ctx.messages
        turn, started = work.turn, time.monotonic()
        turn.emit(PlanStepChanged(step=step.id, state="started"))
        try:
            result, files = await self.result_of(_turn_of(step, work))
        except AgentError as error:
            seconds = time.monotonic() - started
            turn.emit(PlanStepChanged(step=step.id, state="failed", text=error.message, seconds=seconds))
            raise PlanFailed(_told(step, error.message, work.results), error.remedy, where="plan") from error
        work.results[step.id], work.files[step.id] = result, files
        shown, seconds = shortened(result.text, SHOWN), time.monotonic() - started
        turn.emit(PlanStepChanged(step=step.id, state="finished", tool=result.tool, text=shown, seconds=seconds))
        ctx.reply(result.text)

    async def result_of(self, turn: Turn) -> tuple[StepResult, tuple[File, ...]]:
        """What a part of a turn gave, a step or what an agent asked for, and the files that it left.

        Raises:
            AgentError: no tool serves it, its tool failed, or something would have to be asked.
        """
        state = self._stages.begin(turn)
        await self._stages.follow(state)
        match state.end:
            case Executed(call=call, execution=execution):
                returned = _value(execution)
                result = StepResult(id=turn.plan_step, request=turn.request, tool=call.tool.name, text=returned.text, data=returned.data)
                return result, returned.files
            case DirectAnswer(text=text, questions=()):
                return StepResult(id=turn.plan_step, request=turn.request, tool=None, text=text, data=json.dumps(text)), ()
            case DirectAnswer(text=text, questions=questions):
                raise AgentError(told(questions, text), "ask again, with what is missing")
            case PlanExecuted() | AgentReply():
                raise AssertionError("the synthesis refuses plans and work for agents here")
            case _:
                assert_never(state.end)


def _turn_of(step: PlannedStep, work: _Work) -> Turn:
    """The step as a turn of its own, on the budget of the whole."""

    def emit(event: Event) -> object:
        assert isinstance(event, StageEvent), event
        return work.turn.emit(event.model_copy(update={"plan_step": step.id}))

    files = {file.name: file for source in (work.turn.files, *(work.files[need] for need in step.needs)) for file in source}
    results = tuple(work.results[need] for need in step.needs)
    alone = replace(work.turn, request=step.request, emit=emit, history=(), answers=(), asked=[])
    return replace(alone, files=tuple(files.values()), plan_step=step.id, results=results)


def _value(execution: Execution) -> Returned:
    match execution:
        case Returned():
            return execution
        case Raised():
            raise AgentError(f"the tool raised {execution.type_name}: {execution.message}", where="executing")
        case Killed():
            raise AgentError(f"the tool was ended: {execution.reason}", where="executing")
        case _:
            assert_never(execution)


def _told(step: PlannedStep, problem: str, reached: Mapping[str, StepResult]) -> str:
    done = "; ".join(f"{result.id}: {shortened(result.text, SHOWN)}" for result in reached.values())
    return f"the step {step.id} ({step.request}) failed: {problem}" + (f". What was reached: {done}" if done else "")
