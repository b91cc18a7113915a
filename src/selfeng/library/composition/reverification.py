"""Re-verification: checks the tools that import a tool after it has changed.

Each goes through the gate with the new version, and must return what it returned with the old one.
One that passes gets a new version with new pins. One that fails keeps its pins and works as before;
the failure is reported.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from selfeng.core.background import BackgroundTasks
from selfeng.core.composition import imported_names
from selfeng.core.errors import AgentError, LibraryError
from selfeng.core.protocols import ToolLibrary
from selfeng.core.provenance import Provenance, RequirementChanged
from selfeng.core.tool import Requirement, Tool
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.library.library_snapshot import LibraryChange

log = logging.getLogger(__name__)


class Reverified(Value):
    name: str
    version: int
    """The version in force now."""
    problem: str = ""
    """Why it keeps its old pins; "" if it has new ones."""

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name} keeps its pinned versions: {self.problem}"
        return (
            f"{self.name} passes its tests with the changed tools and is now at version "
            f"{self.version}"
        )


class Rehearsed(Value):
    """The verdict on a tool in other surroundings."""

    name: str
    version: int
    test: str = ""
    """The first that fails; "" if none does, or if the tests did not decide."""
    problem: str = ""
    """Its first lines, or why the gate refuses the tool; "" if it works."""


Gate = Callable[[Tool, Mapping[str, str]], Awaitable[Verdict]]
"""Puts a tool through the gate with these modules to import. Raises: SandboxError."""


class Reverification:
    """Re-verifies the tools that import changed tools: when asked, or in the background, where the
    changes come one at a time and the next start does what was interrupted.
    """

    def __init__(
        self,
        library: ToolLibrary,
        gate: Gate,
        sources: PinnedSources,
        tell: Callable[[Reverified], None],
    ) -> None:
        """`tell` gets the outcome of each tool as soon as it is known."""
        self._library, self._gate, self._sources, self._tell = library, gate, sources, tell
        self._revising = ""
        """The tool whose pins are being changed."""
        self._background = BackgroundTasks()
        self._one_at_a_time = asyncio.Lock()

    def begin(self) -> None:
        """Re-verify what is outdated: interrupted work, changes made meanwhile, earlier
        failures.
        """
        self._background.start(self._quietly(self._catch_up))

    def follow(self, change: LibraryChange) -> None:
        """Re-verify the tools that depend on a tool which got a new version."""
        name = change.name
        if change.change in ("added", "revised", "restored") and name != self._revising:
            self._background.start(self._quietly(lambda: self.reverify_dependents(name)))

    async def wait_idle(self) -> None:
        """Wait until no work is left in the background."""
        await self._background.aflush_tasks()

    async def aclose(self) -> None:
        """Stop; tools that were not reached keep their versions."""
        await self._background.aclose()

    async def outdated(self) -> frozenset[str]:
        """The tools that others pin at a version other than the newest."""
        tools = await self._library.tools()
        now = {tool.name: tool.version for tool in tools}
        return frozenset(pin.name for tool in tools for pin in _behind(tool, now))

    async def rehearse(self) -> AsyncGenerator[Rehearsed, None]:
        """Verify every tool that is not retired once more, by name; nothing is changed. Raises:
        SandboxError.
        """
        for tool in await self._library.tools():
            if tool.standing == "retired":
                continue
            verdict = await self._gate(tool, await self._sources.of(tool.requires))
            failed = next((t for t in verdict.tests if t.outcome != "passed"), None)
            yield Rehearsed(
                name=tool.name,
                version=tool.version,
                test=failed.test if failed else "",
                problem=(failed and failed.message) or verdict.problem or "",
            )

    async def reverify_dependents(self, *names: str) -> tuple[Reverified, ...]:
        """Re-verify every tool that pins an old version of one of these, directly or through
        others, after the tools that it needs.

        Raises:
            SandboxError: the sandbox failed; tools that were not reached keep their pins.
        """
        tools = await self._library.tools()
        now, outcomes = (
            {tool.name: tool.version for tool in tools if tool.name in names},
            list[Reverified](),
        )
        for tool in _in_order(tools, now):
            outcome = await self._reverified(tool, now)
            now[tool.name] = outcome.version
            outcomes.append(outcome)
            log.log(logging.WARNING if outcome.problem else logging.INFO, "%s", outcome)
            self._tell(outcome)
        return tuple(outcomes)

    async def _catch_up(self) -> None:
        await self.reverify_dependents(*await self.outdated())

    async def _quietly(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            async with self._one_at_a_time:
                await work()
        except AgentError as error:
            log.warning(
                "tools that import others were not re-verified: %s; %s", error, error.remedy
            )
        except Exception:  # the boundary of a background task
            log.exception("tools that import others were not re-verified")

    async def _reverified(self, tool: Tool, now: Mapping[str, int]) -> Reverified:
        pins = await self._pins(tool, now)
        problem, version = _clash(pins) or _stuck(tool, pins, now), tool.version
        if not problem:
            verdict = await self._gate(tool, await self._sources.of(pins))
            problem = _failure(verdict)
            if not problem:
                try:
                    version = await self._revised(tool, pins, verdict)
                except LibraryError as error:
                    problem = error.message
        return Reverified(name=tool.name, version=version, problem=problem)

    async def _pins(self, tool: Tool, now: Mapping[str, int]) -> tuple[Requirement, ...]:
        """The tool's new pins: what it imports, at the versions in `now`, and what these need."""
        pins = set[Requirement]()
        for pin in _imported(tool):
            version = now.get(pin.name, pin.version)
            pins |= {
                Requirement(name=pin.name, version=version),
                *(await self._library.version(pin.name, version)).requires,
            }
        return tuple(sorted(pins, key=lambda pin: (pin.name, pin.version)))

    async def _revised(self, tool: Tool, pins: tuple[Requirement, ...], verdict: Verdict) -> int:
        """Save a version that differs only in its pins, and return its number. Raises:
        LibraryError: the tool has changed meanwhile.
        """
        imported = {pin.name for pin in _imported(tool)}
        new = next(pin for pin in pins if pin.name in imported and pin not in tool.requires)
        provenance = Provenance(
            origin=RequirementChanged(tool=new.name, version=new.version), verdict=verdict
        )
        self._revising = tool.name
        try:
            return (
                await self._library.revise(
                    tool.draft().model_copy(update={"requires": pins}), tool.version, provenance
                )
            ).version
        finally:
            self._revising = ""


def _imported(tool: Tool) -> list[Requirement]:
    """The tools that the tool itself imports, among those it needs."""
    names = imported_names(tool.code)
    return [pin for pin in tool.requires if pin.name in names]


def _behind(tool: Tool, now: Mapping[str, int]) -> list[Requirement]:
    """The tool's pins that are not at the version in force; none for a retired tool."""
    return (
        []
        if tool.standing == "retired"
        else [pin for pin in tool.requires if now.get(pin.name, pin.version) != pin.version]
    )


def _in_order(tools: Iterable[Tool], now: Mapping[str, int]) -> list[Tool]:
    """The tools that need what has changed, each after the affected tools that it needs."""
    affected = {tool.name: tool for tool in tools if _behind(tool, now)}
    needs = {
        name: [pin.name for pin in tool.requires if pin.name in affected]
        for name, tool in affected.items()
    }
    return [affected[name] for name in TopologicalSorter(needs).static_order()]


def _clash(pins: Sequence[Requirement]) -> str:
    for pin in pins:
        versions = [
            str(requirement.version) for requirement in pins if requirement.name == pin.name
        ]
        if len(versions) > 1:
            return f"what it imports needs versions {' and '.join(versions)} of {pin.name}"
    return ""


def _stuck(tool: Tool, pins: Sequence[Requirement], now: Mapping[str, int]) -> str:
    """Why the tool does not change: it uses the change only through tools that keep their pins."""
    if tool.frozen:
        return f"version {tool.version} is frozen"
    if pins != tool.requires:
        return ""
    between = ", ".join(pin.name for pin in tool.requires if now.get(pin.name) == pin.version)
    return f"it uses the change only through tools that keep their own pins ({between})"


def _failure(verdict: Verdict) -> str:
    if verdict.passed:
        return ""
    failed = [test.test for test in verdict.tests if test.outcome != "passed"]
    return verdict.problem or f"with the new version {', '.join(failed)} failed"
