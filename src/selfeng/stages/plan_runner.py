"""The plan runner: each step of a plan begins when those it needs have ended."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

from selfeng.core.errors import AgentError, PlanFailed
from selfeng.core.events import Event, PlanStepChanged
from selfeng.core.files import File
from selfeng.core.plan import Plan, PlannedStep, StepResult, in_order
from selfeng.core.stage_event import StageEvent
from selfeng.core.turn import PlanPart, Turn
from selfeng.core.words import shortened
from selfeng.core.work import own_work

SHOWN = 500
"""Characters of a result in an event."""


class Served(Protocol):
    """The result of a step."""

    @property
    def result(self) -> StepResult: ...

    @property
    def files(self) -> tuple[File, ...]: ...


class PlanRunner:
    """Runs plans; steps that don't wait for each other run at once."""

    def __init__(self, serve: Callable[[Turn], Awaitable[Served]]) -> None:
        """`serve` does one step, which it gets as a turn."""
        self._serve = serve

    async def run(self, turn: Turn, plan: Plan) -> tuple[StepResult, ...]:
        """The results of all steps, in the order of the plan. The first step that fails ends the
        others; its error is raised after they have ended.

        Raises:
            PlanFailed: a step failed; names it, why, and what was reached.
        """
        steps: dict[str, asyncio.Task[Served]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                for step in in_order(plan):
                    steps[step.id] = group.create_task(self._step(turn, step, steps))
        except BaseExceptionGroup as errors:
            first = errors.exceptions[0]
            raise first from first.__cause__
        return tuple(steps[step.id].result().result for step in plan.steps)

    async def _step(
        self, turn: Turn, step: PlannedStep, steps: Mapping[str, asyncio.Task[Served]]
    ) -> Served:
        needed = [await steps[need] for need in step.needs]
        started = time.monotonic()
        turn.emit(PlanStepChanged(step=step.id, state="started"))
        try:
            with own_work(step.id):
                served = await self._serve(_part(turn, step, needed))
        except AgentError as error:
            seconds = time.monotonic() - started
            turn.emit(
                PlanStepChanged(step=step.id, state="failed", text=error.message, seconds=seconds)
            )
            raise PlanFailed(
                _step_failure(step, error.message, steps.values()), error.remedy, where="plan"
            ) from error
        result, seconds = served.result, time.monotonic() - started
        turn.emit(
            PlanStepChanged(
                step=step.id,
                state="finished",
                tool=result.tool,
                text=shortened(result.shown, SHOWN),
                seconds=seconds,
            )
        )
        return served


def _part(turn: Turn, step: PlannedStep, needed: Sequence[Served]) -> Turn:
    """The step as its own turn, on the budget of the whole."""

    def emit(event: Event) -> object:
        assert isinstance(event, StageEvent), event
        return turn.emit(event.model_copy(update={"plan_step": step.id}))

    files = {
        file.name: file
        for source in (turn.request.files, *(served.files for served in needed))
        for file in source
    }
    results = tuple(served.result for served in needed)
    request = turn.request.part(
        step.request, tuple(files.values()), PlanPart(id=step.id, results=results)
    )
    return turn.part(request, emit).beside_others()


def _step_failure(step: PlannedStep, problem: str, steps: Iterable[asyncio.Task[Served]]) -> str:
    """In the words of the steps: their ids are names that the model made up."""
    reached = [
        t.result().result for t in steps if t.done() and not t.cancelled() and t.exception() is None
    ]
    summary = "; ".join(
        f"“{result.request}”: {shortened(result.shown, SHOWN)}" for result in reached
    )
    return f"the step “{step.request}” failed: {problem}" + (
        f". What was reached: {summary}" if summary else ""
    )
