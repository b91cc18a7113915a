"""The health of the library: tools that do the same, suites that notice little, and tools that are
slow, suspect, or not used.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Literal

from pydantic import computed_field

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.owner import owned_by
from selfeng.core.protocols import Sandbox
from selfeng.core.tool import Tool
from selfeng.core.value import Value
from selfeng.core.verdict import Alterations
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.stages.tool_review import EarlierAnswers
from selfeng.store.habits import ToolUses
from selfeng.store.journal import Journal
from selfeng.store.spending import ToolAccount
from selfeng.synthesis.relatives import Compared, twins
from selfeng.synthesis_engine import SynthesisEngine

FindingKind = Literal[
    "twins", "weak", "suspect", "slow", "never_used", "stale", "unpaid", "one_person"
]
"""twins: two tools agree on all recorded inputs; weak: the suite notices few alterations; unpaid:
its reuse saved less than it took to build; one_person: of several persons only one has used it.
"""
Remedy = Literal["merge", "strengthen", "refactor", "retire", "none"]
"""The remedies of findings. Only a person applies them."""
STALE_DAYS = 90
"""Days without use after which a tool is stale."""
_WORDS: Mapping[FindingKind, str] = {
    "twins": "{1} does the same for all {inputs:.0f} inputs, {recorded:.0f} of them recorded",
    "weak": "its tests notice {noticed:.0f} of {tried:.0f} alterations",
    "suspect": "a service that it asks answers otherwise than recorded",
    "slow": "a call takes {seconds:.1f} s, that of the usual tool {usual:.2f} s",
    "never_used": "nobody has used it in {days:.0f} days",
    "stale": "unused for {days:.0f} days, at a version of {version_days:.0f} days",
    "unpaid": "it took {built:,.0f} tokens to build and saved {saved:,.0f}; reuses: {reuses:.0f}",
    "one_person": "only one person has used it; calls: {calls:.0f}",
}
_MEASURED = 10
"""Suites that one report measures."""
_SLOW_SECONDS, _SLOW_FACTOR, _LEAST_CALLS = 1.0, 10, 3
"""A tool is slow if its calls take so long, and so many times as long as the usual tool's."""


class HealthFinding(Value):
    """Something about one tool, or two, that a person may want to change."""

    kind: FindingKind
    tools: tuple[str, ...]
    """Names; of twins the one to keep comes first."""
    evidence: Mapping[str, float] = {}
    """Numbers by name; times in seconds or days."""
    proposal: Remedy = "none"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def words(self) -> str:
        """For people, without the first tool's name."""
        return _WORDS[self.kind].format(*self.tools, **self.evidence)


class LibraryHealth(Value):
    """The findings about the library, with their basis."""

    tools: int
    """Those that are not retired."""
    compared: int
    """Of these, tools that ran on the recorded inputs of others with such parameters."""
    unmeasured: int
    """Suites that no report has measured yet; each report measures some."""
    findings: tuple[HealthFinding, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def troubled(self) -> bool:
        """Whether a person may want to do something."""
        return any(finding.kind != "one_person" for finding in self.findings)


class HealthReports:
    """Used on the engine's loop. Nothing changes a tool."""

    def __init__(
        self,
        library: CapabilityRegistry,
        sandbox: Sandbox,
        sources: PinnedSources,
        synthesis: Callable[[], SynthesisEngine],
        *,
        journal: Journal,
        earlier_answers: EarlierAnswers,
        accounts: Callable[[], Sequence[ToolAccount]],
        least_score: Callable[[], float],
    ) -> None:
        """`synthesis` gives the one in use, `accounts` what all tools took and saved; `least_score`
        is the share of alterations, 0..1, that a suite should notice.
        """
        self._library, self._sandbox, self._sources = library, sandbox, sources
        self._synthesis, self._least_score = synthesis, least_score
        self._journal, self._earlier_answers = journal, earlier_answers
        self._accounts = accounts
        self._measured: dict[str, Alterations] = {}
        """By the tool's digest."""

    async def report(self, owner: str, days: int = STALE_DAYS) -> LibraryHealth:
        """The library as `owner` sees it: tools are compared on this person's recorded calls and on
        those of suites; what is counted is counted for all persons. A tool that nobody has used
        for so many `days` is stale.

        Raises: SandboxError.
        """
        uses = await asyncio.to_thread(self._journal.tool_uses)
        accounts = {a.tool: a for a in await asyncio.to_thread(self._accounts)}
        tools = [tool for tool in await self._library.tools() if tool.name in uses]
        tools = sorted((tool for tool in tools if tool.standing != "retired"), key=_worth)
        with owned_by(owner):
            # Of a tool that asks hosts, only recorded requests would be answered.
            runs = [await self._compared(owner, t, uses[t.name]) for t in tools if not t.network]
            pairs, compared = await twins(runs)
            unknown = [tool for tool in tools if self._strength(tool, uses[tool.name]) is None]
            for tool in unknown[:_MEASURED]:
                self._measured[tool.digest] = await self._synthesis().alterations(tool)
        findings = [
            HealthFinding(
                kind="twins",
                tools=(pair.first, pair.second),
                evidence={"inputs": pair.calls, "recorded": pair.recorded},
                proposal="merge",
            )
            for pair in pairs
        ]
        findings += [
            _finding(tool, "weak", "strengthen", **strength.model_dump())
            for tool in tools
            if (strength := self._strength(tool, uses[tool.name]))
            and strength.score < self._least_score()
        ]
        findings += _of_uses(tools, uses, days)
        useless = {finding.tools[0] for finding in findings if finding.proposal == "retire"}
        findings += _of_accounts([t for t in tools if t.name not in useless], accounts)
        return LibraryHealth(
            tools=len(tools),
            compared=compared,
            unmeasured=len(unknown[_MEASURED:]),
            findings=tuple(findings),
        )

    async def _compared(self, owner: str, tool: Tool, uses: ToolUses) -> Compared:
        job = tool.job(library=await self._sources.of(tool.requires))
        recorded = await self._earlier_answers.calls(owner, tool.name) if uses.calls else ()
        return await asyncio.to_thread(Compared, self._sandbox, tool, job, recorded)

    def _strength(self, tool: Tool, uses: ToolUses) -> Alterations | None:
        return uses.strength or self._measured.get(tool.digest)


def _worth(tool: Tool) -> tuple[bool, int, datetime]:
    """Of twins, the first in this order stays."""
    return tool.standing == "suspect", -tool.uses, tool.created_at


def _of_uses(
    tools: Sequence[Tool], uses: Mapping[str, ToolUses], days: int
) -> Iterator[HealthFinding]:
    times = {tool.name: uses[tool.name].seconds for tool in tools}
    medians = {name: median(seconds) for name, seconds in times.items() if seconds}
    usual, now = median(medians.values()) if medians else 0.0, datetime.now(UTC)
    for tool in tools:
        its, seconds = uses[tool.name], medians.get(tool.name, 0.0)
        calls = len(its.seconds)
        if tool.standing == "suspect":
            yield _finding(tool, "suspect")
        if calls >= _LEAST_CALLS and seconds >= max(_SLOW_SECONDS, _SLOW_FACTOR * usual):
            yield _finding(tool, "slow", "refactor", seconds=seconds, usual=usual, calls=calls)
        idle, age = (now - (its.used_at or tool.created_at)).days, (now - its.made_at).days
        if min(idle, age) >= days:
            kind: FindingKind = "stale" if tool.uses else "never_used"
            yield _finding(tool, kind, "retire", days=idle, version_days=age)
        if its.persons == 1 < its.all_persons:
            yield _finding(tool, "one_person", calls=its.calls)


def _of_accounts(
    tools: Sequence[Tool], accounts: Mapping[str, ToolAccount]
) -> Iterator[HealthFinding]:
    for tool in tools:
        its = accounts.get(tool.name)
        if its and its.pays is False and its.built:
            evidence = {"built": its.built.tokens, "saved": its.saved.tokens}
            yield _finding(tool, "unpaid", "retire", reuses=its.reuses, **evidence)


def _finding(
    tool: Tool, kind: FindingKind, proposal: Remedy = "none", **evidence: float
) -> HealthFinding:
    return HealthFinding(kind=kind, tools=(tool.name,), evidence=evidence, proposal=proposal)
