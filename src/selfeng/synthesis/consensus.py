"""Consensus: what several candidates, written independently from one specification, tell about its tests and about each other.

A test that most candidates fail is more likely wrong than they all are, so it goes; the person's own examples always stay, and so do
the tests of the version before. Of the candidates that pass what is left, one that returns other values than most of the others, or
takes much longer, is refuted.
After CodeT (Chen et al. 2022), with votes in place of its products of counts; docs/synthesis.md has the measurements.
"""

import asyncio
from collections.abc import Collection, Sequence

from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Signature
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict, Version
from selfeng.core.words import count
from selfeng.synthesis.examples import PREFIX
from selfeng.synthesis.inputs import Arguments, calls_in, mutations
from selfeng.synthesis.probe import SAYS, Outcome, probe, same, shown_call
from selfeng.synthesis.suite.editing import apart, without

INPUTS = 200
"""Mutated inputs on which candidates are compared, beside the calls of examples and tests."""
LEAST_JURY = 2
"""Others that must have passed the tests before they can refute a candidate."""
SECONDS = 10.0
"""Time limit of one candidate's run of the suite."""


class Candidate(Value):
    """An implementation, and how often it was drawn."""

    code: str
    draws: int = 1


class Difference(Value):
    """An input on which a candidate does otherwise than most of the others."""

    call: str
    """Python source."""
    others: str
    """What most of the others return, as `repr`."""
    own: str
    """What the candidate does, for people."""


class Report(Value):
    """How one candidate did."""

    code: str
    draws: int
    passed: int
    """Tests, of those that were kept."""
    failed: tuple[str, ...] = ()
    problem: str | None = None
    """Why it did not run to the end of the suite."""
    refuted: Difference | None = None

    @property
    def right(self) -> bool:
        """As far as all this can tell."""
        return not (self.failed or self.problem or self.refuted)


class Dropped(Value):
    """A test that the candidates refute."""

    test: str
    against: int
    """Candidates that fail it, each counted as often as it was drawn."""
    of: int
    message: str
    """Why the first of them fails it."""


class Consensus(Value):
    tests: str
    """The suite that is left."""
    kept: int
    dropped: tuple[Dropped, ...]
    reports: tuple[Report, ...]
    inputs: int
    """On which candidates were compared."""
    open_question: Difference | None = None
    """Where two candidates that passed differ, and there is no majority."""

    @property
    def chosen(self) -> Report | None:
        """The right candidate that was drawn most often, the first of several."""
        return max((r for r in self.reports if r.right), key=lambda r: r.draws, default=None)

    @property
    def nearest(self) -> Report:
        """The candidate to go on from: the right one, else the one that passed most."""
        return self.chosen or max(self.reports, key=lambda r: r.passed)

    def summary(self) -> str:
        """In a sentence or two for people."""
        right = sum(r.draws for r in self.reports if r.right)
        drawn = sum(r.draws for r in self.reports)
        parts = [f"{right} of {count(drawn, 'candidate')} passed the {count(self.kept, 'test')}"]
        refuted = sum(r.refuted is not None for r in self.reports)
        if self.inputs:
            parts[0] += f" and agreed on {count(self.inputs, 'input')}"
        if refuted:
            parts.append(f"{count(refuted, 'candidate')} returned other values than most")
        if self.dropped:
            parts.append(f"dropped, as most candidates refute them: {', '.join(d.test for d in self.dropped)}")
        return "; ".join(parts) + "."


def distinct(codes: Sequence[str]) -> tuple[Candidate, ...]:
    """Each code once, in the order of its first draw."""
    return tuple(Candidate(code=code, draws=list(codes).count(code)) for code in dict.fromkeys(codes))


async def agree(
    sandbox: Sandbox,
    signature: Signature,
    candidates: Sequence[Candidate],
    tests: str,
    examples: Sequence[Arguments] = (),
    *,
    frozen: Collection[str] = (),
) -> Consensus:
    """Let candidates vote on the tests but the `frozen` ones, and compare those that pass; `examples` are further inputs.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    name = signature.function
    verdicts = await _run(sandbox, name, candidates, tests)
    split = apart(tests, name, [d.test for d in _refuted(candidates, verdicts, frozen)])
    if split != tests:
        tests, verdicts = split, await _run(sandbox, name, candidates, split)
    dropped = _refuted(candidates, verdicts, frozen)
    gone = {d.test for d in dropped}
    left = without(tests, name, gone) if gone else tests
    reports = [_report(c, v, gone) for c, v in zip(candidates, verdicts, strict=True)]
    kept = max((len([t for t in v.tests if t.test not in gone]) for v in verdicts), default=0)
    passing = [n for n, report in enumerate(reports) if report.right]
    inputs = _inputs(signature, tests, examples) if len(passing) > 1 else []
    found = await asyncio.gather(*(probe(sandbox, candidates[n].code, name, inputs) for n in passing)) if inputs else []
    ran = {n: outcomes for n, outcomes in zip(passing, found, strict=False) if outcomes is not None}
    shown = _Shown(name, inputs)
    for n, outcomes in ran.items():
        others = [(o, candidates[m].draws) for m, o in ran.items() if m != n]
        if candidates[n].draws > 1:
            others.append((outcomes, candidates[n].draws - 1))
        difference = _difference(outcomes, others, shown)
        reports[n] = reports[n].model_copy(update={"refuted": difference})
    left_over = [ran[n] for n in ran if reports[n].right]
    return Consensus(
        tests=left,
        kept=kept,
        dropped=tuple(dropped),
        reports=tuple(reports),
        inputs=len(inputs),
        open_question=next((d for other in left_over[1:] if (d := _first_difference(other, left_over[0], shown))), None),
    )


async def against(
    sandbox: Sandbox, signature: Signature, code: str, others: Sequence[Candidate], *, tests: str, examples: Sequence[Arguments] = ()
) -> Difference | None:
    """Where a module that passes the tests differs from most of the candidates that passed them before.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    if sum(other.draws for other in others) < LEAST_JURY:
        return None
    inputs = _inputs(signature, tests, examples)
    own, *rest = await asyncio.gather(*(probe(sandbox, c, signature.function, inputs) for c in (code, *(o.code for o in others))))
    ran = [(outcomes, other.draws) for outcomes, other in zip(rest, others, strict=True) if outcomes is not None]
    return _difference(own, ran, _Shown(signature.function, inputs)) if own else None


def _inputs(signature: Signature, tests: str, examples: Sequence[Arguments]) -> list[Arguments]:
    calls = list({repr(i): i for i in (*examples, *calls_in(tests, signature))}.values())
    return [*calls, *mutations(calls, INPUTS)]


async def _run(sandbox: Sandbox, name: str, candidates: Sequence[Candidate], tests: str) -> tuple[Verdict, ...]:
    versions = [Version(code=c.code, whole=True, apart=False) for c in candidates]
    return await sandbox.verify_versions(name, versions, tests, SECONDS)


def _refuted(candidates: Sequence[Candidate], verdicts: Sequence[Verdict], frozen: Collection[str]) -> list[Dropped]:
    """The tests that most of the votes are against, if they come from different candidates; each votes where it ran."""
    ballots: dict[str, list[tuple[Candidate, bool, str]]] = {}
    for candidate, verdict in zip(candidates, verdicts, strict=True):
        for test in verdict.tests:
            ballots.setdefault(test.test, []).append((candidate, test.outcome == "passed", test.message))
    found = []
    for name, votes in ballots.items():
        against = [(candidate, message) for candidate, passed, message in votes if not passed]
        draws, of = sum(c.draws for c, _ in against), sum(c.draws for c, *_ in votes)
        if draws * 2 > of and len(against) > 1 and not (name.startswith(PREFIX) or name.partition("[")[0] in frozen):
            found.append(Dropped(test=name, against=draws, of=of, message=against[0][1]))
    return found


def _report(candidate: Candidate, verdict: Verdict, gone: set[str]) -> Report:
    counted = [t for t in verdict.tests if t.test not in gone]
    failed = tuple(t.test for t in counted if t.outcome != "passed")
    return Report(code=candidate.code, draws=candidate.draws, passed=len(counted) - len(failed), failed=failed, problem=verdict.problem)


class _Shown:
    """Differences for people."""

    def __init__(self, name: str, inputs: Sequence[Arguments]) -> None:
        self._name, self._inputs = name, inputs

    def __call__(self, number: int, own: Outcome, others: Outcome) -> Difference:
        call = shown_call(self._name, self._inputs[number])
        return Difference(call=call, others=others.text, own=SAYS[own.kind](own.text))


def _difference(own: Sequence[Outcome], others: Sequence[tuple[Sequence[Outcome], int]], shown: _Shown) -> Difference | None:
    """The first input on which most of the others return one value and this candidate another, or on which it alone is slow.

    What raises is left aside: it may be that the input is not one that the function is meant for.
    """
    jury = sum(draws for _, draws in others)
    if jury < LEAST_JURY:
        return None
    for number, outcome in enumerate(own):
        if outcome.kind == "raised":
            continue
        groups: list[tuple[Outcome, int]] = []
        for outcomes, draws in others:
            other = outcomes[number]
            if other.kind == "returned":
                at = next((g for g, (first, _) in enumerate(groups) if same(first, other)), None)
                if at is None:
                    groups.append((other, draws))
                else:
                    groups[at] = groups[at][0], groups[at][1] + draws
        most, votes = max(groups, key=lambda g: g[1], default=(outcome, 0))
        enough = votes * 2 >= jury if outcome.kind == "slow" else votes * 2 > jury
        if enough and not same(outcome, most):
            return shown(number, outcome, most)
    return None


def _first_difference(own: Sequence[Outcome], other: Sequence[Outcome], shown: _Shown) -> Difference | None:
    for number, (one, two) in enumerate(zip(own, other, strict=True)):
        if one.kind == two.kind == "returned" and not same(one, two):
            return shown(number, one, two)
    return None
