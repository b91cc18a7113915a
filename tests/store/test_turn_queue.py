"""The order of waiting turns, and the reports to each."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from selfeng.core.errors import LimitReached
from selfeng.core.events import TurnFinished, TurnStarted
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.turn_queue import ClaimedTurn, QueueLimits, TurnQueue


class Crowd:
    """People who ask in conversations, and the order in which their requests run, in one process
    or in several.
    """

    def __init__(
        self, database: sa.Engine, running: int, of_person: int = 1000, waiting: int = 1000
    ) -> None:
        self.limits = QueueLimits(running, of_person, waiting)
        self._database, self._journal = database, Journal(database)
        self._queues: dict[str, TurnQueue] = {}
        self._conversations: dict[tuple[str, str], str] = {}
        self._turns: dict[str, ClaimedTurn | None] = {}
        """By name: as it runs, None while it waits."""
        self._ids: dict[str, str] = {}

    def process(self, name: str) -> TurnQueue:
        return self._queues.setdefault(
            name, TurnQueue(self._database, lambda: self.limits, server=name)
        )

    def ask(self, *names: str, process: str = "here", given: str | None = "{}") -> None:
        """Requests by `PERSON CONVERSATION NUMBER`, each of which runs if it may."""
        for name in names:
            self.wait(name, process=process, given=given)
            self.claim(process)

    def wait(self, name: str, process: str = "here", given: str | None = "{}") -> None:
        owner, conversation, _ = name.split()
        started = TurnStarted(request=name)
        journal = Journal(self._database, server=process)
        self._turns[name] = None
        self._ids[name] = journal.begin_turn(
            self.conversation(owner, conversation), name, "", started, given, waits=True
        )

    def conversation(self, owner: str, name: str) -> str:
        if (owner, name) not in self._conversations:
            made = self._journal.create_conversation(owner, name)
            self._conversations[owner, name] = made
        return self._conversations[owner, name]

    def claim(self, process: str = "here", room: int = 1000, *, others: bool = False) -> list[str]:
        claimed = self.process(process).claim(room, others=others)
        names = {turn_id: name for name, turn_id in self._ids.items()}
        self._turns |= {names[turn.turn_id]: turn for turn in claimed}
        return [names[turn.turn_id] for turn in claimed]

    def end(self, name: str, process: str = "here") -> None:
        turn = self._turns.pop(name) or self.process(process).withdraw(
            self._ids[name], name.split(maxsplit=1)[0]
        )
        assert turn
        last = TurnFinished(answer="")
        self._journal.append(
            [
                JournalEntry(
                    turn.conversation_id, turn.turn_id, datetime.now(UTC), last, lease=turn.lease
                )
            ]
        )
        self.claim(process)

    def lease(self, name: str) -> int:
        turn = self._turns[name]
        return turn.lease if turn else 0

    def give_back(self, name: str) -> None:
        turn, self._turns[name] = self._turns[name], None
        assert turn
        self.process("here").give_back(turn)

    def check(self, owner: str, conversation: str | None) -> None:
        known = conversation and self.conversation(owner, conversation)
        self.process("here").check(owner, known)

    @property
    def running(self) -> list[str]:
        return [name for name, turn in self._turns.items() if turn]

    def places(self, process: str = "here") -> dict[str, int]:
        names = {turn_id: name for name, turn_id in self._ids.items()}
        return {names[i]: place for i, place in self.process(process).places().items()}

    def rest(self) -> list[str]:
        """Let one end after the other, the oldest first; what began then, in order."""
        order = list[str]()
        while running := self.running:
            self.end(running[0])
            order += [name for name in self.running if name not in running]
        return order


@pytest.fixture
def crowd(database: sa.Engine) -> Callable[..., Crowd]:
    return lambda *limits, **more: Crowd(database, *limits, **more)


def many(who: str, count: int) -> list[str]:
    return [f"{who} {n}" for n in range(count)]


def test_requests_run_up_to_the_limit_and_the_others_when_one_has_ended(
    crowd: Callable[..., Crowd],
) -> None:
    two = crowd(running=2, of_person=2)
    two.ask("a x 0", "a y 0", "a z 0")
    assert two.running == ["a x 0", "a y 0"]
    two.end("a y 0")
    assert two.running == ["a x 0", "a z 0"]


def test_people_take_turns_however_many_requests_each_has(crowd: Callable[..., Crowd]) -> None:
    one = crowd(running=1)
    one.ask(*many("a x", 4), *many("b x", 2), "c x 0")
    assert one.rest() == ["a x 1", "b x 0", "c x 0", "a x 2", "b x 1", "a x 3"]


def test_a_next_request_waits_for_those_that_came_before_it(crowd: Callable[..., Crowd]) -> None:
    one = crowd(running=1)
    one.ask("a x 0", "b x 0")
    one.end("a x 0")
    one.ask("c x 0", "a x 1")
    assert one.running + one.rest() == ["b x 0", "c x 0", "a x 1"]


def test_a_persons_conversations_take_turns(crowd: Callable[..., Crowd]) -> None:
    one = crowd(running=1)
    one.ask(*many("a x", 4), *many("a y", 2))
    assert one.rest() == ["a x 1", "a y 0", "a x 2", "a y 1", "a x 3"]


def test_who_has_nothing_running_comes_first(crowd: Callable[..., Crowd]) -> None:
    three = crowd(running=3)
    three.ask(*many("a x", 2), "a y 0", *many("a x", 20)[2:], "b x 0")
    three.end("a x 0")
    assert three.running == ["a x 1", "a y 0", "b x 0"]


@pytest.mark.parametrize("other", ["b x 0", "a y 0"], ids=["person", "conversation"])
def test_twenty_requests_leave_room_for_anothers_first_one(
    crowd: Callable[..., Crowd], other: str
) -> None:
    usual = crowd(running=24, of_person=16)
    usual.ask(*many("a x", 20))
    assert len(usual.running) == 10
    usual.ask(other)
    assert usual.running[-1] == other


def test_new_conversations_do_not_keep_an_old_one_waiting(crowd: Callable[..., Crowd]) -> None:
    one = crowd(running=1)
    one.ask("a x 0", "a x 1", *(f"a {n} 0" for n in range(2)))
    one.end("a x 0")
    one.ask("a 2 0", "a 3 0")
    assert one.running + one.rest() == ["a x 1", "a 0 0", "a 1 0", "a 2 0", "a 3 0"]


def test_one_person_has_a_limit_of_their_own(crowd: Callable[..., Crowd]) -> None:
    nine = crowd(running=9, of_person=3)
    nine.ask(*(f"a {n} 0" for n in range(9)), *(f"b {n} 0" for n in range(2)))
    assert nine.running == ["a 0 0", "a 1 0", "a 2 0", "b 0 0", "b 1 0"]


def test_each_has_a_place(crowd: Callable[..., Crowd]) -> None:
    one = crowd(running=1)
    one.ask("a x 0", "a x 1", "a x 2")
    assert one.places() == {"a x 1": 1, "a x 2": 2}
    one.ask("b x 0")
    assert one.places() == {"a x 1": 1, "b x 0": 2, "a x 2": 3}
    one.end("a x 2")
    one.end("a x 0")
    assert (one.running, one.places()) == (["a x 1"], {"b x 0": 1})


def test_a_higher_limit_lets_those_who_wait_run(crowd: Callable[..., Crowd]) -> None:
    more = crowd(running=1)
    more.ask("a x 0", "a y 0", "a z 0")
    more.limits = QueueLimits(3, 3, 9)
    more.claim()
    assert more.running == ["a x 0", "a y 0", "a z 0"]


def test_processes_share_one_queue_and_take_what_they_have_room_for(
    crowd: Callable[..., Crowd],
) -> None:
    shared = crowd(running=9)
    for name in ("a x 0", "b x 0", "c x 0", "d x 0"):
        shared.wait(name, process="web")
    assert shared.claim("web", room=0) == []
    assert shared.places("web") == {"a x 0": 1, "b x 0": 2, "c x 0": 3, "d x 0": 4}
    assert shared.claim("worker", room=2) == []  # it takes those of others only when asked to
    assert shared.claim("worker", room=2, others=True) == ["a x 0", "b x 0"]
    assert shared.places("web") == {"c x 0": 1, "d x 0": 2}
    assert shared.claim("web", room=1) == ["c x 0"]
    assert shared.claim("other", room=9, others=True) == ["d x 0"]


def test_the_limits_hold_for_all_processes_together(crowd: Callable[..., Crowd]) -> None:
    shared = crowd(running=3, of_person=2)
    for n in range(4):
        shared.wait(f"a {n} 0")
    assert shared.claim("first", others=True) == ["a 0 0", "a 1 0"]
    shared.wait("b x 0")
    shared.wait("c x 0")
    assert shared.claim("second", others=True) == ["b x 0"]
    assert shared.claim("third", others=True) == []


def test_what_only_its_own_process_can_run_waits_for_that_one(
    crowd: Callable[..., Crowd],
) -> None:
    shared = crowd(running=2)
    shared.wait("a x 0", process="web", given=None)
    shared.wait("b x 0", process="web")
    assert shared.claim("worker", others=True) == ["b x 0"]
    assert shared.claim("web", room=0) == ["a x 0"]


def test_a_turn_that_could_not_begin_is_taken_again_under_a_later_lease(
    crowd: Callable[..., Crowd],
) -> None:
    one = crowd(running=1)
    one.ask("a x 0")
    assert one.lease("a x 0") == 1
    one.give_back("a x 0")
    assert one.claim("other", others=True) == ["a x 0"]
    assert one.lease("a x 0") == 3


@pytest.mark.parametrize(
    ("waiting", "asks", "refused"),
    [
        (
            ["a x", "a y", "a y", "a z", "b x", "b x"],
            ("c", "x"),
            "the queue is full, with 6 requests waiting",
        ),
        (
            ["a x", "a y", "a y", "a z", "b x"],
            ("a", None),
            "the queue is full, with 4 requests of yours waiting",
        ),
        (
            ["a x", "a x", "b x"],
            ("a", "x"),
            "the queue is full, with 2 requests of this conversation waiting",
        ),
    ],
    ids=["all", "a person", "a conversation"],
)
def test_a_full_queue_refuses_and_leaves_room_for_others(
    crowd: Callable[..., Crowd],
    waiting: list[str],
    asks: tuple[str, str | None],
    refused: str,
) -> None:
    full = crowd(running=1, waiting=6)
    full.ask("z z 0")
    for n, who in enumerate(waiting):
        full.check(*who.split())  # type: ignore[call-arg]
        full.ask(f"{who} {n}")
    with pytest.raises(LimitReached) as caught:
        full.check(*asks)
    assert (caught.value.message, caught.value.remedy) == (
        refused,
        "wait until one of them runs, or stop one",
    )
    if len(waiting) < 6:
        full.check("c", None)
