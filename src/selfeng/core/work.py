"""The work of a turn as steps, each of which is done once, even if the process dies."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class WorkStep(Protocol):
    """One use of a door to the world."""

    @property
    def earlier_outcome(self) -> Any:
        """The outcome of an earlier run of the step; None if it has to be done."""

    @property
    def key(self) -> str:
        """Names the step among those of all turns, so that its effect happens once."""

    async def record(self, outcome: Any) -> None:
        """Keep what the step came to, before anything follows from it. Raises: TakenOver."""


class Work(Protocol):
    """One linear thread of work: its steps come in the same order whenever it is repeated."""

    async def step(self, name: str) -> WorkStep:
        """The next step. `name` has the door and a digest of what it is given. Raises: Diverged:
        this step was another one before.
        """

    def part(self, name: str) -> "Work":
        """A thread of its own, for work that runs concurrently with other work."""

    @property
    def stopped(self) -> bool:
        """Whether the turn is stopped: the cancellation of its steps is not their outcome then,
        since a process that resumes it has to do them.
        """

    def stop(self) -> None:
        """The turn is stopped."""

    def keep(self) -> None:
        """The turn has failed for a reason outside itself: what it paid for serves one that tries
        it again.
        """


current_work: ContextVar[Work | None] = ContextVar("current_work", default=None)
"""The work that records the steps of this task; None: they are simply done."""


@contextmanager
def steps_of(work: Work | None) -> Iterator[None]:
    """Record the steps that begin inside as steps of that work."""
    token = current_work.set(work)
    try:
        yield
    finally:
        current_work.reset(token)


@contextmanager
def own_work(name: str) -> Iterator[None]:
    """Do what this task does inside as a thread of its own."""
    work = current_work.get()
    with steps_of(work and work.part(name)):
        yield
