"""LinkedSandbox: a sandbox that provides the tools that code imports, from the sources of pinned
versions; and one that provides packages and recorded exchanges.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from selfeng.core.composition import Importable, imported_names
from selfeng.core.files import File
from selfeng.core.http import Exchange, Network
from selfeng.core.package_lock import PackageLock, joined
from selfeng.core.packages import READER, sandbox_packages
from selfeng.core.protocols import Sandbox, ToolLibrary
from selfeng.core.tool import Requirement
from selfeng.core.verdict import Execution, SandboxJob, SandboxStatus, TestResult, Verdict, Version
from selfeng.library.library_snapshot import LibraryChange

_THERE = frozenset(sys.stdlib_module_names) | {READER, *sandbox_packages()}
_KEPT = 256


class PinnedSources:
    """Reads versions from the library and keeps the most recently used; a version never changes."""

    def __init__(self, library: ToolLibrary) -> None:
        self._library = library
        self._code_by_pin: dict[Requirement, str] = {}

    async def of(self, requires: Sequence[Requirement]) -> dict[str, str]:
        """Source by module name.

        Raises:
            VersionNotFound: there is no such version.
        """
        codes = await asyncio.gather(*map(self._source, requires))
        return {pin.name: code for pin, code in zip(requires, codes, strict=True)}

    def follow(self, change: LibraryChange) -> None:
        """Drop a removed tool: its history may be deleted, and the numbers of its versions free."""
        if change.change == "removed":
            for pin in [pin for pin in self._code_by_pin if pin.name == change.name]:
                del self._code_by_pin[pin]

    async def _source(self, pin: Requirement) -> str:
        code = self._code_by_pin.pop(pin, None)
        if code is None:
            code = (await self._library.version(pin.name, pin.version)).code
        self._code_by_pin[pin] = code
        if len(self._code_by_pin) > _KEPT:
            del self._code_by_pin[next(iter(self._code_by_pin))]
        return code


class ChangedJobs:
    """A `Sandbox` that changes each job before another one gets it."""

    def __init__(
        self, sandbox: Sandbox, change: Callable[[SandboxJob], Awaitable[SandboxJob]]
    ) -> None:
        self._sandbox, self._change = sandbox, change

    async def status(self) -> SandboxStatus:
        return await self._sandbox.status()

    async def install(self, lock: PackageLock) -> None:
        await self._sandbox.install(lock)

    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        return await self._sandbox.verify(await self._change(job), on_test)

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        return await self._sandbox.verify_versions(await self._change(job), versions, timeout)

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        network: Network | None = None,
    ) -> Execution:
        return await self._sandbox.execute(await self._change(job), arguments, files, network)


class LinkedSandbox(ChangedJobs):
    """A `Sandbox` that gives code the tools it imports: the newest, unless the caller passes
    others.
    """

    def __init__(self, sandbox: Sandbox, library: ToolLibrary, sources: PinnedSources) -> None:
        super().__init__(sandbox, self._linked)
        self._library, self._sources = library, sources

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        pins = () if job.library else await self._pins(*(version.code for version in versions))
        if len({pin.name for pin in pins}) < len(
            pins
        ):  # they need different versions of one tool, so each runs with its own
            alone = [await self.verify_versions(job, [version], timeout) for version in versions]
            return tuple(verdict for verdicts in alone for verdict in verdicts)
        return await self._sandbox.verify_versions(await self._linked(job, pins), versions, timeout)

    async def _linked(
        self, job: SandboxJob, pins: Sequence[Requirement] | None = None
    ) -> SandboxJob:
        if job.library:
            return job
        pins = await self._pins(job.code) if pins is None else pins
        names = {pin.name for pin in pins}
        tools = await self._library.tools() if pins else ()
        lock = joined([job.lock, *(tool.lock for tool in tools if tool.name in names)])
        return replace(job, library=await self._sources.of(pins), lock=lock)

    async def _pins(self, *codes: str) -> Sequence[Requirement]:
        """The requirements that any of the codes imports; none for code that does not parse, as it
        fails in the sandbox.
        """
        readable = [code for code in codes if _names(code) - _THERE]
        importable = Importable(await self._library.tools() if readable else ())
        return sorted({pin for code in readable for pin in importable.requires(code)}, key=str)


def provided(
    sandbox: Sandbox, exchanges: tuple[Exchange, ...], lock: PackageLock | None
) -> ChangedJobs:
    """A `Sandbox` whose jobs replay these exchanges, and have the packages of this lock, unless
    they have their own.
    """

    async def change(job: SandboxJob) -> SandboxJob:
        return replace(job, exchanges=job.exchanges or exchanges, lock=job.lock or lock)

    return ChangedJobs(sandbox, change)


def _names(code: str) -> set[str]:
    try:
        return imported_names(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
