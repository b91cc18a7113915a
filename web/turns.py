"""Turns begin here, seen from the engine's loop: no more than `MOST_AT_ONCE` of one owner."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from src.core.errors import RequestError
from src.core.events import FINAL, Record
from src.core.files import File
from src.core.question import Answer
from src.core.status import Asked
from web.port import Engine

MOST_AT_ONCE = 8


class LimitedTurns:
    """Used on the engine's loop only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._owners: dict[str, str] = {}  # turn id → owner
        self._beginning: Counter[str] = Counter()
        engine.subscribe(self._forget_ended)

    async def ask(
        self,
        owner: str,
        conversation_id: str | None,
        text: str,
        files: Sequence[File],
        answers: Sequence[Answer],
        *,
        began: Callable[[Asked], None],
    ) -> Asked:
        """Begin a turn; `began` is called before its first record comes out of the engine.

        Raises:
            RequestError: as the engine's `ask`, or too many turns of this owner are running.
        """
        return await self._begun(owner, lambda: self._engine.ask(owner, conversation_id, text, files, answers=answers), began)

    async def keep(self, owner: str, turn_id: str, began: Callable[[Asked], None]) -> Asked:
        """The same with a turn that keeps a plan."""
        return await self._begun(owner, lambda: self._engine.keep(owner, turn_id), began)

    async def work(self, owner: str, begin: Callable[[], Awaitable[Asked]], began: Callable[[Asked], None]) -> Asked:
        """The same with a turn of a project, which `begin` begins."""
        return await self._begun(owner, begin, began)

    async def _begun(self, owner: str, begin: Callable[[], Awaitable[Asked]], began: Callable[[Asked], None]) -> Asked:
        running = self._beginning[owner] + sum(o == owner for o in self._owners.values())
        if running >= MOST_AT_ONCE:
            raise RequestError(f"{running} requests are running already", "wait until one has ended, or stop one")
        self._beginning[owner] += 1
        try:
            asked = await begin()
        finally:
            self._beginning[owner] -= 1
        self._owners[asked.turn_id] = owner
        began(asked)
        return asked

    def _forget_ended(self, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record.event, FINAL):
                self._owners.pop(record.turn_id, None)
