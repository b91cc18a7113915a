"""SecureSandbox: generated code is verified and run in containers that it can do no harm in."""

import asyncio
import math
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfeng.core.errors import ConfigurationError, RequestError, SandboxError, SandboxUnavailable
from selfeng.core.files import File, FileLimits
from selfeng.core.owner import current_owner
from selfeng.core.protocols import NO_MODULES
from selfeng.core.verdict import Execution, SandboxStatus, TestResult, Verdict, Version
from selfeng.sandboxes.account import Account, ExecutionAccount, SuiteAccount
from selfeng.sandboxes.backend import Backend, Container
from selfeng.sandboxes.bubblewrap import BubblewrapBackend
from selfeng.sandboxes.choice import Choice
from selfeng.sandboxes.conversation import converse, packed_files
from selfeng.sandboxes.docker import DockerBackend
from selfeng.sandboxes.expected import SuiteProblem, expected_tests
from selfeng.sandboxes.exported import exported_names
from selfeng.sandboxes.library import check_modules, check_size
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.pool import GRACE, Pool, PoolSize
from selfeng.sandboxes.worker.frames import BrokenStream, Message, pack

if TYPE_CHECKING:
    from selfeng.settings import Settings

_LANES = 2
"""Containers, at most, in which versions of a tool that need not be apart take turns."""
_LANE = 12
"""Versions for which one such container will do: starting another costs more than they take."""
_TOO_LARGE = "The job is too large for the sandbox: {}."

VERIFIERS = PoolSize(least=2, ready=4, most=8)
"""A verifier takes one job, so there is one more ready than in use: a synthesis verifies twice in a row."""
EXECUTORS = PoolSize(least=1, ready=4, most=8, patience=0.1)
"""Executors come back within milliseconds, unless their tools are slow."""


class SecureSandbox:
    """The sandbox on one of its backends. Making one connects to nothing; one object serves any number of jobs at once, on one loop.

    A suite runs in a container of its own, which was started before and is removed afterwards. A call of a tool runs in a process
    of its own, in a container that only calls for the same owner have been in, see `selfeng.core.owner`.
    """

    def __init__(
        self,
        image: str | None = None,
        timeout: float | None = None,
        base_image: str | None = None,
        limits: ContainerLimits | None = None,
        files: FileLimits | None = None,
        *,
        backend: str | Backend | None = None,
        runtime: str | None = None,
        folder: Path | None = None,
        verifiers: PoolSize = VERIFIERS,
        executors: PoolSize = EXECUTORS,
        packages: Sequence[str] = (),
    ) -> None:
        """What is None comes from the settings, see `config`.

        `timeout` is seconds of one run; `backend` is `docker`, `bubblewrap`, or `auto` for the first of them that works; `runtime` is one
        that the Docker engine knows; `folder` is for what bubblewrap needs on disk; `packages` are further ones, as pip takes them,
        for which `build_image` makes a layer.

        Raises:
            ConfigurationError: there is no such backend, or it knows no runtimes.
        """
        if image is None or timeout is None or base_image is None or backend is None or folder is None or files is None:
            from selfeng.settings import load_settings

            settings = load_settings()
            image = settings.docker_image_name if image is None else image
            timeout = settings.docker_timeout if timeout is None else timeout
            base_image = settings.base_image if base_image is None else base_image
            backend = settings.sandbox if backend is None else backend
            runtime = settings.sandbox_runtime if runtime is None else runtime
            folder = settings.data_dir / "sandbox" if folder is None else folder
            files = settings.file_limits if files is None else files
        self.id = secrets.token_hex(8)
        """On the containers as a label, see `ownership`."""
        self.timeout = timeout
        self._limits = limits or ContainerLimits()
        self._files = files
        if isinstance(backend, str):
            docker = DockerBackend(image, base_image, self._limits, runtime, packages=packages)
            bubblewrap = BubblewrapBackend(folder, self._limits, packages=packages)
            backend = _backend(backend, docker, bubblewrap, runtime)
        self._backend = backend
        self._loop: asyncio.AbstractEventLoop | None = None
        self._verifiers = Pool(lambda: self._backend.container("verify", self.id), verifiers, reusable=False)
        self._executors = Pool(lambda: self._backend.container("execute", self.id), executors, reusable=True)

    @classmethod
    def of(cls, settings: "Settings", files: FileLimits | None = None, packages: Sequence[str] = ()) -> "SecureSandbox":
        """The sandbox that these settings ask for; `files` in the place of their limits. Raises: ConfigurationError, as above."""
        return cls(
            image=settings.docker_image_name,
            timeout=settings.docker_timeout,
            base_image=settings.base_image,
            backend=settings.sandbox,
            runtime=settings.sandbox_runtime,
            folder=settings.data_dir / "sandbox",
            files=files or settings.file_limits,
            packages=packages,
        )

    def start(self, verifiers: bool = True) -> None:
        """Begin to have containers ready, in the background; without it, the first jobs do. On the event loop."""
        self._loop = asyncio.get_running_loop()
        self._executors.fill()
        if verifiers:
            self._verifiers.fill()

    async def settle(self) -> None:
        """Wait until as many containers are ready as should be, and none is being removed."""
        await asyncio.gather(self._verifiers.full(), self._executors.full())

    @property
    def backend(self) -> str:
        """The name of the one in force; `none` before one was chosen."""
        return self._backend.name

    def build_image(self, on_line: Callable[[str], None] | None = None) -> None:
        """Build what containers are made from, as far as it has changed; those that are there take no more jobs.

        Blocking, in any thread; `on_line` gets the builder's lines.

        Raises:
            SandboxUnavailable: no backend works, or the base image can't be had.
            SandboxFailed: a step of the build failed.
        """
        try:
            self._backend.prepare(on_line or (lambda line: None))
        except SandboxError as error:
            if error.remedy:
                error.add_note(f"What to do: {error.remedy}")  # shown where this is called from a command line
            raise
        for pool in (self._verifiers, self._executors):
            pool.outdate()
            if self._loop and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(pool.renew)

    def image_is_current(self) -> bool:
        """Whether what containers are made from exists and fits its sources. Blocking.

        Raises:
            SandboxUnavailable: no backend works.
        """
        return self._backend.is_current()

    async def status(self) -> SandboxStatus:
        return await asyncio.to_thread(self._backend.status)

    async def reap(self) -> int:
        """Remove the containers that dead servers left behind; how many there were, 0 where nothing can run. Call it at start."""
        with suppress(SandboxError):
            return await asyncio.to_thread(self._backend.reap)
        return 0

    async def aclose(self, grace: float = GRACE) -> None:
        """Give back containers, threads and connections; jobs that run have so many seconds to end, then they are ended."""
        await asyncio.gather(self._verifiers.aclose(grace), self._executors.aclose(grace))
        await asyncio.to_thread(self._backend.close)

    async def verify(
        self, name: str, code: str, tests: str, on_test: Callable[[TestResult], None], *, library: Mapping[str, str] = NO_MODULES
    ) -> Verdict:
        check_modules(library, name)
        try:
            expected = expected_tests(tests)
        except SuiteProblem as problem:
            return Verdict(passed=False, problem=str(problem))
        account = SuiteAccount(secrets.token_hex(16), expected, on_test)
        job = _suite_job(name, code, tests, library)
        killed, seconds = await self._run(self._verifiers, job, account)
        return account.verdict(killed, seconds)

    async def verify_versions(
        self,
        name: str,
        versions: Sequence[Version],
        tests: str,
        timeout: float | None = None,
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> tuple[Verdict, ...]:
        check_modules(library, name)
        try:
            expected = expected_tests(tests)
        except SuiteProblem as problem:
            return tuple(Verdict(passed=False, problem=str(problem)) for _ in versions)
        work: list[tuple[Message, SuiteAccount]] = []
        for version in versions:
            how = {"order": version.order, "stop_early": not version.whole}
            account = SuiteAccount(secrets.token_hex(16), expected, lambda result: None, stop_early=not version.whole)
            work.append((_suite_job(name, version.code, tests, library) | how, account))
        lanes = _lanes(versions)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._take_turns([work[n] for n in lane], timeout or self.timeout)) for lane in lanes]
        except ExceptionGroup as several:
            raise several.exceptions[0] from None  # the lanes share their trouble
        verdicts = {n: verdict for lane, task in zip(lanes, tasks, strict=True) for n, verdict in zip(lane, task.result(), strict=True)}
        return tuple(verdicts[n] for n in range(len(versions)))

    async def execute(
        self,
        name: str,
        code: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> Execution:
        check_modules(library, name)
        if problem := self._files.problem(files):
            raise RequestError(problem)
        account = ExecutionAccount(secrets.token_hex(16), self._files, files)
        job: Message = {"name": name, "code": code, "library": dict(library), "arguments": dict(arguments)}
        job["files"] = self._files.model_dump()
        killed, seconds = await self._run(self._executors, job, account, files)
        return account.execution(killed, seconds)

    async def _run(self, pool: Pool, job: Message, account: Account, files: Sequence[File] = ()) -> tuple[str | None, float]:
        """Do a job in a container of the pool; why it was ended early, and the seconds it took."""
        started = asyncio.get_running_loop().time()
        try:
            packed = packed_files(files) + self._packed(job, account, self.timeout)
        except BrokenStream as problem:
            return _TOO_LARGE.format(problem), 0.0
        container = await pool.take(current_owner() if pool is self._executors else "")
        async with _discarded_on_error(pool, container):
            killed = await converse(container, packed, self.timeout, account)
        pool.give_back(container, account.nonce)
        return killed, asyncio.get_running_loop().time() - started

    async def _take_turns(self, work: Sequence[tuple[Message, SuiteAccount]], timeout: float) -> list[Verdict]:
        """Do the jobs in the processes of one container, as long as these come through unharmed, else in several."""
        verdicts = []
        container = None
        for number, (job, account) in enumerate(work, 1):
            try:
                packed = self._packed(job, account, timeout)
            except BrokenStream as problem:
                verdicts.append(account.verdict(_TOO_LARGE.format(problem), 0.0))
                continue
            container = container or await self._verifiers.take()
            async with _discarded_on_error(self._verifiers, container):
                verdicts.append(account.verdict(await converse(container, packed, timeout, account), 0.0))
            if number == len(work) or not account.orderly:
                self._verifiers.give_back(container, account.nonce)
                container = None
        return verdicts

    def _packed(self, job: Message, account: Account, timeout: float) -> bytes:
        """Raises: BrokenStream: it is too large."""
        check_size(job["library"])
        return pack({"nonce": account.nonce, "timeout": timeout, "memory": self._limits.memory_mb, **job})


def _suite_job(name: str, code: str, tests: str, library: Mapping[str, str]) -> Message:
    """What tests may have of the tool's module is settled here: `import *` gives no name that the suite binds itself."""
    names, public = exported_names(code)
    own, _ = exported_names(tests)
    public = [n for n in public if n == name or n not in own]
    return {"name": name, "code": code, "library": dict(library), "tests": tests, "names": names, "public": public}


def _lanes(versions: Sequence[Version]) -> list[list[int]]:
    """Which versions take turns in one container: those that must be apart with none, the others spread over a few."""
    alone = [[number] for number, version in enumerate(versions) if version.apart]
    others = [number for number, version in enumerate(versions) if not version.apart]
    lanes = min(_LANES, math.ceil(len(others) / _LANE))
    return alone + [others[first::lanes] for first in range(lanes)]


def _backend(name: str, docker: Backend, bubblewrap: Backend, runtime: str | None) -> Backend:
    if runtime and name == bubblewrap.name:
        raise ConfigurationError(f"SANDBOX_RUNTIME={runtime!r} needs Docker", "set SANDBOX to docker, or SANDBOX_RUNTIME to nothing")
    if name == "auto":
        return docker if runtime else Choice((docker, bubblewrap))  # who asked for more isolation must not get less
    chosen = {backend.name: backend for backend in (docker, bubblewrap)}.get(name)
    if chosen is None:
        raise ConfigurationError(f"there is no sandbox {name!r}", "choose among auto, docker and bubblewrap")
    return chosen


@asynccontextmanager
async def _discarded_on_error(pool: Pool, container: Container) -> AsyncIterator[None]:
    try:
        yield
    except SandboxUnavailable:
        pool.drop(container)  # it takes long to learn that nobody removes it
        raise
    except BaseException:
        await pool.discard(container)
        raise
