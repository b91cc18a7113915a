"""A turn of a project: a build, or what a person does on it; told by events, of which the last one ends the turn."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, assert_never

from selfeng.core.errors import AgentError
from selfeng.core.events import BudgetSpent, Event, TurnFailed, TurnFinished, TurnStarted, TurnStopped
from selfeng.core.project_events import ProjectFailed, ProjectFinished, ProjectStopped
from selfeng.core.stage_event import Usage
from selfeng.projects.consent import Awaited
from selfeng.projects.loop import Final
from selfeng.turns.running_turn import Last, RunningTurn

BUILDING, ACTING = "building", "acting"
"""Where a turn of a project gives up: in a build, or in what a person does."""


class ProjectTurn(RunningTurn):
    """Begins when it is made, on the event loop, in the context of a runtime."""

    def __init__(
        self, request: str, where: str, work: Callable[[Callable[[Event], object]], Awaitable[Last]], consent: Awaited | None = None
    ) -> None:
        """`consent` is what a build asks, for whoever answers it."""
        super().__init__()
        self.consent = consent
        self._where = where
        self._spent: Mapping[str, Any] = {"usage": Usage(), "seconds": 0.0}
        self.emit(TurnStarted(request=request))
        self.begin(partial(work, self.emit))

    def emit(self, event: Event) -> None:
        if isinstance(event, BudgetSpent):
            self._spent = {"usage": event.usage, "seconds": event.seconds}
        super().emit(event)

    @property
    def spent(self) -> Mapping[str, Any]:
        return self._spent

    def failed(self, error: AgentError) -> TurnFailed:
        return TurnFailed(where=self._where, message=error.message, remedy=error.remedy, kind=error.kind, **self.spent)


def ended(last: Final) -> Last:
    """The end of a build as the end of its turn."""
    spent = {"usage": last.usage, "seconds": last.seconds}
    match last:
        case ProjectFinished():
            return TurnFinished(answer=last.summary, **spent)
        case ProjectFailed():
            return TurnFailed(where=BUILDING, **last.model_dump(include={"message", "remedy", "kind", "reached"}), **spent)
        case ProjectStopped():
            return TurnStopped(reason=last.reason, **spent)
        case _:
            assert_never(last)
