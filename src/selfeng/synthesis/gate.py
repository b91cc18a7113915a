"""The gate: what a suite and a module must show in the sandbox to be accepted; and the chain of all
checks, of which it is one.

A suite is red: every test fails on a stub that raises, none fails with the same error on all stubs
that return something, and the whole suite passes on no stub. Replays show later whether each test
looks at what the tool did. A module is green: it passes the whole suite. Both are run again in
other orders, a module with other hash seeds too, and must give the same results.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

from selfeng.core.background import together
from selfeng.core.composition import Importable
from selfeng.core.errors import SandboxFailed
from selfeng.core.events import SuiteRepeated, TestFinished
from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Signature
from selfeng.core.tool import ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import SandboxJob, TestOrder, TestResult, Verdict, Version
from selfeng.core.words import count
from selfeng.synthesis.before import Before, difference, failing
from selfeng.synthesis.checks import module_problem, suite_problem
from selfeng.synthesis.mutants import Strength, noticed_mutants, strength
from selfeng.synthesis.steps import SynthesisPolicy
from selfeng.synthesis.stubs import DISTINCT, NOT_WRITTEN, returning_stubs, stub

ORDERS: tuple[TestOrder, ...] = ("reversed", "shuffled")
"""Orders of the repeats, after a run in the given order."""
STUB_SECONDS = 4.0
"""Processor time of a run on a stub: a test that waits for the right value would use up the whole
time, which is three times as long.
"""

_WHY = {
    True: "It passes in the given order, so a call depends on earlier calls; keep no state "
    "between calls.",
    False: "It does not depend on the order alone, but on the hash seed (the order of sets), on "
    "chance or on time.",
}
"""The reason why a module is flaky, by whether the order decides."""

_ERROR = re.compile(r"^[A-Z]\w+: .*$", re.MULTILINE)
"""The error in a failed test's message."""

Against = Literal["stub", "implementation"]
Emit = Callable[[TestFinished | SuiteRepeated], object]


class Red(Value):
    """The result of a suite on stubs."""

    tests: int
    problem: str = ""
    """Why the suite is refused; "" if it is accepted."""


class Gate:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def red(self, signature: Signature, tests: str, emit: Emit, attempt: int = 1) -> Red:
        """Run a suite on stubs of the function, whose code does not exist yet.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        code, returning = stub(signature), returning_stubs(signature)
        versions = [
            *(Version(code=code, order=o, whole=True, apart=False) for o in ("given", *ORDERS)),
            *(
                Version(code=variant.code, whole=n < DISTINCT, apart=False)
                for n, variant in enumerate(returning)
            ),
        ]
        first, reverse, shuffled, *returned = await self._sandbox.verify_versions(
            SandboxJob(signature.function, tests=tests), versions, STUB_SECONDS
        )
        for result in first.tests:
            emit(TestFinished(against="stub", attempt=attempt, result=result))
        if not first.overdue:
            _check_times([reverse, shuffled, *returned])
        problem = _not_red(first)
        if not problem:
            differences = _repeated(emit, "stub", attempt, first, [reverse, shuffled])
            problem = (
                _flaky_suite(differences)
                or _hopeless([reverse, *returned[:DISTINCT]])
                or _passing(returned, [variant.does for variant in returning])
            )
        return Red(tests=len(first.tests), problem=problem)

    async def green(self, job: SandboxJob, emit: Emit, attempt: int = 1) -> Verdict:
        """Verify a module test by test, then as `repeated` does.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        first = await self.verify(job, emit, attempt)
        if not first.passed:
            return first
        return await self.repeated(job, emit, attempt, first=first)

    async def verify(self, job: SandboxJob, emit: Emit, attempt: int = 1) -> Verdict:
        """Verify a module once, test by test.

        Raises: SandboxUnavailable, SandboxFailed.
        """

        def on_test(result: TestResult) -> None:
            emit(TestFinished(against="implementation", attempt=attempt, result=result))

        return await self._sandbox.verify(job, on_test)

    async def repeated(
        self, job: SandboxJob, emit: Emit, attempt: int = 1, *, first: Verdict
    ) -> Verdict:
        """Run the suite again on a module that passed it, in other orders, and replay it with
        altered outcomes; a flaky module does not pass.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        versions = [Version(code=job.code, order=order, whole=True) for order in ORDERS]
        versions[0] = versions[0].model_copy(update={"replay": "quick"})
        again = await self._sandbox.verify_versions(job, versions)
        _check_times(again)
        _repeated(emit, "implementation", attempt, first, again)
        failed = next(
            (
                (order, verdict)
                for order, verdict in zip(ORDERS, again, strict=True)
                if not verdict.passed
            ),
            None,
        )
        if failed:
            return await self._flaky(job, *failed)
        return first.model_copy(update={"replay": again[0].replay})

    async def _flaky(self, job: SandboxJob, order: TestOrder, again: Verdict) -> Verdict:
        """The verdict on a module that passed at first; further runs tell whether the order
        decides.
        """
        versions = [
            Version(code=job.code, order=o, whole=True) for o in ("given", order, "given", order)
        ]
        default, ordered, default_again, ordered_again = await self._sandbox.verify_versions(
            job, versions
        )
        _check_times([default, ordered, default_again, ordered_again])
        drawn = order == "shuffled"  # another order each time, which may pass
        by_order = (
            default.passed
            and default_again.passed
            and (drawn or not (ordered.passed or ordered_again.passed))
        )
        failed = tuple(t for t in again.tests if t.outcome != "passed")
        what = again.problem or f"{', '.join(t.test for t in failed)} failed"
        problem = (
            f"flaky: every test passed at first, but run again in {order} order and with "
            f"another hash seed, {what}. {_WHY[by_order]}"
        )
        return Verdict(
            passed=False, tests=failed, problem=problem, output=again.output, seconds=again.seconds
        )


def steady_summary(verdict: Verdict) -> str:
    """A sentence for people about a module that is green."""
    return (
        f"{count(len(verdict.tests), 'test')} passed; in reversed and in shuffled order, with "
        "other hash seeds: the same."
    )


def summary(verdict: Verdict) -> str:
    """A few words for people about a module that is not green."""
    if verdict.problem:
        return verdict.problem
    failed = [t.test for t in verdict.tests if t.outcome != "passed"]
    return f"{len(failed)} of {count(len(verdict.tests), 'test')} failed: {', '.join(failed)}"


def _check_times(again: Iterable[Verdict]) -> None:
    """Raises: SandboxFailed: a repeat was only slower, which shows nothing about suite or code."""
    if slow := next((verdict for verdict in again if verdict.overdue), None):
        raise SandboxFailed(
            f"the tests ended at first, and took too long when they were run again: {slow.problem}",
            "end other programs, or raise DOCKER_TIMEOUT, and try again",
        )


def _not_red(first: Verdict) -> str:
    if first.problem:
        return f"the suite does not run: {first.problem}"
    idle = [t.test for t in first.tests if t.outcome == "passed"]
    return (
        f"these tests pass on an empty stub, so they test nothing: {', '.join(idle)}"
        if idle
        else ""
    )


def _difference(first: Verdict, again: Verdict) -> str:
    """The difference from the first run; "" if there is none."""
    if again.problem != first.problem:
        return (again.problem or "it ran to its end").rstrip(".")
    before, now = _passed(first), _passed(again)
    changes = [(sorted(now - before), "passed"), (sorted(before - now), "failed")]
    return ", ".join(f"{', '.join(names)} {how}" for names, how in changes if names)


def _repeated(
    emit: Emit, against: Against, attempt: int, first: Verdict, again: Sequence[Verdict]
) -> list[str]:
    """Report the results of the repeats; returns how each differs from the first run."""
    differences = [_difference(first, verdict) for verdict in again]
    for order, how in zip(ORDERS, differences, strict=True):
        emit(
            SuiteRepeated(
                against=against,
                attempt=attempt,
                order=order,
                same=not how,
                detail=how,
            )
        )
    return differences


def _flaky_suite(differences: Sequence[str]) -> str:
    return next(
        (
            f"the suite is flaky: on an empty stub it gave another result in another order: "
            f"{difference}; "
            "let no test depend on another one, on chance, on time or on the order of sets"
            for difference in differences
            if difference
        ),
        "",
    )


def _hopeless(verdicts: Sequence[Verdict]) -> str:
    """Why some tests can't pass whatever the function does, "" if all can: each fails with the same
    error on a function that raises, which comes first, and on all that return something.
    """
    if any(verdict.problem for verdict in verdicts):
        return ""
    messages = [{t.test: t.message for t in verdict.tests} for verdict in verdicts]
    causes = {
        test: cause[0]
        for test, message in messages[0].items()
        if (cause := _ERROR.search(message))
        and NOT_WRITTEN not in message
        and all(messages_of_run.get(test) == message for messages_of_run in messages)
    }
    return (
        "no code can pass these tests, as they fail before they use what the function gives: "
        + "; ".join(f"{test} ({cause})" for test, cause in causes.items())
        if causes
        else ""
    )


def _passing(verdicts: Sequence[Verdict], does: Sequence[str]) -> str:
    """Why the suite accepts one of several functions, "" if it accepts none."""
    passed = next(
        (what for verdict, what in zip(verdicts, does, strict=True) if verdict.passed), ""
    )
    return (
        f"the suite passes on a function that {passed}, so it compares nothing with a value"
        if passed
        else ""
    )


def _passed(verdict: Verdict) -> set[str]:
    return {t.test for t in verdict.tests if t.outcome == "passed"}


Link = Literal["policy", "red", "green", "comparison", "mutation"]
SURVIVORS = 3
"""Maximum number of mutants named when a suite notices too few."""


class Judgement(Value):
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
    """The checks, link by link, that every suite and module must pass, whatever their origin:
    policy, red on stubs, green in every order, comparison with the previous version, mutants.

    Synthesis runs the links one by one, because the model writes between them; `judge` runs them
    all on existing code: an edit by hand, a seed, a mended tool, or one with changed imports. The
    caller decides what follows from a refusal.
    """

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
        if problem := await asyncio.to_thread(
            module_problem, draft.code, draft.signature, tools, draft.lock
        ):
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
        job, gate = draft.job(tests=draft.tests, library=library or {}), self.gate
        verdict = await gate.verify(job, emit)
        if not verdict.passed:
            return Judgement(link="green", problem=summary(verdict), verdict=verdict)
        score, seconds = self._policy.mutation_score, verdict.seconds
        verdict, mutated = await together(
            gate.repeated(job, emit, first=verdict),
            noticed_mutants(self._sandbox, job, least_score=score, seconds=seconds),
        )
        if not verdict.passed:
            return Judgement(link="green", problem=summary(verdict), verdict=verdict)
        if problem := await self.comparison(draft.signature, job, before):
            return Judgement(link="comparison", problem=problem, verdict=verdict)
        noticed = await self.strength(job, verdict, mutated)
        if problem := self.weakness(noticed):
            return Judgement(link="mutation", problem=problem, verdict=verdict)
        verdict = verdict.model_copy(update={"strength": noticed.alterations})
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
        self, job: SandboxJob, green: Verdict | None = None, mutated: Strength | None = None
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
