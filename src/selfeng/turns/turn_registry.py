"""Running turns: those of this process, recorded by their events, and stopped by their owners."""

from collections.abc import Callable, Coroutine
from typing import Any

from selfeng.store.recorder import Recorder
from selfeng.turns.running_turn import RunningTurn


class TurnRegistry:
    """Used on the engine's loop only."""

    def __init__(
        self, recorder: Recorder, start: Callable[[Coroutine[Any, Any, None]], object]
    ) -> None:
        """`start` runs a coroutine in the background."""
        self._recorder, self._start = recorder, start
        self._turns: dict[
            str, tuple[str, str, RunningTurn]
        ] = {}  # turn id → owner, conversation id, turn
        self.learn: Callable[[str], object] | None = None
        """Called with the id of each turn that has ended and is in the journal."""

    def begin(self, owner: str, conversation_id: str, turn_id: str, turn: RunningTurn) -> None:
        """Record the turn until it ends."""
        self._turns[turn_id] = owner, conversation_id, turn
        self._start(self._record(conversation_id, turn_id, turn))

    def find(self, owner: str, turn_id: str) -> RunningTurn | None:
        """A running turn of `owner`; None if there is none with that id."""
        whose, _, turn = self._turns.get(turn_id, ("", "", None))
        return turn if whose == owner else None

    def of(self, conversation_id: str) -> str | None:
        """The id of the turn that runs in the conversation, if any."""
        return next(
            (
                turn_id
                for turn_id, (_, conversation, _) in self._turns.items()
                if conversation == conversation_id
            ),
            None,
        )

    def stop(self, owner: str, turn_id: str) -> bool:
        """Stop a running turn of `owner`; False if there is none with that id."""
        turn = self.find(owner, turn_id)
        if turn is not None:
            turn.stop("Stopped on request.")
        return turn is not None

    def stop_all(self, reason: str, conversation_id: str = "") -> None:
        """Stop every turn, or those of one conversation."""
        for _, conversation, turn in self._turns.values():
            if conversation_id in ("", conversation):
                turn.stop(reason)

    async def _record(self, conversation_id: str, turn_id: str, turn: RunningTurn) -> None:
        try:
            async for event in turn:
                self._recorder.emit(conversation_id, turn_id, event)
        finally:
            del self._turns[turn_id]
        if self.learn is not None:
            await self._recorder.flush()
            self.learn(turn_id)
