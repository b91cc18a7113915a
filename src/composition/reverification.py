"""Re-verification: what a change of a tool means for the tools that are composed from it.

Each runs its suite with the new version. One that passes gets a new version with new pins; one that fails keeps its pins, goes on
working as before, and that is told.
"""

import ast
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from graphlib import TopologicalSorter

from src.composition.sources import PinnedSources
from src.core.composition import imports
from src.core.protocols import Sandbox, ToolLibrary
from src.core.tool import Requirement, Tool
from src.core.value import Value
from src.core.verdict import Verdict

log = logging.getLogger(__name__)

Revise = Callable[[Tool, tuple[Requirement, ...]], Awaitable[Tool]]
"""Makes a new version of a tool that differs in its pins only, and gives it back."""


class Reverified(Value):
    """What became of one tool."""

    name: str
    version: int
    """That is in force now."""
    problem: str = ""
    """Why it keeps its old pins; "": it has new ones."""

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name} keeps what it was verified with: {self.problem}"
        return f"{self.name} passes its tests with what has changed, and is at version {self.version} now"


class Reverification:
    """Re-verifies what is composed from tools that change."""

    def __init__(
        self, library: ToolLibrary, sandbox: Sandbox, sources: PinnedSources, revise: Revise, tell: Callable[[Reverified], None]
    ) -> None:
        """`tell` is called once for each tool, as soon as it is known what becomes of it."""
        self._library, self._sandbox, self._sources = library, sandbox, sources
        self._revise, self._tell = revise, tell

    async def reverify_dependents(self, name: str, old: int, new: int) -> tuple[Reverified, ...]:
        """Re-verify every tool that needs version `old` of a tool, directly or through others, after those that it needs itself.

        Raises:
            SandboxError: the sandbox is out of order; tools that were not reached keep their pins.
        """
        now, outcomes = {name: new}, list[Reverified]()
        for tool in _in_order(await self._library.tools(), Requirement(name=name, version=old)):
            outcome = await self._reverified(tool, now)
            now[tool.name] = outcome.version
            outcomes.append(outcome)
            log.log(logging.WARNING if outcome.problem else logging.INFO, "%s", outcome)
            self._tell(outcome)
        return tuple(outcomes)

    async def _reverified(self, tool: Tool, now: Mapping[str, int]) -> Reverified:
        pins = await self._pins(tool, now)
        problem = _clash(pins) or _stuck(tool, pins, now)
        if not problem:
            library = await self._sources.of(pins)
            problem = _told(await self._sandbox.verify(tool.name, tool.code, tool.tests, lambda _: None, library=library))
        if problem:
            return Reverified(name=tool.name, version=tool.version, problem=problem)
        return Reverified(name=tool.name, version=(await self._revise(tool, pins)).version)

    async def _pins(self, tool: Tool, now: Mapping[str, int]) -> tuple[Requirement, ...]:
        """What the tool would need: what it imports at the versions that are in force `now`, with what these need."""
        pins = set[Requirement]()
        imported = {name for name, _ in imports(ast.parse(tool.code))}
        for pin in tool.requires:
            if pin.name in imported:
                version = now.get(pin.name, pin.version)
                pins |= {Requirement(name=pin.name, version=version), *(await self._library.version(pin.name, version)).requires}
        return tuple(sorted(pins, key=lambda pin: (pin.name, pin.version)))


def _in_order(tools: Sequence[Tool], changed: Requirement) -> list[Tool]:
    """The tools that need what has changed, each after those of them that it needs; retired ones are left as they are."""
    affected = {tool.name: tool for tool in tools if changed in tool.requires and tool.standing != "retired"}
    needs = {name: [pin.name for pin in tool.requires if pin.name in affected] for name, tool in affected.items()}
    return [affected[name] for name in TopologicalSorter(needs).static_order()]


def _clash(pins: Sequence[Requirement]) -> str:
    for pin in pins:
        versions = [str(other.version) for other in pins if other.name == pin.name]
        if len(versions) > 1:
            return f"what it imports needs versions {' and '.join(versions)} of {pin.name}"
    return ""


def _stuck(tool: Tool, pins: Sequence[Requirement], now: Mapping[str, int]) -> str:
    """Why nothing changes for the tool: it needs what has changed only through tools that keep their pins."""
    if pins != tool.requires:
        return ""
    between = ", ".join(pin.name for pin in tool.requires if now.get(pin.name) == pin.version)
    return f"it meets the change only through tools that keep their own pins ({between})"


def _told(verdict: Verdict) -> str:
    if verdict.passed:
        return ""
    failed = [test.test for test in verdict.tests if test.outcome != "passed"]
    return verdict.problem or f"with the new version {', '.join(failed)} failed"
