"""The queue of turns, in the database: how many run at once, who waits, and who is next. Every
process that shares the database takes turns out of it, as far as it has room.

All methods block: call them in a thread.
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.errors import LimitReached
from selfeng.core.process import this_process
from selfeng.core.words import count
from selfeng.store import schema
from selfeng.store.database import fetch_value, reading, storable, writing
from selfeng.store.news import announce

MOST_LEASES = 9
"""The most leases of a turn: five processes may die running it, with one lease at the start and two
for each take-over.
"""
Key = tuple[str, ...]
"""Of a person, or of a conversation of a person."""

_CONVERSATIONS, _TURNS = schema.conversations, schema.turns
_RUNNING = _TURNS.c.state == "running"
_WAITING = _RUNNING & _TURNS.c.admitted.is_(None)
_ANY_WAITS = sa.select(_TURNS.c.id).where(_WAITING).limit(1)
_LOCK = 0x5E1F_A6E9
"""Of PostgreSQL, arbitrary: one process at a time takes turns out of the queue."""
_REMEMBERED = 1_000
"""Admissions that count for how long somebody waits."""


@dataclass(frozen=True)
class QueueLimits:
    """How many turns run at once and how many wait, in all; one person and one conversation have
    less, so that they don't keep others out.
    """

    running: int
    running_of_person: int
    waiting: int

    def of_person(self) -> "QueueLimits":
        running = min(self.running, self.running_of_person)
        return QueueLimits(running, running, _share(self.waiting))

    def of_conversation(self) -> "QueueLimits":
        person_limits = self.of_person()
        return QueueLimits(
            _share(person_limits.running),
            _share(person_limits.running),
            _share(person_limits.waiting),
        )


class ClaimedTurn(NamedTuple):
    """A turn that a process took out of the queue."""

    owner: str
    conversation_id: str
    turn_id: str
    lease: int
    given: str | None
    """The request as JSON, as `Journal.begin_turn` got it."""

    @property
    def resumed(self) -> bool:
        """Whether another process had begun it."""
        return self.lease > 1


class TurnQueue:
    """The next turn to run is of the person with the fewest running turns, among equals of the one
    who waits longest: since their last turn began, or their oldest request came if that was later.
    Of their conversations it is chosen in the same way. So no one's many requests keep another's
    first one waiting, and no one's next request one that came earlier.
    """

    def __init__(
        self, engine: sa.Engine, limits: Callable[[], QueueLimits], server: str | None = None
    ) -> None:
        """`limits` may change; those that it gives at the moment count. `server` takes the turns:
        this process, unless another is named.
        """
        self._engine, self._limits = engine, limits
        self._server = server or this_process()

    @property
    def shared(self) -> bool:
        """Whether other processes may take turns that this one leaves."""
        return self._engine.dialect.name == "postgresql"

    def check(self, owner: str, conversation_id: str | None) -> None:
        """Call before a turn of the person is begun; None for a new conversation.

        Raises: LimitReached: the queue, or the part of it that one may take, is full.
        """
        limits = self._limits()
        with reading(self._engine) as connection:
            rows = connection.execute(_turns().where(_WAITING))
            waiting = [(row.owner, row.conversation_id) for row in rows]
        owner_turns = [turn for turn in waiting if turn[0] == owner]
        here = [turn for turn in owner_turns if turn[1] == conversation_id]
        for turns, most, whose in (
            (waiting, limits.waiting, ""),
            (owner_turns, limits.of_person().waiting, " of yours"),
            (here, limits.of_conversation().waiting, " of this conversation"),
        ):
            if len(turns) >= most:
                raise LimitReached(
                    f"the queue is full, with {count(len(turns), 'request')}{whose} waiting",
                    "wait until one of them runs, or stop one",
                    count=len(turns),
                )

    def claim(
        self,
        room: int,
        *,
        others: bool = False,
        changed: bool = False,
        present: Collection[str] = (),
    ) -> list[ClaimedTurn]:
        """Take the turns that are next, in their order: at most `room` of those that any process
        can run, and those that only this one can. `others`: also such as other processes took into
        the queue. `changed`: the other processes do not know what changed in the queue. `present`
        are the turns that this process has.
        """
        with reading(self._engine) as connection:
            if not _anything_waits(connection):
                return []
        with writing(self._engine, exclusive=False) as connection:
            _lock(connection)
            line = self._line(connection)
            next_turns = list[QueuedTurn]()
            for turn in iter(line.next, None):
                claimable = turn.server == self._server
                if turn.goes_on:
                    claimable = (claimable or others) and room > 0 and turn.id not in present
                    room -= claimable
                if claimable:
                    next_turns.append(turn)
            numbered = enumerate(next_turns, line.last + 1)
            claimed_turns = {  # the journal locks them in this order, too
                turn.id: self._take(connection, turn, number)
                for number, turn in sorted(numbered, key=lambda pair: pair[1].id)
            }
            if (claimed_turns or changed) and _anything_waits(connection):
                announce(connection, "queue")
        return [claimed_turns[turn.id] for turn in next_turns]

    def places(self) -> dict[str, int]:
        """The turns that this process took into the queue and that wait there, and their places,
        from 1, as they are if the oldest turn always ends first.
        """
        with reading(self._engine) as connection:
            line, place_by_turn = self._line(connection), dict[str, int]()
        waiting, place = line.waiting, 0
        while place < waiting:
            if (turn := line.next()) is None:
                line.end_oldest()
                continue
            place += 1
            if turn.server == self._server:
                place_by_turn[turn.id] = place
        return place_by_turn

    def length(self) -> int:
        """How many turns wait, of all processes."""
        waiting = sa.select(sa.func.count()).select_from(_TURNS).where(_WAITING)
        return fetch_value(self._engine, waiting) or 0

    def withdraw(self, turn_id: str, owner: str) -> ClaimedTurn | None:
        """Take a turn of `owner` out of the queue, to end it; None if it does not wait there."""
        condition = _WAITING & (_TURNS.c.id == storable(turn_id))
        with writing(self._engine, exclusive=False) as connection:
            _lock(connection)
            turn = connection.execute(
                _turns().where(condition, _CONVERSATIONS.c.owner == owner)
            ).first()
            if turn is None:
                return None
            announce(connection, "queue")
            return self._take(connection, QueuedTurn._make(turn), 0)

    def give_back(self, turn: ClaimedTurn) -> None:
        """Have a process take a turn that could not begin here."""
        condition = _RUNNING & (_TURNS.c.id == turn.turn_id) & (_TURNS.c.lease == turn.lease)
        free = {"admitted": None, "lease": _TURNS.c.lease + 1}
        with writing(self._engine, exclusive=False) as connection:
            connection.execute(_TURNS.update().where(condition).values(**free))
            announce(connection, "queue")

    def fence(self) -> None:
        """Before this process hands its turns over: from now on the journal takes no event of them
        from it, if others can resume them.
        """
        with writing(self._engine, exclusive=False) as connection:
            connection.execute(self._handed_over().values(lease=_TURNS.c.lease + 1))

    def hand_over(self) -> None:
        """Have other processes take the turns of this one, which runs them no longer."""
        with writing(self._engine, exclusive=False) as connection:
            connection.execute(self._handed_over().values(server=None, admitted=None))
            announce(connection, "queue")

    def _handed_over(self) -> sa.Update:
        """The change of the turns of this process that others can resume."""
        chats = sa.select(_CONVERSATIONS.c.id).where(_CONVERSATIONS.c.kind != "project")
        condition = (
            _RUNNING
            & _TURNS.c.conversation_id.in_(chats)
            & (_TURNS.c.server == self._server)
            & _TURNS.c.admitted.is_not(None)
            & _TURNS.c.given.is_not(None)
        )
        ids = sa.select(_TURNS.c.id).where(condition).correlate(None)
        locked = ids.order_by(_TURNS.c.id).with_for_update()  # the journal locks in this order, too
        return _TURNS.update().where(_TURNS.c.id.in_(locked))

    def _take(self, connection: sa.Connection, turn: "QueuedTurn", admitted: int) -> ClaimedTurn:
        row = connection.execute(
            _TURNS.update()
            .where(_TURNS.c.id == turn.id)
            .values(server=self._server, lease=_TURNS.c.lease + 1, admitted=admitted)
            .returning(_TURNS.c.lease, _TURNS.c.given)
        ).one()
        return ClaimedTurn(turn.owner, turn.conversation_id, turn.id, row.lease, row.given)

    def _line(self, connection: sa.Connection) -> "FairLine":
        turns = [QueuedTurn._make(row) for row in connection.execute(_turns().where(_RUNNING))]
        waiting = [turn for turn in turns if turn.admitted is None]
        last = connection.scalar(sa.select(sa.func.max(_TURNS.c.admitted))) or 0
        since: dict[Key, int] = {}
        for turn in waiting:
            for key in turn.keys:
                since.setdefault(key, turn.queued)
        recent = (  # not of the owners in `since`: SQLite would look at all their conversations
            sa.select(
                _CONVERSATIONS.c.owner, _TURNS.c.conversation_id, sa.func.max(_TURNS.c.admitted)
            )
            .join(_CONVERSATIONS, _CONVERSATIONS.c.id == _TURNS.c.conversation_id)
            .where(_TURNS.c.admitted > max(last - _REMEMBERED, min(since.values(), default=last)))
            .group_by(_CONVERSATIONS.c.owner, _TURNS.c.conversation_id)
        )
        for owner, conversation, number in connection.execute(recent):
            for key in since.keys() & {(owner,), (owner, conversation)}:
                since[key] = max(since[key], number)
        return FairLine(
            self._limits(), waiting, [t for t in turns if t not in waiting], since, last
        )


class QueuedTurn(NamedTuple):
    id: str
    owner: str
    conversation_id: str
    server: str | None
    queued: int
    admitted: int | None
    goes_on: bool
    """Whether any process can run it."""

    @property
    def keys(self) -> tuple[Key, Key]:
        """The person, and the conversation of the person."""
        return (self.owner,), (self.owner, self.conversation_id)


class FairLine:
    """A copy of the queue, which lets one turn after the other begin."""

    def __init__(
        self,
        limits: QueueLimits,
        waiting: Collection[QueuedTurn],
        running: Iterable[QueuedTurn],
        since: Mapping[Key, int],
        last: int,
    ) -> None:
        """`waiting` in the order in which they came. `since` has the number of the admission after
        which everybody waits; `last` is the newest of all.
        """
        self.waiting, self.last = len(waiting), last
        self._most = limits.running
        self._most_of = (limits.of_person().running, limits.of_conversation().running)
        self._running = deque(sorted(running, key=lambda turn: turn.admitted or 0))
        self._counts = Counter(key for turn in self._running for key in turn.keys)
        self._since, self._number = dict(since), last
        self._waiting: dict[Key, dict[Key, deque[QueuedTurn]]] = {}
        for turn in waiting:
            person, conversation = turn.keys
            self._waiting.setdefault(person, {}).setdefault(conversation, deque()).append(turn)

    def next(self) -> QueuedTurn | None:
        """Let the next one run; None if none may."""
        if len(self._running) >= self._most:
            return None
        for person in self._ranked(self._waiting, self._most_of[0]):
            of_person = self._waiting[person]
            for conversation in self._ranked(of_person, self._most_of[1]):
                turn = of_person[conversation].popleft()
                if not of_person[conversation]:
                    del of_person[conversation]
                self._running.append(turn)
                self._counts.update(turn.keys)
                self._number += 1
                self._since.update(dict.fromkeys(turn.keys, self._number))
                return turn
        return None

    def end_oldest(self) -> None:
        self._counts.subtract(self._running.popleft().keys)

    def _ranked(self, keys: Iterable[Key], most: int) -> list[Key]:
        """Those that may run more, the next first."""
        free = [key for key in keys if self._counts[key] < most]
        return sorted(free, key=lambda key: (self._counts[key], self._since[key]))


@cache
def _turns() -> sa.Select[tuple[str, str, str, str | None, int, int | None, bool]]:
    """The columns of a `QueuedTurn`, in the order in which the turns came."""
    columns = (
        _TURNS.c.id,
        _CONVERSATIONS.c.owner,
        _TURNS.c.conversation_id,
        _TURNS.c.server,
        _TURNS.c.queued,
        _TURNS.c.admitted,
        _TURNS.c.given.is_not(None)
        & (_TURNS.c.lease < MOST_LEASES)
        & (_CONVERSATIONS.c.kind != "project"),  # whose folder is on its machine
    )
    condition = _CONVERSATIONS.c.id == _TURNS.c.conversation_id
    ordered = sa.select(*columns).join_from(_TURNS, _CONVERSATIONS, condition)
    return ordered.order_by(_TURNS.c.queued, _TURNS.c.started_at, _TURNS.c.id)


def _anything_waits(connection: sa.Connection) -> bool:
    return connection.scalar(_ANY_WAITS) is not None


def _lock(connection: sa.Connection) -> None:
    """Until the end of the transaction; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


def _share(most: int) -> int:
    """One person's share of this many."""
    return max(1, most * 2 // 3)
