"""Consensus: what several candidates, written independently from one specification, show about its
tests and about each other.

A test that most candidates fail is more likely wrong than all of them, so it is dropped; the
person's own examples and the tests of the previous version always stay. Among the candidates that
pass the rest, one is refuted if it takes much longer than most of the others, or returns other
values than they do and they are different codes. After CodeT (Chen et al. 2022), with votes in
place of its products of counts; `make bench-verdicts` has the measurements.

Candidates are also compared on boundary values: the extremes of the types of a call's arguments,
one at a time, and the least of all arguments at once. They stay within what the calls show, as
mutations do, except that zero and empty values are always tried; `is_unusual` recognises those.
"""

import ast
import asyncio
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Signature
from selfeng.core.value import Value
from selfeng.core.verdict import SandboxJob, Verdict, Version
from selfeng.core.words import count
from selfeng.synthesis.examples import PREFIX
from selfeng.synthesis.inputs import LARGEST, Arguments, ValueKind, calls_in, kinds_of, mutations
from selfeng.synthesis.probe import SAYS, SECONDS_A_CALL, CallOutcome, probe, same, shown_call
from selfeng.synthesis.suite.editing import apart, without

_CALLS = 5
"""Number of calls with arguments to vary."""
_MOST = 400
"""Maximum number of inputs with one boundary value; half as many have several."""
_LEAST = 4
"""Number of boundary values of each argument to combine."""
_LADDER = sorted(
    {*range(13), *(b**k + d for b in (2, 10) for k in range(1, 14) for d in (-1, 0, 1))}
)
"""Small integers, and the powers of two and of ten with their neighbours."""
_INTEGERS = [n for n in _LADDER if n <= 10_001]
_LENGTHS = [n for n in _LADDER if 1 < n <= 513]
_CHARACTERS = 12
_ELEMENTS = 40


def boundaries(calls: Sequence[Arguments]) -> list[Arguments]:
    """Inputs without duplicates, the same ones for the same calls."""
    kinds, varied, chance = kinds_of(calls), calls[:_CALLS], random.Random(0)
    ends = {
        name: list(
            {
                repr(end): end
                for call in varied
                if name in call
                for end in _ends(call[name], kind, chance)
                if kind.shows(end)
            }.values()
        )
        for name, kind in kinds.items()
    }
    single = [
        {**chance.choice(varied), name: end} for name, values in ends.items() for end in values
    ]
    several = [
        {name: chance.choice(ends[name][:_LEAST] or [value]) for name, value in call.items()}
        for call in chance.choices(varied, k=_MOST // 2 if any(varied) else 0)
    ]
    inputs = (*chance.sample(single, min(_MOST, len(single))), *several)
    return list({text: call for call in inputs if len(text := repr(call)) <= LARGEST}.values())


def is_unusual(arguments: Arguments, kinds: Mapping[str, ValueKind]) -> bool:
    """Whether an argument has a zero or something empty where no call has any."""
    return any(kinds[name].lacks(value) for name, value in arguments.items())


def _ends(value: Any, kind: ValueKind, chance: random.Random) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int() | float():
            beyond = (int(by * min(kind.largest, _LADDER[-1])) for by in (2, 10))
            signed = [sign * n for n in (*_INTEGERS, *beyond) for sign in (1, -1)]
            yield from (
                signed if isinstance(value, int) else (n / by for n in signed for by in (1, 2, 100))
            )
        case str():
            yield from ("", value[::-1], value[1:], value[:-1])
            yield from (n * c for c in kind.alphabet[:_CHARACTERS] for n in (1, 2, 5))
            yield from ((value * n)[:n] for n in _LENGTHS if value)
        case list() | tuple():
            ends = _lists(list(value), kind, chance)
            yield from (type(value)(sorted(items) if kind.ordered else items) for items in ends)
        case set():
            yield set()
        case dict():
            yield {}
            for key, inner in list(value.items())[:2]:
                yield {key: inner}
                yield from ({**value, key: end} for end in _ends(inner, kind, chance))


def _lists(items: list[Any], kind: ValueKind, chance: random.Random) -> Iterator[list[Any]]:
    yield from ([], items[::-1], items[1:], items[:-1])
    yield from ((items * n)[:n] for n in _LENGTHS if items)
    items = items or list(kind.elements[:1])
    for first in items[:1]:
        ends = list(_ends(first, kind, chance))
        for end in (first, *chance.sample(ends, min(_ELEMENTS, len(ends)))):
            place = chance.randrange(len(items) + 1)
            yield from ([end], [end] * chance.choice((2, 3, 5)))
            yield from ([*items[:place], end, *items[place + n :]] for n in (0, 1))


INPUTS = 200
"""Mutated inputs on which candidates are compared, besides the calls of examples and tests."""
LEAST_JURY = 2
"""Number of others that must have passed the tests before they can refute a candidate."""
QUICKER = 10
"""How many times quicker than a slow call a call must be to speak against it."""
SECONDS = 10.0
"""Time limit of one candidate's run of the suite."""
WITNESSES = 2
"""The most candidates that a version keeps in addition to its own code."""


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
    """The value that most of the others return, as `repr`."""
    own: str
    """The candidate's own outcome, in words for people."""


class Report(Value):
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
    kept: int
    dropped: tuple[Dropped, ...]
    reports: tuple[Report, ...]
    inputs: int
    """Number of inputs on which candidates were compared."""
    open_question: Difference | None = None
    """Where two candidates that passed differ, and there is no majority."""

    @property
    def winner(self) -> Report | None:
        """The right candidate that was drawn most often, the first of several."""
        return max((r for r in self.reports if r.right), key=lambda r: r.draws, default=None)

    @property
    def right(self) -> list[DrawnCode]:
        """The candidates that are right, as far as tests and comparison can tell."""
        return [DrawnCode(code=r.code, draws=r.draws) for r in self.reports if r.right]

    @property
    def nearest(self) -> Report:
        """The candidate to continue with: the right one, else the one that passed most."""
        return self.winner or max(self.reports, key=lambda r: r.passed)

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


def kept_witnesses(code: str, others: Sequence[DrawnCode]) -> tuple[str, ...]:
    """Those of the candidates that are kept in addition to the registered code: those that differ
    from it, and from each other, in more than comments and docstrings, the most different first.
    """
    kept = [_plain(code)]
    rest = {_plain(other.code): other.code for other in others}
    chosen: list[str] = []
    while len(chosen) < WITNESSES and (left := [text for text in rest if text not in kept]):
        kept.append(
            min(
                left,
                key=lambda text: max(
                    SequenceMatcher(None, text, one, autojunk=False).ratio() for one in kept
                ),
            )
        )
        chosen.append(rest[kept[-1]])
    return tuple(chosen)


def _plain(code: str) -> str:
    """The code without comments, docstrings and layout."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.unparse(tree)


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
    dropped_names = {d.test for d in dropped}
    remaining_tests = without(tests, name, dropped_names) if dropped_names else tests
    reports = [_report(c, v, dropped_names) for c, v in zip(candidates, verdicts, strict=True)]
    remaining_count = max(
        (len([t for t in v.tests if t.test not in dropped_names]) for v in verdicts), default=0
    )
    passing = [n for n, report in enumerate(reports) if report.right]
    inputs = Inputs(signature, tests, examples)
    compared = passing if len(passing) > 1 and inputs.all else []
    probes = await asyncio.gather(
        *(probe(sandbox, SandboxJob(name, candidates[n].code), inputs.all) for n in compared)
    )
    ran = {
        n: outcomes for n, outcomes in zip(compared, probes, strict=True) if outcomes is not None
    }
    for n, outcomes in ran.items():
        witnesses = [(o, candidates[m].draws) for m, o in ran.items() if m != n]
        if candidates[n].draws > 1:
            witnesses.append((outcomes, candidates[n].draws - 1))
        reports[n] = reports[n].model_copy(
            update={"refuted": difference(outcomes, witnesses, inputs)}
        )
    left_over = [ran[n] for n in ran if reports[n].right]
    return Consensus(
        tests=remaining_tests,
        kept=remaining_count,
        dropped=tuple(dropped),
        reports=tuple(reports),
        inputs=len(inputs.all) if compared else 0,
        open_question=next(
            (d for later in left_over[1:] if (d := _first_difference(later, left_over[0], inputs))),
            None,
        ),
    )


async def against(
    sandbox: Sandbox,
    signature: Signature,
    code: str,
    witnesses: Sequence[DrawnCode],
    *,
    tests: str,
    examples: Sequence[Arguments] = (),
) -> Difference | None:
    """Where a module that passes the tests differs from most of the candidates that passed them
    before.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    if sum(witness.draws for witness in witnesses) < LEAST_JURY:
        return None
    inputs = Inputs(signature, tests, examples)
    own_outcomes, *witness_outcomes = await asyncio.gather(
        *(
            probe(sandbox, SandboxJob(signature.function, c), inputs.all)
            for c in (code, *(o.code for o in witnesses))
        )
    )
    ran = [
        (outcomes, witness.draws)
        for outcomes, witness in zip(witness_outcomes, witnesses, strict=True)
        if outcomes is not None
    ]
    return difference(own_outcomes, ran, inputs) if own_outcomes else None


async def _run(
    sandbox: Sandbox, name: str, candidates: Sequence[DrawnCode], tests: str
) -> tuple[Verdict, ...]:
    versions = [Version(code=c.code, whole=True, apart=False) for c in candidates]
    return await sandbox.verify_versions(SandboxJob(name, tests=tests), versions, SECONDS)


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
    dropped = []
    for name, votes in ballots.items():
        against = [(candidate, message) for candidate, passed, message in votes if not passed]
        draws, of = sum(c.draws for c, _ in against), sum(c.draws for c, *_ in votes)
        if (
            draws * 2 > of
            and len(against) > 1
            and not (name.startswith(PREFIX) or name.partition("[")[0] in frozen)
        ):
            dropped.append(Dropped(test=name, against=draws, of=of, message=against[0][1]))
    return dropped


def _report(candidate: DrawnCode, verdict: Verdict, dropped_names: set[str]) -> Report:
    counted = [t for t in verdict.tests if t.test not in dropped_names]
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
        self.all = list({repr(arguments): arguments for arguments in varied}.values())
        kinds = kinds_of(calls)
        self.unusual = [is_unusual(arguments, kinds) for arguments in self.all]
        self._name = signature.function

    def describe_difference(
        self, number: int, outcome: CallOutcome, expected: CallOutcome
    ) -> Difference:
        """A difference for people."""
        return Difference(
            call=shown_call(self._name, self.all[number]),
            others=expected.text,
            own=SAYS[outcome.kind](outcome.text),
        )


def difference(
    own_outcomes: Sequence[CallOutcome],
    witnesses: Sequence[tuple[Sequence[CallOutcome], int]],
    inputs: Inputs,
    rule: ComparisonRule = RULE,
) -> Difference | None:
    """The first input on which the witnesses return one value and this candidate another, or on
    which it is slow and they are not.

    The witnesses of a value are most of the others, or all of them if the input is unusual, and
    different codes. If one of the others raises, there are no witnesses: the function may not be
    meant for that input. A call that was not reached says nothing.
    """
    for number, outcome in enumerate(own_outcomes):
        answers = [
            (answer, draws)
            for outcomes, draws in witnesses
            if (answer := outcomes[number]).is_answer or answer.kind == "raised"
        ]
        jury = sum(draws for _, draws in answers)
        if jury < LEAST_JURY or not outcome.is_answer:
            continue
        most, votes, codes = _most(answers)
        if outcome.kind == "slow":
            quick = [(o, draws) for o, draws in answers if o.seconds * QUICKER < SECONDS_A_CALL]
            enough = sum(draws for _, draws in quick) * 2 > jury
            most = quick[0][0] if enough else most
        elif any(answer.kind == "raised" for answer, _ in answers):
            enough = False
        elif inputs.unusual[number]:
            enough = rule.unusual is not None and votes == jury and codes >= rule.unusual
        else:
            enough = votes * 2 > jury and codes >= rule.codes
        if enough and not same(outcome, most):
            return inputs.describe_difference(number, outcome, most)
    return None


def _most(answers: Sequence[tuple[CallOutcome, int]]) -> tuple[CallOutcome, int, int]:
    """The value that is returned most often, with the number of draws and of codes that return
    it.
    """
    returned = [(answer, draws) for answer, draws in answers if answer.kind == "returned"]
    most = max(
        ([(o, draws) for o, draws in returned if same(value, o)] for value, _ in returned),
        key=lambda group: sum(draws for _, draws in group),
        default=[(CallOutcome(kind="slow"), 0)],
    )
    return most[0][0], sum(draws for _, draws in most), len(most)


def _first_difference(
    outcomes: Sequence[CallOutcome], reference: Sequence[CallOutcome], inputs: Inputs
) -> Difference | None:
    return next(
        (
            inputs.describe_difference(number, outcome, expected)
            for number, (outcome, expected) in enumerate(zip(outcomes, reference, strict=True))
            if outcome.kind == expected.kind == "returned"
            and not same(outcome, expected)
            and not inputs.unusual[number]
        ),
        None,
    )
