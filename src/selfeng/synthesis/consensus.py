"""Consensus: what several candidates, written independently from one specification, show about its
tests and about each other.

A test that most candidates fail is more likely wrong than all of them, so it is dropped; the
person's own examples and the tests of the previous version always stay. Among the candidates that
pass the rest, one is refuted if it takes much longer than most of the others, or returns other
values than they do and they are different codes. After CodeT (Chen et al. 2022), with votes in
place of its products of counts; docs/synthesis.md has the measurements.
"""

import asyncio
from collections.abc import Collection, Sequence

from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Signature
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict, Version
from selfeng.core.words import count
from selfeng.synthesis.boundaries import boundaries, is_unusual
from selfeng.synthesis.examples import PREFIX
from selfeng.synthesis.inputs import Arguments, calls_in, kinds_of, mutations
from selfeng.synthesis.probe import SAYS, SECONDS_A_CALL, CallOutcome, probe, same, shown_call
from selfeng.synthesis.suite.editing import apart, without

INPUTS = 200
"""Mutated inputs on which candidates are compared, besides the calls of examples and tests."""
LEAST_JURY = 2
"""Number of others that must have passed the tests before they can refute a candidate."""
QUICKER = 10
"""How many times quicker than a slow call a call must be to speak against it."""
SECONDS = 10.0
"""Time limit of one candidate's run of the suite."""


class ComparisonRule(Value):
    """How many different codes refute a value; copies of one mistake count once. Chosen by
    `make bench-verdicts`.
    """

    codes: int = 2
    unusual: int | None = 3
    """The same on an unusual input; None: no number of codes does."""


RULE = ComparisonRule()


class DrawnCode(Value):
    """An implementation, and how often it was drawn."""

    code: str
    draws: int = 1


class Difference(Value):
    """An input on which a candidate differs from most of the others."""

    call: str
    """Python source."""
    others: str
    """What most of the others return, as `repr`."""
    own: str
    """What the candidate does, for people."""


class Report(Value):
    """The result of one candidate."""

    code: str
    draws: int
    passed: int
    """Number of kept tests that it passed."""
    failed: tuple[str, ...] = ()
    problem: str | None = None
    """Why it did not run to the end of the suite."""
    refuted: Difference | None = None

    @property
    def right(self) -> bool:
        """Whether it is right, as far as tests and comparison can tell."""
        return not (self.failed or self.problem or self.refuted)


class Dropped(Value):
    """A test that the candidates refute."""

    test: str
    against: int
    """Number of candidates that fail it, each counted as often as it was drawn."""
    of: int
    message: str
    """Why the first of them fails it."""


class Consensus(Value):
    tests: str
    """The remaining suite."""
    kept: int
    dropped: tuple[Dropped, ...]
    reports: tuple[Report, ...]
    inputs: int
    """Number of inputs on which candidates were compared."""
    open_question: Difference | None = None
    """Where two candidates that passed differ, and there is no majority."""

    @property
    def chosen(self) -> Report | None:
        """The right candidate that was drawn most often, the first of several."""
        return max((r for r in self.reports if r.right), key=lambda r: r.draws, default=None)

    @property
    def nearest(self) -> Report:
        """The candidate to continue with: the right one, else the one that passed most."""
        return self.chosen or max(self.reports, key=lambda r: r.passed)

    def summary(self) -> str:
        """A summary for people, in a sentence or two."""
        right = sum(r.draws for r in self.reports if r.right)
        drawn = sum(r.draws for r in self.reports)
        parts = [f"{right} of {count(drawn, 'candidate')} passed the {count(self.kept, 'test')}"]
        refuted = sum(r.refuted is not None for r in self.reports)
        if self.inputs:
            parts[0] += f" and agreed on {count(self.inputs, 'input')}"
        if refuted:
            parts.append(f"{count(refuted, 'candidate')} returned other values than most")
        if self.dropped:
            parts.append(
                "dropped, as most candidates refute them: "
                f"{', '.join(d.test for d in self.dropped)}"
            )
        return "; ".join(parts) + "."


def distinct(codes: Sequence[str]) -> tuple[DrawnCode, ...]:
    """Each code once, in the order of its first draw."""
    return tuple(
        DrawnCode(code=code, draws=list(codes).count(code)) for code in dict.fromkeys(codes)
    )


async def agree(
    sandbox: Sandbox,
    signature: Signature,
    candidates: Sequence[DrawnCode],
    tests: str,
    examples: Sequence[Arguments] = (),
    *,
    frozen: Collection[str] = (),
) -> Consensus:
    """Let candidates vote on the tests except the `frozen` ones, and compare those that pass;
    `examples` are further inputs.

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
    inputs = Inputs(signature, tests, examples)
    compared = passing if len(passing) > 1 and inputs.all else []
    found = await asyncio.gather(
        *(probe(sandbox, candidates[n].code, name, inputs.all) for n in compared)
    )
    ran = {n: outcomes for n, outcomes in zip(compared, found, strict=True) if outcomes is not None}
    for n, outcomes in ran.items():
        others = [(o, candidates[m].draws) for m, o in ran.items() if m != n]
        if candidates[n].draws > 1:
            others.append((outcomes, candidates[n].draws - 1))
        reports[n] = reports[n].model_copy(update={"refuted": difference(outcomes, others, inputs)})
    left_over = [ran[n] for n in ran if reports[n].right]
    return Consensus(
        tests=left,
        kept=kept,
        dropped=tuple(dropped),
        reports=tuple(reports),
        inputs=len(inputs.all) if compared else 0,
        open_question=next(
            (d for other in left_over[1:] if (d := _first_difference(other, left_over[0], inputs))),
            None,
        ),
    )


async def against(
    sandbox: Sandbox,
    signature: Signature,
    code: str,
    others: Sequence[DrawnCode],
    *,
    tests: str,
    examples: Sequence[Arguments] = (),
) -> Difference | None:
    """Where a module that passes the tests differs from most of the candidates that passed them
    before.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    if sum(other.draws for other in others) < LEAST_JURY:
        return None
    inputs = Inputs(signature, tests, examples)
    own, *rest = await asyncio.gather(
        *(
            probe(sandbox, c, signature.function, inputs.all)
            for c in (code, *(o.code for o in others))
        )
    )
    ran = [
        (outcomes, other.draws)
        for outcomes, other in zip(rest, others, strict=True)
        if outcomes is not None
    ]
    return difference(own, ran, inputs) if own else None


async def _run(
    sandbox: Sandbox, name: str, candidates: Sequence[DrawnCode], tests: str
) -> tuple[Verdict, ...]:
    versions = [Version(code=c.code, whole=True, apart=False) for c in candidates]
    return await sandbox.verify_versions(name, versions, tests, SECONDS)


def _refuted(
    candidates: Sequence[DrawnCode], verdicts: Sequence[Verdict], frozen: Collection[str]
) -> list[Dropped]:
    """The tests that most votes are against, if these come from different candidates; a candidate
    votes only on tests that it ran.
    """
    ballots: dict[str, list[tuple[DrawnCode, bool, str]]] = {}
    for candidate, verdict in zip(candidates, verdicts, strict=True):
        for test in verdict.tests:
            ballots.setdefault(test.test, []).append(
                (candidate, test.outcome == "passed", test.message)
            )
    found = []
    for name, votes in ballots.items():
        against = [(candidate, message) for candidate, passed, message in votes if not passed]
        draws, of = sum(c.draws for c, _ in against), sum(c.draws for c, *_ in votes)
        if (
            draws * 2 > of
            and len(against) > 1
            and not (name.startswith(PREFIX) or name.partition("[")[0] in frozen)
        ):
            found.append(Dropped(test=name, against=draws, of=of, message=against[0][1]))
    return found


def _report(candidate: DrawnCode, verdict: Verdict, gone: set[str]) -> Report:
    counted = [t for t in verdict.tests if t.test not in gone]
    failed = tuple(t.test for t in counted if t.outcome != "passed")
    return Report(
        code=candidate.code,
        draws=candidate.draws,
        passed=len(counted) - len(failed),
        failed=failed,
        problem=verdict.problem,
    )


class Inputs:
    """The inputs of the candidates: the calls of examples and tests, mutations of them, and
    boundary values.
    """

    def __init__(self, signature: Signature, tests: str, examples: Sequence[Arguments]) -> None:
        calls = list({repr(i): i for i in (*examples, *calls_in(tests, signature))}.values())
        varied = (*calls, *mutations(calls, INPUTS), *boundaries(calls))
        self.all = list({repr(one): one for one in varied}.values())
        kinds = kinds_of(calls)
        self.unusual = [is_unusual(one, kinds) for one in self.all]
        self._name = signature.function

    def shown(self, number: int, own: CallOutcome, others: CallOutcome) -> Difference:
        """A difference for people."""
        return Difference(
            call=shown_call(self._name, self.all[number]),
            others=others.text,
            own=SAYS[own.kind](own.text),
        )


def difference(
    own: Sequence[CallOutcome],
    others: Sequence[tuple[Sequence[CallOutcome], int]],
    inputs: Inputs,
    rule: ComparisonRule = RULE,
) -> Difference | None:
    """The first input on which the witnesses return one value and this candidate another, or on
    which it is slow and they are not.

    The witnesses of a value are most of the others, or all of them if the input is unusual, and
    different codes. If one of the others raises, there are no witnesses: the function may not be
    meant for that input. A call that was not reached says nothing.
    """
    for number, outcome in enumerate(own):
        given = [
            (one, draws)
            for outcomes, draws in others
            if (one := outcomes[number]).is_answer or one.kind == "raised"
        ]
        jury = sum(draws for _, draws in given)
        if jury < LEAST_JURY or not outcome.is_answer:
            continue
        most, votes, codes = _most(given)
        if outcome.kind == "slow":
            quick = [(o, draws) for o, draws in given if o.seconds * QUICKER < SECONDS_A_CALL]
            enough = sum(draws for _, draws in quick) * 2 > jury
            most = quick[0][0] if enough else most
        elif any(one.kind == "raised" for one, _ in given):
            enough = False
        elif inputs.unusual[number]:
            enough = rule.unusual is not None and votes == jury and codes >= rule.unusual
        else:
            enough = votes * 2 > jury and codes >= rule.codes
        if enough and not same(outcome, most):
            return inputs.shown(number, outcome, most)
    return None


def _most(given: Sequence[tuple[CallOutcome, int]]) -> tuple[CallOutcome, int, int]:
    """The value that is returned most often, with the number of draws and of codes that return
    it.
    """
    returned = [(other, draws) for other, draws in given if other.kind == "returned"]
    most = max(
        ([(o, draws) for o, draws in returned if same(one, o)] for one, _ in returned),
        key=lambda group: sum(draws for _, draws in group),
        default=[(CallOutcome(kind="slow"), 0)],
    )
    return most[0][0], sum(draws for _, draws in most), len(most)


def _first_difference(
    own: Sequence[CallOutcome], other: Sequence[CallOutcome], inputs: Inputs
) -> Difference | None:
    return next(
        (
            inputs.shown(number, one, two)
            for number, (one, two) in enumerate(zip(own, other, strict=True))
            if one.kind == two.kind == "returned"
            and not same(one, two)
            and not inputs.unusual[number]
        ),
        None,
    )
