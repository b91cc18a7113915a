"""LinkedSandbox: a sandbox that provides the tools that code imports."""

import ast
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from selfeng.core.composition import Importable, imports
from selfeng.core.files import File
from selfeng.core.packages import READER, sandbox_packages
from selfeng.core.protocols import NO_MODULES, Sandbox, ToolLibrary
from selfeng.core.tool import Requirement
from selfeng.core.verdict import Execution, SandboxStatus, TestResult, Verdict, Version
from selfeng.library.composition.sources import PinnedSources

_THERE = frozenset(sys.stdlib_module_names) | {READER, *sandbox_packages()}


class LinkedSandbox:
    """A `Sandbox` that gives code the tools it imports: the newest, unless the caller passes
    others.
    """

    def __init__(self, sandbox: Sandbox, library: ToolLibrary, sources: PinnedSources) -> None:
        self._sandbox, self._library, self._sources = sandbox, library, sources

    async def status(self) -> SandboxStatus:
        return await self._sandbox.status()

    async def verify(
        self,
        name: str,
        code: str,
        tests: str,
        on_test: Callable[[TestResult], None],
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> Verdict:
        return await self._sandbox.verify(
            name, code, tests, on_test, library=library or await self._imported(code)
        )

    async def verify_versions(
        self,
        name: str,
        versions: Sequence[Version],
        tests: str,
        timeout: float | None = None,
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> tuple[Verdict, ...]:
        pins = () if library else await self._pins(*(version.code for version in versions))
        if len({pin.name for pin in pins}) < len(
            pins
        ):  # they need different versions of one tool, so each runs with its own
            alone = [
                await self.verify_versions(name, [version], tests, timeout) for version in versions
            ]
            return tuple(verdict for verdicts in alone for verdict in verdicts)
        modules = library or await self._sources.of(pins)
        return await self._sandbox.verify_versions(name, versions, tests, timeout, library=modules)

    async def execute(
        self,
        name: str,
        code: str,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        library: Mapping[str, str] = NO_MODULES,
    ) -> Execution:
        return await self._sandbox.execute(
            name, code, arguments, files, library=library or await self._imported(code)
        )

    async def _imported(self, code: str) -> Mapping[str, str]:
        return await self._sources.of(await self._pins(code))

    async def _pins(self, *codes: str) -> Sequence[Requirement]:
        """What any of the codes imports; nothing if it does not parse, as it fails in the
        sandbox.
        """
        readable = [code for code in codes if _names(code) - _THERE]
        importable = Importable(await self._library.tools() if readable else ())
        return sorted({pin for code in readable for pin in importable.requires(code)}, key=str)


def _names(code: str) -> set[str]:
    try:
        return {name for name, _ in imports(ast.parse(code))}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
