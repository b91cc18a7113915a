"""SecureSandbox: verifies and runs generated code in isolated containers."""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from sandbox_worker.frames import BrokenStream, Message, pack
from sandbox_worker.job_clock import LONGEST
from selfeng.core.background import together
from selfeng.core.errors import RequestError, SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.files import File
from selfeng.core.http import Network
from selfeng.core.owner import current_owner
from selfeng.core.package_lock import PackageLock
from selfeng.core.settings import Settings, load_settings
from selfeng.core.verdict import (
    CallLimits,
    Execution,
    SandboxJob,
    SandboxStatus,
    TestResult,
    Verdict,
    Version,
)
from selfeng.sandboxes.backend import Container, Mode
from selfeng.sandboxes.job_protocol import packed_files, run_job
from selfeng.sandboxes.job_result import CallResult, JobResult, SuiteResult
from selfeng.sandboxes.job_sources import (
    SuiteProblem,
    check_modules,
    check_size,
    expected_tests,
    exported_names,
)
from selfeng.sandboxes.pool import GRACE, Pool, PoolSize
from selfeng.sandboxes.sandbox_options import SandboxOptions, chosen_backend

_LANES = 2
"""The most containers in which versions of a tool take turns, if they need none of their own."""
_LANE = 10
"""Versions that one such container serves; starting another costs more than running these."""
Result = TypeVar("Result", SuiteResult, CallResult)
Outcome = TypeVar("Outcome", Verdict, Execution)
_LOOK = 0.5
"""Seconds between looks whether an engine is back."""
_LAYERS = 4
"""Sandboxes with further packages or limits that are open at once."""
_LAYER_SIZE = PoolSize(least=0, ready=1, most=8, patience=0.1)
_LONG_CALLS = 2
"""Calls with limits beyond the usual ones that run at once."""
_SESSION = 1.0
"""Seconds for which the process of a call waits for the next call of its session."""
_TOO_LARGE = "The job is too large for the sandbox: {}."


class SecureSandbox:
    """The sandbox on one of its backends. The constructor connects to nothing; one object serves
    any number of concurrent jobs on one event loop.

    A suite that decides runs in its own container, which is started in advance and removed
    afterwards. Versions that are compared, and calls, run in processes of their own, in containers
    that have served only the same owner; see `selfeng.core.owner`.
    """

    def __init__(self, options: SandboxOptions | None = None, /, **changes: Any) -> None:
        """`options` default to those of the settings; `changes` override fields of
        `SandboxOptions`, and None leaves a field unchanged.

        Raises:
            ConfigurationError: the backend is unknown, or does not support runtimes.
        """
        options = replace(
            options or SandboxOptions.from_settings(load_settings()),
            **{name: value for name, value in changes.items() if value is not None},
        )
        self.id = secrets.token_hex(8)
        """A label on its containers, see `docker_engine.labels`."""
        self.timeout, self._patience = options.timeout, options.patience
        self._options = options
        self._layers: dict[str, SecureSandbox] = {}
        """Sandboxes with other options by these, the one used last at the end."""
        self._long_calls: list[object] = []
        """Calls with limits beyond the usual ones, in the order in which they came."""
        self._long_call_ended = asyncio.Event()
        self._installing = asyncio.Lock()
        self.outage = 30.0
        """Seconds that an engine may be away in the middle of a job."""
        self._limits, self._files = options.limits, options.files
        self._backend = chosen_backend(options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: list[Pool] = []
        self._sessions: dict[tuple[str, str], tuple[Container, asyncio.TimerHandle]] = {}
        """The containers whose last call waits for the next one, by owner and session, and the
        timers that end that.
        """

        def pool(mode: Mode, size: PoolSize, *, reusable: bool) -> Pool:
            return Pool(
                lambda: self._backend.container(mode, self.id),
                size,
                reusable,
                neighbours=self._pools,
            )

        self._executors = pool("execute", options.executors, reusable=not options.long_calls)
        self._comparers = pool("compare", options.comparers, reusable=True)
        self._verifiers = pool("verify", options.verifiers, reusable=False)

    @classmethod
    def from_settings(cls, settings: Settings, **changes: Any) -> "SecureSandbox":
        """The sandbox for these settings; `changes` as in `__init__`. Raises:
        ConfigurationError.
        """
        return cls(SandboxOptions.from_settings(settings), **changes)

    def start(self, verifiers: bool = True) -> None:
        """Start containers in the background, ahead of the first jobs; `verifiers`: also those that
        run tests. Call it on the event loop.
        """
        self._loop = asyncio.get_running_loop()
        self._executors.start()
        if verifiers:
            self._verifiers.start()
            self._comparers.start()

    def expect_tests(self) -> None:
        """Start those that run tests too, if containers were started."""
        if self._loop:
            self.start()

    async def settle(self) -> None:
        """Wait until enough containers are ready and none is being removed."""
        for pool in self._pools * 2:  # none is filled while another removes what jobs have used
            await pool.full()

    @property
    def ready(self) -> int:
        """Containers that wait for a job."""
        return sum(pool.ready for pool in self._pools)

    @property
    def working(self) -> int:
        """Jobs that have a container or wait for one."""
        below = sum(layer.working for layer in self._layers.values())
        return sum(pool.working for pool in self._pools) + below + self._installing.locked()

    @property
    def backend(self) -> str:
        """The name of the backend in use; `none` before one is chosen."""
        return self._backend.name

    def build_image(self, on_line: Callable[[str], None] | None = None) -> None:
        """Build what containers are made from, if it has changed; existing containers take no more
        jobs.

        Blocking, in any thread; `on_line` gets the builder's lines.

        Raises:
            SandboxUnavailable: no backend works, or the base image is not available.
            SandboxFailed: a step of the build failed.
        """
        try:
            self._backend.prepare(on_line or (lambda line: None))
        except SandboxError as error:
            if error.remedy:
                error.add_note(f"What to do: {error.remedy}")  # shown on a command line
            raise
        for pool in self._pools:
            pool.outdate()
            if self._loop and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(pool.renew)

    def image_is_current(self) -> bool:
        """Whether what containers are made from exists and matches its sources. Blocking.

        Raises:
            SandboxUnavailable: no backend works.
        """
        return self._backend.is_current()

    async def status(self) -> SandboxStatus:
        return await asyncio.to_thread(self._backend.status)

    async def reap(self) -> int:
        """Remove the containers that dead servers left behind, and return how many; 0 where nothing
        can run. Call it at start.
        """
        with suppress(SandboxError):
            return await asyncio.to_thread(self._backend.reap)
        return 0

    async def aclose(self, grace: float = GRACE) -> None:
        """Release containers, threads and connections. Running jobs get `grace` seconds to end,
        then they are killed.
        """
        await asyncio.gather(
            *(layer.aclose(grace) for layer in self._layers.values()),
            *(pool.aclose(grace) for pool in self._pools),
        )
        await asyncio.to_thread(self._backend.close)

    async def install(self, lock: PackageLock) -> None:
        """Install further packages, unless they are; jobs with this lock do it themselves.

        Raises:
            SandboxUnavailable: no backend works.
            SandboxFailed: a package can't be installed.
        """
        await self._layer(lock=lock)

    async def _layer(self, **changes: Any) -> "SecureSandbox":
        """The sandbox with these changes of its options."""
        async with self._installing:
            layer = self._layers.pop(key := str(changes), None)
            if layer is None:
                sizes = dict.fromkeys(("verifiers", "comparers", "executors"), _LAYER_SIZE)
                layer = SecureSandbox(self._options, **{**sizes, **changes})
                if not await asyncio.to_thread(layer.image_is_current):
                    await asyncio.to_thread(layer.build_image)
            idle = [name for name, open_layer in self._layers.items() if not open_layer.working]
            for name in idle[: max(0, len(self._layers) + 1 - _LAYERS)]:
                await self._layers.pop(name).aclose()
            self._layers[key] = layer
            return layer

    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        if job.lock:
            layer = await self._layer(lock=job.lock)
            return await layer.verify(replace(job, lock=None), on_test)
        check_modules(job)
        try:
            expected = expected_tests(job.tests)
        except SuiteProblem as problem:
            return Verdict(passed=False, problem=str(problem))
        outcomes: dict[str, str] = {}

        def report(result: TestResult) -> None:  # a second try says only what it changes
            if outcomes.get(result.test) != result.outcome:
                outcomes[result.test] = result.outcome
                on_test(result)

        return await self._run(
            self._verifiers,
            _suite_message(job, job.code),
            lambda: SuiteResult(secrets.token_hex(16), expected, report),
            SuiteResult.verdict,
        )

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        if job.lock:
            layer = await self._layer(lock=job.lock)
            return await layer.verify_versions(replace(job, lock=None), versions, timeout)
        check_modules(job)
        try:
            expected = expected_tests(job.tests)
        except SuiteProblem as problem:
            return tuple(Verdict(passed=False, problem=str(problem)) for _ in versions)
        work = [
            _suite_message(job, version.code)
            | {
                "order": version.order,
                "stop_early": not version.whole,
                "replay": version.replay,
                "limit": 0.0 if version.whole or version.apart or timeout is None else timeout / 2,
            }
            for version in versions
        ]
        lanes = _lanes(versions)
        results = await together(
            *(
                self._take_turns(
                    self._verifiers if versions[lane[0]].apart else self._comparers,
                    [work[n] for n in lane],
                    expected,
                    timeout or self.timeout,
                )
                for lane in lanes
            )
        )
        verdicts = {
            n: verdict
            for lane, result in zip(lanes, results, strict=True)
            for n, verdict in zip(lane, result, strict=True)
        }
        return tuple(verdicts[n] for n in range(len(versions)))

    def check_limits(self, limits: CallLimits) -> None:
        """Raises: RequestError: a call gets less here."""
        self._options.for_call(limits)

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        network: Network | None = None,
    ) -> Execution:
        if job.limits:
            changes = self._options.for_call(job.limits)
            async with self._room(job):
                layer = await self._layer(**changes)
                usual_job = replace(job, limits=None, session="")
                return await layer.execute(usual_job, arguments, files, network)
        if job.lock:
            layer = await self._layer(lock=job.lock)
            return await layer.execute(replace(job, lock=None), arguments, files, network)
        check_modules(job)
        if problem := self._files.problem([file for file in files if not file.large]):
            raise RequestError(problem)
        message: Message = {
            "name": job.name,
            "code": job.code,
            "library": dict(job.library),
            "arguments": dict(arguments),
            "files": self._files.model_dump(),
            **({"lines": True} if job.on_line else {}),
            **({"network": True} if network else _exchanges(job)),
        }
        return await self._run(
            self._executors,
            message,
            lambda: CallResult(
                secrets.token_hex(16), self._files, files, network is not None, job.on_line
            ),
            CallResult.execution,
            files,
            session=job.session,
            network=network,
        )

    @asynccontextmanager
    async def _room(self, job: SandboxJob) -> AsyncIterator[None]:
        """Wait until fewer long calls than `_LONG_CALLS` run."""
        call = object()
        self._long_calls.append(call)
        try:
            place = 1
            while place:
                place = max(0, self._long_calls.index(call) + 1 - _LONG_CALLS)
                if job.on_line:
                    job.on_line("", place)
                if place:
                    await self._long_call_ended.wait()
            yield
        finally:
            self._long_calls.remove(call)
            self._long_call_ended.set()
            self._long_call_ended = asyncio.Event()

    async def _run(
        self,
        pool: Pool,
        job: Message,
        fresh: Callable[[], Result],
        outcome: Callable[[Result, str | None, float], Outcome],
        files: Sequence[File] = (),
        *,
        session: str = "",
        network: Network | None = None,
    ) -> Outcome:
        """Do a job in a container of the pool, and again if the machine may have been too busy for
        it, or its container is lost; its `outcome` of `fresh` results. A job that may have changed
        something on the network is not done again.
        """
        tries, losses = 2 - self._options.long_calls, 0
        large = [file.large for file in files if file.large]
        while tries:
            result, started = fresh(), asyncio.get_running_loop().time()
            try:
                packed = self._packed(job, result, self.timeout)
            except BrokenStream as problem:
                return outcome(result, _TOO_LARGE.format(problem), 0.0)
            container = waiting = self._resumed(session)
            try:
                container = container or await _taken(pool)
                result.image = container.edition
                async with _discarded_on_error(pool, container):
                    if not waiting:
                        if large:
                            await asyncio.to_thread(container.hold, large)
                        packed = packed_files(files) + packed
                    longest = self._longest(self.timeout)
                    killed = await run_job(container, packed, longest, result, network)
            except SandboxError as error:
                if _has_changed(network, result):
                    raise
                losses += 1
                await self._can_try_again(error, losses, has_begun=container is not None)
                continue
            give_back = partial(pool.give_back, container, result.nonce)
            if session and not waiting and isinstance(result, CallResult) and result.repeatable:
                self._wait(session, container, give_back)
            else:
                give_back()
            tries = tries - 1 if result.overdue and not _has_changed(network, result) else 0
        if result.starved:
            raise _starved(self._longest(self.timeout))
        seconds = asyncio.get_running_loop().time() - started
        return await asyncio.to_thread(outcome, result, killed, seconds)

    def _resumed(self, session: str) -> Container | None:
        """The container in which the last call of the owner's session waits."""
        if (key := (current_owner(), session)) not in self._sessions:
            return None
        container, timer = self._sessions.pop(key)
        timer.cancel()
        return container

    def _wait(self, session: str, container: Container, give_back: Callable[[], None]) -> None:
        """Keep the container for the next call of the owner's session, for a moment."""
        key = (current_owner(), session)

        def end() -> None:
            del self._sessions[key]
            give_back()

        if key in self._sessions:  # of the same call in another task
            give_back()
        else:
            timer = asyncio.get_running_loop().call_later(_SESSION, end)
            self._sessions[key] = container, timer

    async def _take_turns(
        self, pool: Pool, work: Sequence[Message], expected: frozenset[str], timeout: float
    ) -> list[Verdict]:
        """Do the jobs in one container as long as its processes are unharmed, else in several. The
        first that the machine is too busy for gets a second try, and so does the first that is run
        whole and waits too long.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        verdicts: list[Verdict] = []
        container, nonce, tries, losses = None, "", 1, 0
        while len(verdicts) < len(work):
            job = work[len(verdicts)]
            early = job["stop_early"]
            result = SuiteResult(
                secrets.token_hex(16), expected, lambda result: None, early, bool(job["replay"])
            )
            try:
                packed = self._packed(job, result, timeout)
            except BrokenStream as problem:
                verdicts.append(result.verdict(_TOO_LARGE.format(problem), 0.0))
                continue
            try:
                container = container or await _taken(pool)
                async with _discarded_on_error(pool, container):
                    killed = await run_job(container, packed, self._longest(timeout), result)
            except SandboxError as error:
                losses += 1
                await self._can_try_again(error, losses, has_begun=container is not None)
                container = None
                continue
            nonce = result.nonce
            if not result.orderly:
                pool.give_back(container, nonce)
                container = None
            if result.overdue and tries and (result.starved or not early):
                tries = 0
            elif result.starved:
                if container:
                    pool.give_back(container, nonce)
                raise _starved(self._longest(timeout))
            else:
                verdicts.append(result.verdict(killed, 0.0))
        if container:
            pool.give_back(container, nonce)
        return verdicts

    async def _can_try_again(self, error: SandboxError, losses: int, *, has_begun: bool) -> None:
        """Wait until a job that was lost can run again: at once on another machine, else when the
        engine is back. The only machine gets a second try, of jobs that `has_begun`.

        Raises: the error, if it can't.
        """
        places = self._backend.places
        if losses >= max(places, 1 + has_begun):
            raise error
        end = asyncio.get_running_loop().time() + self.outage
        while places == 1:
            try:
                await asyncio.to_thread(self._backend.probe)
                return
            except SandboxError:
                if asyncio.get_running_loop().time() > end:
                    raise error from None
                await asyncio.sleep(_LOOK)

    def _packed(self, job: Message, result: JobResult, timeout: float) -> bytes:
        """Raises: BrokenStream: the job is too large."""
        check_size(job["library"])
        limits = {
            "timeout": timeout,
            "wall": self._patience * timeout,
            "memory": self._limits.memory_mb,
        }
        return pack({"nonce": result.nonce, **limits, **job})

    def _longest(self, timeout: float) -> float:
        """Seconds that a run may take which may use `timeout` seconds of processor time."""
        return LONGEST * self._patience * timeout


async def _taken(pool: Pool) -> Container:
    """A container of the pool; an engine that fails to make one gets a second try.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    with suppress(SandboxFailed):
        return await pool.take(current_owner())
    return await pool.take(current_owner())


def _has_changed(network: Network | None, result: JobResult) -> bool:
    """Whether a job may have changed something outside."""
    return network is not None and not network.repeatable and result.request_count > 0


def _exchanges(job: SandboxJob) -> Message:
    """The exchanges of a job as a field of its message; no field if it has none."""
    exchanges = [e.model_dump(mode="json", include={"request", "response"}) for e in job.exchanges]
    return {"exchanges": exchanges} if exchanges else {}


def _starved(seconds: float) -> SandboxFailed:
    return SandboxFailed(
        f"this machine is too busy: twice a run got hardly any processor time in {seconds:g} s",
        "end other programs, or lower TURNS_MAX_RUNNING, and try again",
    )


def _suite_message(job: SandboxJob, code: str) -> Message:
    """The suite of a job on code. `import *` gives tests no name of the tool that the suite binds
    itself.
    """
    names, public = exported_names(code)
    test_names, _ = exported_names(job.tests)
    return {
        "name": job.name,
        "code": code,
        "library": dict(job.library),
        "tests": job.tests,
        "names": names,
        "public": [n for n in public if n == job.name or n not in test_names],
        **_exchanges(job),
    }


def _lanes(versions: Sequence[Version]) -> list[list[int]]:
    """Which versions share a container: those that must be apart run alone, the others share a
    few.
    """
    alone = [[number] for number, version in enumerate(versions) if version.apart]
    sharing = [number for number, version in enumerate(versions) if not version.apart]
    lanes = min(_LANES, math.ceil(len(sharing) / _LANE))
    return alone + [sharing[first::lanes] for first in range(lanes)]


@asynccontextmanager
async def _discarded_on_error(pool: Pool, container: Container) -> AsyncIterator[None]:
    try:
        yield
    except SandboxUnavailable:
        pool.drop(container)  # waiting for the removal takes long without an engine
        raise
    except BaseException:
        await pool.discard(container)
        raise
