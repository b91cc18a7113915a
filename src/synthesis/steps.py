"""The steps of a synthesis as a turn's events: started, streaming, then finished or failed with the time they took."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from src.core.errors import AgentError, stage
from src.core.events import SynthesisStep, SynthesisStepName
from src.core.turn import Turn


class Step:
    """One attempt at one step; what it sets on itself is what its last event says."""

    def __init__(self, turn: Turn, name: SynthesisStepName, attempt: int, prompt: str) -> None:
        self._turn, self._name, self._attempt, self._prompt = turn, name, attempt, prompt
        self._started = time.monotonic()
        self.summary = ""
        """One sentence for people."""
        self.artifact = ""
        """What the step made: JSON or Python source."""
        self.failed = False
        """The step came to its end with a bad result, which the synthesis goes on from."""

    async def streamed(self, pieces: AsyncIterator[str]) -> str:
        """Show the pieces as they come; the whole text."""
        text = ""
        async for piece in pieces:
            text += piece
            self._turn.emit(SynthesisStep(step=self._name, state="streaming", attempt=self._attempt, text=piece, prompt=self._prompt))
        return text

    def fail(self, summary: str) -> None:
        self.failed, self.summary = True, summary

    def emit_started(self) -> None:
        self._turn.emit(SynthesisStep(step=self._name, state="started", attempt=self._attempt, prompt=self._prompt))

    def emit_ended(self) -> None:
        self._turn.emit(
            SynthesisStep(
                step=self._name,
                state="failed" if self.failed else "finished",
                attempt=self._attempt,
                text=self.summary,
                artifact=self.artifact,
                prompt=self._prompt,
                seconds=time.monotonic() - self._started,
            )
        )


@contextmanager
def step(turn: Turn, name: SynthesisStepName, attempt: int = 1, prompt: str = "") -> Iterator[Step]:
    """Report a step; an error that leaves it makes it fail with the error's message."""
    current = Step(turn, name, attempt, prompt)
    current.emit_started()
    with stage(name):
        try:
            yield current
        except AgentError as error:
            current.fail(error.message)
            current.emit_ended()
            raise
    current.emit_ended()
