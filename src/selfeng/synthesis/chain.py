"""The chain: the checks, link by link, that every suite and module must pass, whatever their
origin.

Policy, red on stubs, green in every order, comparison with the previous version, mutants. Synthesis
runs the links one by one, because the model writes between them; `judge` runs them all on existing
code: an edit by hand, a seed, a mended tool, or one with changed imports. The caller decides what
follows from a refusal.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Literal

from selfeng.core.composition import Importable
from selfeng.core.events import SuiteRepeated, TestFinished
from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Signature
from selfeng.core.tool import ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import SandboxJob, Verdict
from selfeng.core.words import count
from selfeng.synthesis.before import Before, difference, failing
from selfeng.synthesis.checks import module_problem, suite_problem
from selfeng.synthesis.gate import Gate, steady_summary, summary
from selfeng.synthesis.mutants import Strength, noticed_mutants, strength
from selfeng.synthesis.policy import SynthesisPolicy

Link = Literal["policy", "red", "green", "comparison", "mutation"]
SURVIVORS = 3
"""Maximum number of mutants named when a suite notices too few."""


class Judgement(Value):
    """How far a tool got."""

    link: Link | None = None
    """The link that refused it; None if it passed them all."""
    problem: str = ""
    verdict: Verdict | None = None
    """The verdict on the module, if it got that far."""
    summary: str = ""
    """A summary of what it passed, for people."""

    @property
    def passed(self) -> bool:
        return self.link is None


class Chain:
    def __init__(self, sandbox: Sandbox, policy: SynthesisPolicy) -> None:
        self._sandbox, self._policy, self.gate = sandbox, policy, Gate(sandbox)

    async def judge(
        self,
        draft: ToolDraft,
        tools: Importable,
        emit: Callable[[TestFinished | SuiteRepeated], object] = lambda _: None,
        *,
        before: Before | None = None,
        library: Mapping[str, str] | None = None,
    ) -> Judgement:
        """Run every link on a tool; the suite runs on stubs while the module is verified. `tools`
        are those that it may import, `library` their sources if not the newest.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        if problem := await asyncio.to_thread(module_problem, draft.code, draft.signature, tools):
            return Judgement(link="policy", problem=problem)
        module = asyncio.create_task(self._module(draft, emit, before, library))
        try:
            return await self.suite_problem(draft.signature, draft.tests) or await module
        finally:
            module.cancel()
            await asyncio.wait([module])

    async def _module(
        self,
        draft: ToolDraft,
        emit: Callable[[TestFinished | SuiteRepeated], object],
        before: Before | None,
        library: Mapping[str, str] | None,
    ) -> Judgement:
        """The links after red; mutants run while the suite is repeated and replayed."""
        job, gate = SandboxJob(draft.name, draft.code, draft.tests, library or {}), self.gate
        verdict = await gate.verify(job, emit)
        if not verdict.passed:
            return Judgement(link="green", problem=summary(verdict), verdict=verdict)
        try:
            async with asyncio.TaskGroup() as group:
                repeats = group.create_task(gate.repeated(job, emit, first=verdict))
                mutants = group.create_task(
                    noticed_mutants(
                        self._sandbox,
                        job,
                        least_score=self._policy.mutation_score,
                        seconds=verdict.seconds,
                    )
                )
        except ExceptionGroup as several:
            raise several.exceptions[0] from None
        verdict = repeats.result()
        if not verdict.passed:
            return Judgement(link="green", problem=summary(verdict), verdict=verdict)
        if problem := await self.comparison(draft.signature, job, before):
            return Judgement(link="comparison", problem=problem, verdict=verdict)
        noticed = await self.strength(job, verdict, mutants.result())
        if problem := self.weakness(noticed):
            return Judgement(link="mutation", problem=problem, verdict=verdict)
        sentences = [steady_summary(verdict), noticed.summary]
        sentences += [f"{gap[:1].upper()}{gap[1:]}." for gap in noticed.replay.gaps]
        return Judgement(verdict=verdict, summary=" ".join(filter(None, sentences)))

    async def suite_problem(self, signature: Signature, tests: str) -> Judgement | None:
        """Why a suite is refused, whatever the module is; None if it is accepted.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        if problem := await asyncio.to_thread(suite_problem, tests, signature.function):
            return Judgement(link="policy", problem=problem)
        red = await self.gate.red(signature, tests, lambda _: None)
        return Judgement(link="red", problem=red.problem) if red.problem else None

    async def failing_before(
        self, name: str, tests: str, before: Before, selection: Collection[str] | None = None
    ) -> str:
        """The first of the tests `selection`, by default all, that fails on the previous version,
        and how; "" if none does.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        return await failing(self._sandbox, name, tests, before, selection)

    async def comparison(self, signature: Signature, job: SandboxJob, before: Before | None) -> str:
        """The previous version's objection to a module that passes the suite; "" if there is none.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        if before is None:
            return ""
        return await difference(self._sandbox, before, signature, job)

    async def strength(
        self, job: SandboxJob, green: Verdict, mutated: Strength | None = None
    ) -> Strength:
        """How much the suite notices of code on which the verdict is green; no mutants are made if
        the policy disables them. `mutated` is what mutants have shown already.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        return await strength(
            self._sandbox,
            job,
            least_score=self._policy.mutation_score,
            green=green,
            mutated=mutated,
        )

    def weakness(self, measured: Strength) -> str:
        """Why a suite does not prove enough, for people; "" if it does."""
        if measured.problem or measured.replay.refused:
            reasons = [reason for _, reason in measured.replay.refused]
            return measured.problem or "; ".join(reasons[:SURVIVORS])
        if measured.score >= self._policy.mutation_score:
            return ""
        if not measured.mutants:
            return (
                f"the tests notice only {measured.replay.noticed} of "
                f"{count(measured.replay.tried, 'altered outcome')}, so they would accept wrong "
                "outcomes too; compare whole outcomes with literals"
            )
        changes = "; ".join(mutant.change for mutant in measured.survivors[:SURVIVORS])
        return (
            f"the tests notice only {measured.killed} of {count(measured.mutants, 'mutant')}, so "
            f"they would accept wrong code too; not noticed: {changes}; add tests that fail on "
            "these"
        )
