"""Limited turns: starts turns, up to a number per address and in all."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from selfeng.core.errors import LimitReached
from selfeng.core.events import FINAL, Record
from selfeng.core.status import Asked
from web.connections import may_be_a_proxy

if TYPE_CHECKING:
    from selfeng.engine import Engine

_SHARE = 2 / 3


class LimitedTurns:
    """Used on the engine's loop only."""

    def __init__(self, engine: "Engine", most: int) -> None:
        """`most`: for all people together; one address may have two thirds of that, unless it may
        be a proxy's.
        """
        self._most, self._most_of_address = most, max(1, int(most * _SHARE))
        self._running: dict[str, str] = {}  # turn id → the address that began it
        self._beginning: list[str] = []
        engine.subscribe(self._forget_ended)

    async def begin(
        self, address: str, begin: Callable[[], Awaitable[Asked]], began: Callable[[Asked], None]
    ) -> Asked:
        """Start a turn; `began` is called before the engine emits its first record.

        Raises:
            LimitReached: too many turns are running.
        """
        self._check(address)
        self._beginning.append(address)
        try:
            asked = await begin()
        finally:
            self._beginning.remove(address)
        self._running[asked.turn_id] = address
        began(asked)
        return asked

    def _check(self, address: str) -> None:
        all_of_them = [*self._running.values(), *self._beginning]
        near = all_of_them.count(address)
        if near >= self._most_of_address and not may_be_a_proxy(address):
            raise LimitReached(
                f"{near} requests from your address are running already",
                "wait until one has ended, or stop one",
            )
        if len(all_of_them) >= self._most:
            raise LimitReached(
                f"{len(all_of_them)} requests are running already",
                "wait until one has ended, or stop one",
            )

    def _forget_ended(self, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record.event, FINAL):
                self._running.pop(record.turn_id, None)
