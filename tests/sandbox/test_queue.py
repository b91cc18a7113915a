"""The queue before a pool, with containers that start when the test lets them: who is served, and
who hears of which trouble.
"""

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from sandbox_worker.frames import pack
from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.sandboxes.backend import Container
from selfeng.sandboxes.container_stream import JudgeStream
from selfeng.sandboxes.pool import Pool, PoolSize


class ByHand:
    """A container without anything inside."""

    def __init__(self) -> None:
        self.edition = "only"
        self.born = time.monotonic()
        self.started = threading.Event()
        """Set it to let `start` go on."""
        self.removable = threading.Event()
        """Clear it to hold `discard` up."""
        self.removable.set()
        self.problem: Exception | None = None
        """The exception that `start` raises."""
        near, self.far = socket.socketpair()
        near.setblocking(False)
        self.stream = JudgeStream(near)
        self.removed = threading.Event()

    @property
    def gone(self) -> bool:
        return self.removed.is_set()

    def start(self) -> None:
        self.started.wait()
        if self.problem:
            self.discard()
            raise self.problem

    def hang_up(self) -> None:
        self.stream.hang_up()

    def say_ready(self, nonce: str) -> None:
        self.far.sendall(pack({"nonce": nonce, "kind": "ready"}))

    def discard(self) -> None:
        self.removable.wait()
        self.stream.close()
        self.far.close()
        self.removed.set()

    def how_it_ended(self) -> str:
        raise AssertionError("nobody asks")

    def check(self) -> None:
        raise AssertionError("nobody asks")


class Yard:
    """A pool and what it has made so far."""

    def __init__(self) -> None:
        self.made: list[ByHand] = []
        self.over = False
        self.changed = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.pool = Pool(self.make, PoolSize(least=0, ready=0, most=1), reusable=False)

    def make(self) -> Container:
        container = ByHand()
        self.made.append(container)  # another thread may be here, too
        if self.over:
            container.started.set()
        self.loop.call_soon_threadsafe(self.changed.set)
        return container

    async def another(self, number: int) -> ByHand:
        """The container of that number, as soon as the pool wants it."""
        while len(self.made) <= number:
            self.changed.clear()
            await self.changed.wait()
        return self.made[number]


@pytest.fixture
async def yard() -> AsyncIterator[Yard]:
    yard = Yard()
    yield yard
    yard.over = True
    for container in yard.made:
        container.started.set()
    await yard.pool.aclose(grace=0)  # a test that has failed may hold containers
    for container in yard.made:
        assert await asyncio.to_thread(container.removed.wait, 10)


async def asked(yard: Yard) -> asyncio.Task[Container]:
    task = asyncio.create_task(yard.pool.take())
    await asyncio.sleep(0)
    return task


async def test_who_asks_first_is_served_first(yard: Yard) -> None:
    asking = [await asked(yard) for _ in range(5)]
    for number, task in enumerate(asking):
        (await yard.another(number)).started.set()
        container = await task
        assert container is yard.made[number]
        assert not any(later.done() for later in asking[number + 1 :])
        await yard.pool.drop(container)


async def test_who_asks_after_a_start_began_does_not_hear_that_it_failed(yard: Yard) -> None:
    """The engine may be back by then."""
    first = await asked(yard)
    failing = await yard.another(0)
    second = await asked(yard)
    failing.problem = SandboxUnavailable("the engine has gone")
    failing.started.set()
    with pytest.raises(SandboxUnavailable, match="the engine has gone"):
        await first
    (await yard.another(1)).started.set()
    await yard.pool.drop(await second)


@pytest.mark.parametrize(
    ("problem", "told"), [(SandboxUnavailable("gone"), [0, 1, 2]), (SandboxFailed("broken"), [0])]
)
async def test_one_failure_is_told_to_one_and_no_engine_to_all(
    yard: Yard, problem: SandboxError, told: list[int]
) -> None:
    busy = await asked(yard)
    (await yard.another(0)).started.set()
    working = await busy
    asking = [await asked(yard) for _ in range(3)]
    await yard.pool.drop(working)
    failing = await yard.another(1)
    failing.problem = problem
    failing.started.set()
    with pytest.raises(type(problem)):
        await asking[0]
    assert [number for number, task in enumerate(asking) if task.done()] == told
    for number, task in enumerate(asking[len(told) :], 2):
        (await yard.another(number)).started.set()
        await yard.pool.drop(await task)
    await asyncio.gather(*asking, return_exceptions=True)


async def test_what_was_there_before_a_build_takes_no_more_jobs(yard: Yard) -> None:
    """Neither what is ready nor what is being started; what is at work is removed afterwards, as
    always.
    """
    yard.pool = Pool(yard.make, PoolSize(least=2, ready=2, most=3), reusable=True)
    yard.pool.start()
    (await yard.another(0)).started.set()
    starting = await yard.another(1)
    ready = await yard.pool.take()
    yard.pool.outdate()
    yard.pool.renew()
    starting.started.set()
    yard.pool.give_back(ready, "")
    yard.made[0].say_ready("")
    asking = await asked(yard)
    (await yard.another(2)).started.set()
    assert await asking is yard.made[2]
    for container in yard.made[:2]:  # the first of them to go made room
        assert await asyncio.to_thread(container.removed.wait, 10)
    assert not yard.made[2].gone
    await yard.pool.drop(yard.made[2])


async def test_a_replacement_is_started_when_the_job_is_over(yard: Yard) -> None:
    """Or after a second: until then the job has the machine for itself."""
    yard.pool = Pool(yard.make, PoolSize(least=1, ready=1, most=2), reusable=False)
    yard.pool.start()
    (await yard.another(0)).started.set()
    await yard.pool.full()
    container = await yard.pool.take()
    await asyncio.sleep(0)
    assert len(yard.made) == 1
    yard.pool.give_back(container, "")
    (await yard.another(1)).started.set()
    await yard.pool.full()
    container = await yard.pool.take()
    (await yard.another(2)).started.set()
    assert not yard.made[1].gone
    await yard.pool.drop(container)


async def test_a_pool_that_nobody_asked_starts_nothing_when_another_has_done_a_job(
    yard: Yard,
) -> None:
    idle: list[Container] = []
    pools: list[Pool] = []
    yard.pool = Pool(
        yard.make, PoolSize(least=0, ready=0, most=1), reusable=False, neighbours=pools
    )
    other = Pool(
        lambda: idle.append(ByHand()) or idle[-1], PoolSize(), reusable=False, neighbours=pools
    )
    asking = await asked(yard)
    (await yard.another(0)).started.set()
    yard.pool.give_back(await asking, "")
    assert await asyncio.to_thread(yard.made[0].removed.wait, 10)
    await other.aclose()
    assert idle == []


async def test_a_defect_of_ours_leaves_nobody_waiting(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    asking = await asked(yard)
    container = await yard.another(0)
    container.problem = ZeroDivisionError("of ours")
    container.started.set()
    with pytest.raises(
        SandboxFailed, match="a container can't be started: ZeroDivisionError: of ours"
    ):
        await asking
    assert [record.exc_info is not None for record in caplog.records] == [True]


async def test_closing_ends_jobs_that_never_do(yard: Yard) -> None:
    asking = await asked(yard)
    (await yard.another(0)).started.set()
    await asking
    await yard.pool.aclose(grace=0)
    assert yard.made[0].gone


async def test_closing_ends_a_recovery_that_never_answers(yard: Yard) -> None:
    yard.pool = Pool(yard.make, PoolSize(least=0, ready=0, most=1), reusable=True)
    asking = await asked(yard)
    (await yard.another(0)).started.set()
    yard.pool.give_back(await asking, "")
    await yard.pool.aclose(grace=0)
    assert yard.made[0].gone


async def test_who_reads_from_a_container_when_its_pool_is_closed_reads_its_end(yard: Yard) -> None:
    asking = await asked(yard)
    (await yard.another(0)).started.set()
    container = await asking
    reading = asyncio.create_task(asyncio.get_running_loop().sock_recv(container.stream.socket, 1))
    await asyncio.sleep(0)
    await yard.pool.aclose(grace=0)
    assert reading.done()
    assert await reading == b""


async def test_who_waits_for_a_container_when_the_pool_is_closed_hears_of_it(yard: Yard) -> None:
    first = await asked(yard)
    (await yard.another(0)).started.set()
    await first
    second = await asked(yard)
    await yard.pool.aclose(grace=0)
    with pytest.raises(SandboxUnavailable, match="the sandbox was closed"):
        await second


async def test_a_job_that_ends_in_time_is_not_disturbed_by_closing(yard: Yard) -> None:
    first = await asked(yard)
    (await yard.another(0)).started.set()
    container = await first
    closing = asyncio.create_task(yard.pool.aclose(grace=60))
    second = await asked(yard)
    assert container.stream.alive
    yard.pool.drop(container)
    (await yard.another(1)).started.set()
    yard.pool.drop(await second)
    await closing


async def test_nobody_waits_for_a_removal_that_never_ends(
    yard: Yard, caplog: pytest.LogCaptureFixture
) -> None:
    yard.pool = Pool(yard.make, PoolSize(least=0, ready=0, most=1), reusable=False, removal=0.01)
    asking = await asked(yard)
    stuck = await yard.another(0)
    stuck.removable.clear()
    stuck.started.set()
    await yard.pool.discard(await asking)
    asking = await asked(yard)
    (await yard.another(1)).started.set()
    await yard.pool.discard(await asking)
    await yard.pool.aclose(grace=0)
    assert [record.message for record in caplog.records] == [
        *["gave up waiting for the removal of a sandbox container after 0.01 seconds"]
        * 2,  # the other waits for the thread
        "the sandbox was closed, but a call to start or remove a container is still blocked",
    ]
    stuck.removable.set()
    yard.made[1].discard()


async def test_nobody_waits_for_a_start_that_never_ends(yard: Yard) -> None:
    yard.pool = Pool(yard.make, PoolSize(least=0, ready=0, most=1), reusable=False, removal=0.01)
    asking = await asked(yard)
    stuck = await yard.another(0)
    await yard.pool.aclose(grace=0)
    with pytest.raises(SandboxUnavailable, match="the sandbox was closed"):
        await asking
    stuck.started.set()
    stuck.discard()


class Shared(Yard):
    """Containers that are used again, by one owner each."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.over = True
        self.pool = Pool(
            self.make, PoolSize(least=0, ready=2, most=most, patience=60), reusable=True
        )

    async def use(self, owner: str) -> ByHand:
        """A whole job; the container that it was done in."""
        container = await self.pool.take(owner)
        assert isinstance(container, ByHand)
        await self.done(container)
        return container

    async def done(self, container: ByHand) -> None:
        self.pool.give_back(container, "n")
        container.say_ready("n")
        await self.pool.full()


@pytest.fixture
async def shared_yard() -> AsyncIterator[Callable[[int], Shared]]:
    made: list[Shared] = []

    def make(most: int) -> Shared:
        made.append(Shared(most))
        return made[-1]

    yield make
    for yard in made:
        await yard.pool.aclose(grace=0)


@pytest.mark.parametrize("most", [1, 2, 3])
async def test_a_container_serves_one_owner_however_many_there_may_be(
    shared_yard: Callable[[int], Shared], most: int
) -> None:
    yard = shared_yard(most)
    users: dict[ByHand, set[str]] = {}
    for owner in ("one", "other", "one", "", "other", "third", "one", ""):
        users.setdefault(await yard.use(owner), set()).add(owner)
        assert sum(not container.gone for container in yard.made) <= most
    assert all(len(owners) == 1 for owners in users.values())


async def test_an_owner_meets_the_same_container_again(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(2)
    first, other = await yard.use("one"), await yard.use("other")
    assert [await yard.use("one"), await yard.use("other")] == [first, other]


async def test_many_jobs_of_one_owner_do_not_keep_another_out(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(1)
    at_work = await yard.pool.take("busy")
    before, other, after = (
        asyncio.create_task(yard.pool.take(owner)) for owner in ("busy", "other", "busy")
    )
    await asyncio.sleep(0)
    assert isinstance(at_work, ByHand)
    yard.pool.give_back(at_work, "n")
    at_work.say_ready("n")
    assert await before is at_work
    yard.pool.give_back(at_work, "n")
    at_work.say_ready("n")
    second = await other
    assert second is not at_work
    assert at_work.gone
    assert not after.done()
    assert isinstance(second, ByHand)
    yard.pool.give_back(second, "n")
    second.say_ready("n")
    assert await after not in (at_work, second)


async def test_an_owner_whose_jobs_are_slow_gets_the_place_of_one_who_is_away(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(2)
    away = await yard.use("away")
    yard.pool._size = replace(yard.pool._size, patience=0.01)
    slow = await yard.pool.take("slow")
    second = await yard.pool.take("slow")
    assert away.gone
    assert second is not slow


async def test_a_fresh_one_stands_ready_beside_that_of_a_person(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(2)
    yard.pool._size = replace(yard.pool._size, least=1)
    first = await yard.use("one")
    [spare] = [container for container in yard.made if container is not first]
    assert await yard.use("other") is spare


async def test_who_gives_up_on_a_container_leaves_it_to_its_owner(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(1)
    at_work = await yard.pool.take("one")
    given_up, other = (asyncio.create_task(yard.pool.take(owner)) for owner in ("one", "other"))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    assert isinstance(at_work, ByHand)
    yard.pool.give_back(at_work, "n")
    at_work.say_ready("n")
    assert await other is not at_work


async def test_the_containers_of_many_owners_are_kept_while_few_work(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(1)
    yard.pool._size = replace(yard.pool._size, kept=2)
    first, second, third = [await yard.use(owner) for owner in ("one", "two", "three")]
    assert await yard.use("one") is first
    assert await yard.use("four") not in (first, second, third)
    assert [container.gone for container in (first, second, third)] == [False, True, False]


async def test_who_has_a_container_waits_while_as_many_work_as_may(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(1)
    yard.pool._size = replace(yard.pool._size, kept=2)
    theirs = await yard.use("one")
    other = await yard.pool.take("two")
    asking = asyncio.create_task(yard.pool.take("one"))
    await asyncio.sleep(0)
    assert not asking.done()
    assert isinstance(other, ByHand)
    yard.pool.give_back(other, "n")
    other.say_ready("n")
    assert await asking is theirs
    assert not other.gone


async def test_kept_containers_go_one_by_one_when_their_owners_stay_away(
    shared_yard: Callable[[int], Shared],
) -> None:
    yard = shared_yard(1)
    yard.pool._size = replace(yard.pool._size, kept=2, ready=0, idle=0.05)
    first, second = await yard.use("one"), await yard.use("two")
    assert await asyncio.to_thread(first.removed.wait, 10)
    assert not second.gone
    assert await asyncio.to_thread(second.removed.wait, 10)


@pytest.mark.parametrize("owner", ["", "one"])
async def test_one_that_nobody_has_used_stays_ready_after_a_use(
    shared_yard: Callable[[int], Shared], owner: str
) -> None:
    """Also after one of the program itself, which has no owner."""
    yard = shared_yard(2)
    yard.pool._size = replace(yard.pool._size, least=1)
    used = await yard.use(owner)
    (fresh,) = (container for container in yard.made if container is not used)
    assert await yard.use("two") is fresh
