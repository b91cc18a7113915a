"""Limited turns: starts turns, up to a number per owner, per address, and in all.

An owner is a cookie, which a browser can drop; hence the other two limits.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selfeng.core.errors import LimitReached
from selfeng.core.events import FINAL, Record
from selfeng.core.status import Asked
from web.connections import may_be_a_proxy

if TYPE_CHECKING:
    from selfeng.engine import Engine

MOST_AT_ONCE = 8
_SHARE = 2 / 3


@dataclass(frozen=True)
class Asker:
    """Who starts a turn, and from where."""

    owner: str
    address: str


class LimitedTurns:
    """Used on the engine's loop only."""

    def __init__(self, engine: "Engine", most: int) -> None:
        """`most`: for all people together; one address may have two thirds of that, unless it may
        be a proxy's.
        """
        self._most, self._most_of_address = most, max(1, int(most * _SHARE))
        self._running: dict[str, Asker] = {}  # turn id → who began it
        self._beginning: list[Asker] = []
        engine.subscribe(self._forget_ended)

    async def begin(
        self, asker: Asker, begin: Callable[[], Awaitable[Asked]], began: Callable[[Asked], None]
    ) -> Asked:
        """Start a turn; `began` is called before the engine emits its first record.

        Raises:
            LimitReached: too many turns are running.
        """
        self._check(asker)
        self._beginning.append(asker)
        try:
            asked = await begin()
        finally:
            self._beginning.remove(asker)
        self._running[asked.turn_id] = asker
        began(asked)
        return asked

    def _check(self, asker: Asker) -> None:
        all_of_them = [*self._running.values(), *self._beginning]
        own = sum(one.owner == asker.owner for one in all_of_them)
        near = sum(one.address == asker.address for one in all_of_them)
        if own >= MOST_AT_ONCE:
            raise LimitReached(
                f"{own} requests are running already", "wait until one has ended, or stop one"
            )
        if near >= self._most_of_address and not may_be_a_proxy(asker.address):
            raise LimitReached(
                f"{near} requests from your address are running already",
                "wait until one has ended, or stop one",
            )
        if len(all_of_them) >= self._most:
            raise LimitReached(
                f"{len(all_of_them)} requests are running already, of all people together",
                "wait a little, then send it again",
            )

    def _forget_ended(self, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record.event, FINAL):
                self._running.pop(record.turn_id, None)
