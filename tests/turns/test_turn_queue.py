"""Who of those who wait is the next to run, and what each is told."""

import asyncio
from functools import partial

import pytest

from selfeng.core.errors import LimitReached
from selfeng.turns.turn_queue import QueueLimits, Ticket, TurnQueue


class Crowd:
    """People who ask in conversations, and the order in which their requests run."""

    def __init__(self, running: int, of_person: int = 1000, waiting: int = 1000) -> None:
        self.limits = QueueLimits(running, of_person, waiting)
        self.queue = TurnQueue(lambda: self.limits)
        self._tickets: dict[str, Ticket] = {}
        self.places: dict[str, list[int]] = {}
        self.told = asyncio.Event()
        self._ended: set[str] = set()

    def ask(self, *names: str) -> None:
        """Requests by `PERSON CONVERSATION NUMBER`."""
        for name in names:
            owner, conversation, _ = name.split()
            self.places[name] = []
            told = partial(self._tell, name)
            self._tickets[name] = self.queue.enter(owner, conversation, told)

    def _tell(self, name: str, place: int) -> None:
        self.places[name].append(place)
        self.told.set()

    def end(self, name: str) -> None:
        self._ended.add(name)
        self.queue.leave(self._tickets[name])

    @property
    def running(self) -> list[str]:
        return [n for n, t in self._tickets.items() if t.admitted.is_set() and n not in self._ended]

    def rest(self) -> list[str]:
        """Let one end after the other, the oldest first; what began then, in order."""
        order = list[str]()
        while running := self.running:
            self.end(running[0])
            order += [name for name in self.running if name not in running]
        return order


def many(who: str, count: int) -> list[str]:
    return [f"{who} {n}" for n in range(count)]


async def test_requests_run_up_to_the_limit_and_the_others_when_one_has_ended() -> None:
    crowd = Crowd(running=2, of_person=2)
    crowd.ask("a x 0", "a y 0", "a z 0")
    assert crowd.running == ["a x 0", "a y 0"]
    crowd.end("a y 0")
    assert crowd.running == ["a x 0", "a z 0"]


async def test_people_take_turns_however_many_requests_each_has() -> None:
    crowd = Crowd(running=1)
    crowd.ask(*many("a x", 4), *many("b x", 2), "c x 0")
    assert crowd.rest() == ["a x 1", "b x 0", "c x 0", "a x 2", "b x 1", "a x 3"]


async def test_a_persons_conversations_take_turns() -> None:
    crowd = Crowd(running=1)
    crowd.ask(*many("a x", 4), *many("a y", 2))
    assert crowd.rest() == ["a x 1", "a y 0", "a x 2", "a y 1", "a x 3"]


async def test_who_has_nothing_running_comes_first() -> None:
    crowd = Crowd(running=3)
    crowd.ask(*many("a x", 2), "a y 0", *many("a x", 20)[2:], "b x 0")
    crowd.end("a x 0")
    assert crowd.running == ["a x 1", "a y 0", "b x 0"]


@pytest.mark.parametrize("other", ["b x 0", "a y 0"], ids=["person", "conversation"])
async def test_twenty_requests_leave_room_for_anothers_first_one(other: str) -> None:
    crowd = Crowd(running=24, of_person=16)
    crowd.ask(*many("a x", 20))
    assert len(crowd.running) == 10
    crowd.ask(other)
    assert crowd.running[-1] == other


async def test_one_person_has_a_limit_of_their_own() -> None:
    crowd = Crowd(running=9, of_person=3)
    crowd.ask(*(f"a {n} 0" for n in range(9)), *(f"b {n} 0" for n in range(2)))
    assert crowd.running == ["a 0 0", "a 1 0", "a 2 0", "b 0 0", "b 1 0"]


async def test_each_is_told_its_place_whenever_it_changes() -> None:
    crowd = Crowd(running=1)
    crowd.ask("a x 0", "a x 1", "a x 2")
    await crowd.told.wait()
    crowd.told.clear()
    crowd.ask("b x 0")
    await crowd.told.wait()
    assert crowd.places == {"a x 0": [], "a x 1": [1], "a x 2": [2, 3], "b x 0": [2]}
    crowd.told.clear()
    crowd.end("a x 2")
    crowd.end("a x 0")
    await crowd.told.wait()
    assert crowd.places == {"a x 0": [], "a x 1": [1], "a x 2": [2, 3], "b x 0": [2, 1]}


async def test_a_higher_limit_lets_those_who_wait_run() -> None:
    crowd = Crowd(running=1)
    crowd.ask("a x 0", "a y 0", "a z 0")
    crowd.limits = QueueLimits(3, 3, 9)
    crowd.queue.reconsider()
    assert crowd.running == ["a x 0", "a y 0", "a z 0"]


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
async def test_a_full_queue_refuses_and_leaves_room_for_others(
    waiting: list[str], asks: tuple[str, str | None], refused: str
) -> None:
    crowd = Crowd(running=1, waiting=6)
    crowd.ask("z z 0")
    for n, who in enumerate(waiting):
        crowd.queue.check(*who.split())  # type: ignore[call-arg]
        crowd.ask(f"{who} {n}")
    with pytest.raises(LimitReached) as caught:
        crowd.queue.check(*asks)
    assert (caught.value.message, caught.value.remedy) == (
        refused,
        "wait until one of them runs, or stop one",
    )
    if len(waiting) < 6:
        crowd.queue.check("c", None)
