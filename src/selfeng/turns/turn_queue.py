"""The queue of turns: how many run at once, who waits, and who is next."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from selfeng.core.errors import LimitReached
from selfeng.core.words import count

Key = tuple[str, ...]
"""Of a person, or of a conversation of a person."""
_PAUSE = 0.3
"""Seconds in which the places of the queue are told at most once."""


@dataclass(frozen=True)
class QueueLimits:
    """How many turns run at once and how many wait, in all; one person and one conversation have
    less, so that they don't keep others out.
    """

    running: int
    running_of_person: int
    waiting: int

    def of_person(self) -> "QueueLimits":
        own = min(self.running, self.running_of_person)
        return QueueLimits(own, own, _share(self.waiting))

    def of_conversation(self) -> "QueueLimits":
        own = self.of_person()
        return QueueLimits(_share(own.running), _share(own.running), _share(own.waiting))


@dataclass(eq=False)
class Ticket:
    """A turn's place in the queue."""

    owner: str
    conversation_id: str
    told: Callable[[int], object]
    """Called with the place, from 1, whenever it changed."""
    admitted: asyncio.Event = field(default_factory=asyncio.Event)
    place: int = 0
    """The place that was told last."""

    @property
    def keys(self) -> tuple[Key, Key]:
        """The person, and the conversation of the person."""
        return (self.owner,), (self.owner, self.conversation_id)


class TurnQueue:
    """Lets turns run up to its limits, and keeps the others waiting in a fair order. Used on one
    event loop.

    The next to run is of the person with the fewest running turns, among equals of the one who was
    served longest ago; of their conversations it is chosen in the same way. So nobody's many
    requests keep another's first one waiting.
    """

    def __init__(self, limits: Callable[[], QueueLimits]) -> None:
        """`limits` may change; those that it gives at the moment count."""
        self._limits = limits
        self._running: list[Ticket] = []
        self._waiting: list[Ticket] = []
        self._served: dict[Key, int] = {}
        """When somebody's turn last began, or they came, as a number; of those who wait."""
        self._count = 0
        self._telling: asyncio.TimerHandle | None = None
        self._told_at = 0.0

    def check(self, owner: str, conversation_id: str | None) -> None:
        """Call before a turn of the person is begun; None for a new conversation.

        Raises: LimitReached: the queue, or the part of it that one may take, is full.
        """
        limits = self._limits()
        own = [ticket for ticket in self._waiting if ticket.owner == owner]
        here = [ticket for ticket in own if ticket.conversation_id == conversation_id]
        for waiting, most, whose in (
            (self._waiting, limits.waiting, ""),
            (own, limits.of_person().waiting, " of yours"),
            (here, limits.of_conversation().waiting, " of this conversation"),
        ):
            if len(waiting) >= most:
                raise LimitReached(
                    f"the queue is full, with {count(len(waiting), 'request')}{whose} waiting",
                    "wait until one of them runs, or stop one",
                )

    def enter(self, owner: str, conversation_id: str, told: Callable[[int], object]) -> Ticket:
        """Take a place; `leave` must be called in the end. If it is the turn's at once, the ticket
        is admitted and `told` not called.
        """
        ticket = Ticket(owner, conversation_id, told)
        for key in ticket.keys:
            self._served.setdefault(key, self._number())
        self._waiting.append(ticket)
        self._admit()
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """The turn has ended, or waits no longer."""
        for tickets in (self._running, self._waiting):
            if ticket in tickets:
                tickets.remove(ticket)
        self._admit()

    def reconsider(self) -> None:
        """The limits have changed."""
        self._admit()

    def _admit(self) -> None:
        line = _Line(self._limits(), self._waiting, self._running, self._served)
        for ticket in iter(line.next, None):
            self._waiting.remove(ticket)
            self._running.append(ticket)
            self._served.update(dict.fromkeys(ticket.keys, self._number()))
            ticket.admitted.set()
        present = _counts([*self._running, *self._waiting])
        self._served = {key: n for key, n in self._served.items() if key in present}
        if self._waiting and self._telling is None:
            loop = asyncio.get_running_loop()
            pause = self._told_at + _PAUSE - loop.time()
            self._telling = loop.call_later(max(0.0, pause), self._tell)

    def _tell(self) -> None:
        """Tell those who wait their places, as they are if the oldest turn always ends first."""
        self._telling, self._told_at = None, asyncio.get_running_loop().time()
        line, place = _Line(self._limits(), self._waiting, self._running, self._served), 0
        while place < len(self._waiting):
            ticket = line.next()
            if ticket is None:
                line.end_oldest()
                continue
            place += 1
            if place != ticket.place:
                ticket.place = place
                ticket.told(place)

    def _number(self) -> int:
        self._count += 1
        return self._count


class _Line:
    """A copy of the queue, which lets one turn after the other begin."""

    def __init__(
        self,
        limits: QueueLimits,
        waiting: Iterable[Ticket],
        running: Iterable[Ticket],
        served: Mapping[Key, int],
    ) -> None:
        self._most = limits.running
        self._most_of = (limits.of_person().running, limits.of_conversation().running)
        self._running = deque(running)
        self._counts, self._served = _counts(self._running), dict(served)
        self._last = max(served.values(), default=0)
        self._waiting: dict[Key, dict[Key, deque[Ticket]]] = {}
        for ticket in waiting:
            person, conversation = ticket.keys
            of_person = self._waiting.setdefault(person, {})
            of_person.setdefault(conversation, deque()).append(ticket)

    def next(self) -> Ticket | None:
        """Let the next one run; None if none may."""
        if len(self._running) >= self._most:
            return None
        for person in self._ranked(self._waiting, self._most_of[0]):
            of_person = self._waiting[person]
            for conversation in self._ranked(of_person, self._most_of[1]):
                ticket = of_person[conversation].popleft()
                if not of_person[conversation]:
                    del of_person[conversation]
                self._running.append(ticket)
                self._counts.update(ticket.keys)
                self._last += 1
                self._served.update(dict.fromkeys(ticket.keys, self._last))
                return ticket
        return None

    def end_oldest(self) -> None:
        self._counts.subtract(self._running.popleft().keys)

    def _ranked(self, keys: Iterable[Key], most: int) -> list[Key]:
        """Those that may run more, the next first."""
        free = [key for key in keys if self._counts[key] < most]
        return sorted(free, key=lambda key: (self._counts[key], self._served[key]))


def _counts(tickets: Iterable[Ticket]) -> Counter[Key]:
    return Counter(key for ticket in tickets for key in ticket.keys)


def _share(most: int) -> int:
    """What one may have of this many."""
    return max(1, most * 2 // 3)
