"""Pool: containers that are started before a job needs one. It lives on one event loop; blocking
calls run in threads.

Requests are served in order. The number of ready containers follows the recent peak of demand,
within bounds. A container that one owner has used serves only that owner, because a job may leave
traces that can't be removed; it is kept for a while, as a new one takes a hundred times as long as
a job.
"""

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from selfeng.core.background import BackgroundTasks
from selfeng.core.daemon_threads import DaemonThreads
from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.sandboxes.backend import LIFETIME, Container, HungUp
from selfeng.sandboxes.job_protocol import recovered

_QUIET = 1.0
"""Seconds for which jobs have the machine to themselves before containers are removed and replaced;
most jobs take less. Also those between two removals that nobody waits for.
"""

GRACE = 10.0
"""Seconds that jobs get to end when their pool is closed, and again after they are told to end."""
_REMOVAL = 45.0
"""Seconds to wait for a container's removal; a call to an engine that hangs takes 30."""
_MOMENT = 0.8
"""Seconds that a cancelled task waits for the removal of its container."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PoolSize:
    """Bounds for the number of containers."""

    least: int = 1
    """Ready after a long time without demand."""
    ready: int = 4
    """Ready at most."""
    most: int = 8
    """Working at most."""
    kept: int = 0
    """Used ones that may stay ready for their owners while `most` work."""
    idle: float = 60.0
    """Seconds without use after which a container may be removed."""
    reserve: int = 0
    """Unused ones that are started one by one while no job runs, for people who come at once and
    have none.
    """
    patience: float = 0.0
    """Seconds without a container coming back before another is started, or taken from the reserve,
    for waiting requests.
    """

    @property
    def total(self) -> int:
        """At most in all, working or ready."""
        return self.most + self.kept


@dataclass(frozen=True)
class _Waiting:
    """A request that waits for a container."""

    since: float
    owner: str
    future: asyncio.Future[Container]


class Pool:
    """Containers of one mode. `take` one, then `give_back` or `discard` it."""

    def __init__(
        self,
        make: Callable[[], Container],
        size: PoolSize,
        reusable: bool,
        removal: float = _REMOVAL,
        neighbours: "list[Pool] | None" = None,
    ) -> None:
        """`reusable`: whether a container may take another job after `give_back`; `removal`:
        seconds to wait for a container's removal; `neighbours`: the pools whose jobs need the same
        processors, which this one joins.
        """
        self._make = make
        self._size = size
        self._reusable = reusable
        self._removal = removal
        self._ready: deque[Container] = deque()
        self._owners: dict[Container, str] = {}
        """The owner of each container that has been used."""
        self._came: dict[Container, float] = {}
        """When each container was last ready for a job."""
        self._waiting: deque[_Waiting] = deque()
        self._coming = 0
        """Containers that are being made and started."""
        self._starting: set[Container] = set()
        self._working: set[Container] = set()
        self._spent: list[tuple[Container, str]] = []
        """The working containers whose job is over, each with the job's nonce."""
        self._leaving: set[Container] = set()
        self._background = BackgroundTasks()
        self._target = 0
        self._reserve = 0
        """How many of the reserve should be there by now: fewer while others are handed over."""
        self._works = True
        """Whether the last container could be started; else no reserve is."""
        self._peak = 0
        self._moved = 0.0
        self._last_handout = 0.0
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}
        self._starts = DaemonThreads(os.cpu_count() or 2, "sandbox-start")
        self._ends = DaemonThreads(size.most, "sandbox-end")
        self._edition = ""
        self._outdated = 0.0
        """Containers made before this moment take no more jobs."""
        self._idle = asyncio.Event()
        """Set whenever a container arrives or leaves, or a request stops waiting."""
        self._closed = False
        self._neighbours = [] if neighbours is None else neighbours
        self._neighbours.append(self)

    @property
    def ready(self) -> int:
        """Containers that wait for a job."""
        return len(self._ready)

    @property
    def working(self) -> int:
        """Jobs that have a container, or wait for one."""
        return len(self._working) + len(self._waiting)

    def start(self) -> None:
        """Start containers ahead of the first request, in the background."""
        self._target = max(self._target, self._size.least)
        self.fill()

    def fill(self) -> None:
        """Start missing containers, in the background; none before `start` or the first
        request.
        """
        if self._closed:
            return
        self._serve()
        if not self._calm():
            self._later(_QUIET, self.fill)
        else:
            while self._spent:
                container, nonce = self._spent.pop()
                self._spawn(
                    self._recover(container, nonce) if self._reusable else self._remove(container)
                )
        for _ in range(min(self._room(), self._lacking())):
            self._coming += 1
            self._spawn(self._start())
        if self._waiting and self._ready and self._full() and self._lacking() > 0:
            self._make_room()
        if self._waiting and not self._coming:
            self._later(self._size.patience, self.fill)
        if self._works and self._target and self._reserve < self._size.reserve:
            self._later(_QUIET, self._extend)

    def _extend(self) -> None:
        """Start one container of the reserve, if no job has begun for a moment: between two jobs of
        a crowd, or of a build, it would take the processors from the next ones.
        """
        if self._works and self._reserve < self._size.reserve:
            self._reserve += not self._waiting and all(
                time.monotonic() - pool._last_handout >= _QUIET for pool in self._neighbours
            )
            self.fill()

    def outdate(self) -> None:
        """Give no more jobs to the existing containers. From any thread; `renew` replaces them."""
        self._outdated = time.monotonic()

    def renew(self) -> None:
        """Replace, in the background, the ready containers that take no more jobs."""
        for container in [c for c in self._ready if not self._usable(c)]:
            self._ready.remove(container)
            self._spawn(self._remove(container))

    async def full(self) -> None:
        """Wait until enough containers are ready, with the whole reserve, and none is being cleaned
        up or removed.
        """
        self._reserve = self._size.reserve
        self.start()
        await self._background.aflush_tasks()

    async def take(self, owner: str = "") -> Container:
        """A ready container that no owner but this one has used; waits in the queue for it.

        Raises:
            SandboxUnavailable: no engine answers, or the image is gone.
            SandboxFailed: the engine or the worker broke.
        """
        if self._closed:
            raise _closed()
        self._note_demand()
        waiting: asyncio.Future[Container] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(time.monotonic(), owner, waiting))
        self.fill()
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._working.discard(waiting.result())
                self._arrived(waiting.result())
            else:
                self._waiting = deque(
                    entry for entry in self._waiting if entry.future is not waiting
                )
                self._idle.set()
            raise

    def give_back(self, container: Container, nonce: str) -> None:
        """The job with this nonce ended in order: clean up after it, or replace the container, when
        that takes no time from other jobs.
        """
        self._spent.append((container, nonce))
        for pool in self._neighbours:
            pool.fill()

    def drop(self, container: Container) -> asyncio.Task[None]:
        """End the container; the task is done when it is gone."""
        container.hang_up()
        return self._spawn(self._remove(container))

    async def discard(self, container: Container) -> None:
        """End the container and wait until it is gone; a task that is cancelled waits only a moment
        for that, as the engine may hang, and a person who stops a turn waits for the task.
        """
        removal, task, now = (
            self.drop(container),
            asyncio.current_task(),
            asyncio.get_running_loop().time,
        )
        until = now() + _MOMENT if task and task.cancelling() else None
        cancelled = False
        while not removal.done() and (until is None or now() < until):
            try:
                await asyncio.wait([removal], timeout=until and until - now())
            except asyncio.CancelledError:  # once more does not hurry it
                cancelled, until = True, until or now() + _MOMENT
        if cancelled:
            raise asyncio.CancelledError

    async def aclose(self, grace: float = GRACE) -> None:
        """Wait up to `grace` seconds for running jobs and end the others, then remove every
        container and end the threads.

        Requests that still wait for a container fail. This always returns, whatever a job or an
        engine does.
        """
        await self._jobs_end(grace)
        self._closed = True
        while self._waiting:
            waiting = self._waiting.popleft().future
            if not waiting.done():
                waiting.set_exception(_closed())
        for timer in self._timers.values():
            timer.cancel()
        for container in (*self._starting, *self._ready, *self._working):
            container.hang_up()
        await self._jobs_end(grace)
        # Let the loop read the end of each stream first: a closed socket gives no event.
        for _ in range(3):
            await asyncio.sleep(0)
        for container in {*self._ready, *self._working} - self._leaving:
            self._spawn(self._remove(container))
        self._ready.clear()
        try:
            async with asyncio.timeout(self._removal):
                await self._background.aflush_tasks()
        except TimeoutError:
            self._background.cancel()
            await self._background.aflush_tasks()
        results = await asyncio.gather(
            *(
                asyncio.to_thread(threads.close, self._removal)
                for threads in (self._starts, self._ends)
            )
        )
        if not all(results):
            log.warning(
                "the sandbox was closed, but a call to start or remove a container is still blocked"
            )

    async def _jobs_end(self, seconds: float) -> None:
        """Wait until no container works and no request waits, at most for so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._working or self._waiting:
                    self._idle = asyncio.Event()
                    await self._idle.wait()

    def _lacking(self) -> int:
        if self._waiting and self._reusable:
            impatient = (
                time.monotonic() - max(self._waiting[0].since, self._moved) >= self._size.patience
            )
            return max(len(self._stranded()), impatient) - self._coming
        if not self._calm():
            return 0
        if not self._reusable:
            return (len(self._waiting) or self._target) - len(self._ready) - self._coming
        used = len(self._owners.keys() & {*self._ready, *self._working})
        target = max(min(self._target, self._size.least), self._reserve)
        return target - (len(self._ready) + len(self._working) - used) - self._coming

    def _room(self) -> int:
        """How many containers may be started."""
        busy = len(self._working) + self._coming
        return min(self._size.most - busy, self._size.total - busy - len(self._ready))

    def _stranded(self) -> set[str]:
        """The owners that wait and have no container, neither ready nor one that could come
        back.
        """
        theirs = {*self._ready, *self._working} - self._leaving
        served = {self._owners.get(container) for container in theirs}
        return {waiting.owner for waiting in self._waiting if not waiting.future.done()} - served

    def _full(self) -> bool:
        """Whether a container must go before one can be started, and none is starting or
        leaving.
        """
        there = len(self._ready) + len(self._working)
        return there >= self._size.total and not self._coming and not self._leaving

    def _make_room(self) -> None:
        """Remove the ready container that was not used for the longest time, one whose owner does
        not wait if there is one.
        """
        wait = {waiting.owner for waiting in self._waiting}
        container = min(self._ready, key=lambda c: self._owners.get(c) in wait)
        self._ready.remove(container)
        self._working.add(container)
        self._leaving.add(container)
        self._spawn(self._remove(container))

    def _serve(self) -> None:
        """Give the ready containers to the requests that may have them, the longest-waiting
        first.
        """
        for waiting in tuple(self._waiting):
            if waiting.future.done():
                self._waiting.remove(waiting)
            elif len(self._working) >= self._size.most:
                return
            elif container := self._ready_for(waiting):
                self._waiting.remove(waiting)
                self._working.add(container)
                if container not in self._owners:
                    self._reserve = max(0, self._reserve - 1)
                self._owners[container] = waiting.owner
                self._last_handout = time.monotonic()
                waiting.future.set_result(container)
            elif self._ready and self._full() and waiting.owner in self._stranded():
                self._make_room()

    def _ready_for(self, waiting: _Waiting) -> Container | None:
        """Takes a ready container that no other owner has used: the owner's own first, the last
        used of them, so that those that nobody needs any more are not used again. Whose containers
        come back within the patience gets none of the reserve.
        """
        theirs = {c: self._came[c] for c, owner in self._owners.items() if owner == waiting.owner}
        patient = time.monotonic() - max([waiting.since, *theirs.values()]) < self._size.patience
        may_take = not (theirs and patient and self._size.reserve)
        for container in sorted(self._ready, key=lambda c: (c not in theirs, -self._came[c])):
            if container not in theirs and (container in self._owners or not may_take):
                continue
            self._ready.remove(container)
            if self._usable(container):
                return container
            self._spawn(self._remove(container))
        return None

    def _calm(self) -> bool:
        """Whether containers may be started and removed: a request waits, or in each pool none does
        and no job runs, or the last one started at least `_QUIET` seconds ago.
        """
        return bool(self._waiting) or all(pool._quiet() for pool in self._neighbours)

    def _quiet(self) -> bool:
        return not self._waiting and (
            len(self._working) == len(self._spent)
            or time.monotonic() - self._last_handout >= _QUIET
        )

    def _note_demand(self) -> None:
        self._peak = max(self._peak, len(self._working) + len(self._waiting) + 1)
        self._target = max(self._target, self._size.least, min(self._peak, self._size.ready))
        self._later(self._size.idle, self._shrink)

    def _shrink(self) -> None:
        """Want one container fewer, down to what recent demand needed; again later while any are
        left.
        """
        self._target = max(self._size.least, min(self._peak, self._target - 1, self._size.ready))
        self._peak = len(self._working) + len(self._waiting)
        self.renew()
        self._let_go()
        if self._ready or self._working:
            self._later(self._size.idle, self._shrink)

    def _let_go(self) -> None:
        """Remove a container that recent demand did not need, and the next one a moment later: many
        at once would take the processors from everything else.
        """
        keep = max(self._reserve, self._target - (len(self._working) if self._reusable else 0))
        used_first = sorted(self._ready, key=lambda c: c not in self._owners)
        since = time.monotonic() - self._size.idle
        unneeded = [
            container
            for container in used_first[: max(0, len(self._ready) - keep)]
            if not (self._size.kept and container in self._owners and self._came[container] > since)
        ]
        for container in unneeded[:1]:
            self._ready.remove(container)
            self._spawn(self._remove(container))
        if len(unneeded) > 1:
            self._later(_QUIET, self._let_go)

    def _usable(self, container: Container) -> bool:
        current = container.born >= self._outdated and container.edition == self._edition
        return current and container.stream.alive and time.monotonic() - container.born < LIFETIME

    def _arrived(self, container: Container) -> None:
        """It is ready for a job."""
        self._moved = self._came[container] = time.monotonic()
        self._idle.set()
        if self._closed:
            self._spawn(self._remove(container))
        else:
            self._ready.append(container)
            self.fill()

    def _failed(self, error: SandboxError, began: float) -> None:
        """Tell waiting requests that a start failed: one of them if the cause may be its own, all
        if there is no sandbox.

        Requests that came after the start began keep waiting, since the problem may be over.
        """
        is_reported = False
        while (
            self._waiting
            and self._waiting[0].since <= began
            and not (is_reported and not isinstance(error, SandboxUnavailable))
        ):
            waiting = self._waiting.popleft().future
            if not waiting.done():
                waiting.set_exception(error)
                is_reported = True
        if not is_reported:
            log.warning("could not pre-start a sandbox container: %s", error)

    async def _start(self) -> None:
        began = time.monotonic()
        try:
            container = await self._started()
        except HungUp:
            return
        except Exception as error:
            if not isinstance(error, SandboxError):
                log.exception("could not start a sandbox container")
                error = SandboxFailed(
                    f"a container can't be started: {type(error).__name__}: {error}"
                )
            self._works, self._reserve = False, 0
            self._failed(error, began)
            self._idle.set()
            if self._waiting:
                self.fill()
            return
        self._edition, self._works = container.edition, True
        if self._closed or container.born < self._outdated:
            await self._remove(container)
        else:
            self._arrived(container)

    async def _started(self) -> Container:
        """A new container, made and started in threads: either may take time.

        Raises:
            HungUp: the pool was closed.
        """
        try:
            container = await self._starts.run(self._make)
            self._starting.add(container)
            if self._closed:
                container.hang_up()
            try:
                await self._starts.run(container.start)
            finally:
                self._starting.discard(container)
            return container
        finally:
            self._coming -= 1

    async def _recover(self, container: Container, nonce: str) -> None:
        if not await recovered(container, nonce) or not self._usable(container) or self._closed:
            await self._remove(container)
            return
        self._working.discard(container)
        self._arrived(container)
        for pool in self._neighbours:
            pool.fill()

    async def _remove(self, container: Container) -> None:
        """Remove it; only then may another take its place, so the number stays within bounds."""
        self._leaving.add(container)
        try:
            async with asyncio.timeout(self._removal):
                await self._ends.run(container.discard)
        except TimeoutError:
            log.warning(
                "gave up waiting for the removal of a sandbox container after %g seconds",
                self._removal,
            )
        finally:
            self._leaving.discard(container)
            self._working.discard(container)
            self._owners.pop(container, None)
            self._came.pop(container, None)
            self._idle.set()
        self.fill()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._background.start(work)

    def _later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call the function once, at most `seconds` after the earliest request for it."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(function)
        if timer is not None and not timer.cancelled() and timer.when() > loop.time():
            if timer.when() <= loop.time() + seconds:
                return
            timer.cancel()
        self._timers[function] = loop.call_later(seconds, function)


def _closed() -> SandboxUnavailable:
    return SandboxUnavailable("the sandbox was closed")
