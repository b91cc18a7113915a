"""A race of two versions of a tool: whether they agree, and how much faster the new one is.

Both run in the sandbox, in turns. They agree on the calls of the tests, on 200 mutations of these,
and on the calls that are timed: calls of the tests with larger arguments, as small ones take no
time.
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from selfeng.core.protocols import Sandbox
from selfeng.core.words import significant
from selfeng.synthesis.before import INPUTS, Before
from selfeng.synthesis.inputs import Arguments, calls_in, mutations
from selfeng.synthesis.probe import SAYS, SECONDS_A_CALL, CallOutcome, probe, same, shown_call

FASTER = 1.2
"""How many times as fast a version must be to replace another; less may be chance."""
_ROUNDS = 5
_GROWTH = (1, 4, 16, 64, 256, 1024, 4096)
"""How many times as large arguments are made."""
_LARGEST = 30_000
"""Characters of the source of a call that is timed."""
_CALLS = 4
"""Calls that are made larger, and calls that are timed."""
_WORTH = 1e-3
"""Seconds of processor time that these must take together for a race."""


class Lap(NamedTuple):
    before: float
    """Median of the seconds of processor time of all timed calls."""
    after: float
    objection: str = ""
    """Why the new version can't replace the old one; "" if it can."""

    @property
    def factor(self) -> float:
        """How many times as fast the new version is."""
        return self.before / max(self.after, 1e-9)


class Race:
    """Compares new versions of a tool with the one that there is."""

    def __init__(self, sandbox: Sandbox, before: Before) -> None:
        self._sandbox, self._before = sandbox, before
        self._function = before.signature.function
        calls = calls_in(before.tests, before.signature)
        calls += [reverse for call in calls if (reverse := _reversed(call)) not in calls]
        self.inputs = [*calls, *mutations(calls, INPUTS)]
        """The calls on which both must agree."""
        self.timed: Sequence[Arguments] = ()
        """The calls that are timed, the longest first."""

    async def prepare(self) -> str:
        """Find calls that take long enough to be timed; returns why there are none, "" if there
        are.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        larger = await asyncio.to_thread(_larger, self.inputs[:_CALLS])
        took = [
            (outcome.seconds, call)
            for outcome, call in zip(await self._old(larger) or (), larger, strict=False)
            if outcome.kind in ("returned", "large") and outcome.seconds < 0.8 * SECONDS_A_CALL
        ]
        longest = sorted(took, key=lambda pair: -pair[0])[:_CALLS]
        self.timed = [call for _, call in longest]
        total = sum(seconds for seconds, _ in longest)
        if not longest:
            return "none of its tests calls it with plain values, so there is nothing to time"
        return (
            f"it takes {total * 1000:.2g} ms on the largest arguments tried: too little to gain"
            if total < _WORTH
            else ""
        )

    @property
    def slowest(self) -> str:
        """The longest call, shortened, as Python source."""
        call = shown_call(self._function, self.timed[0])
        return call if len(call) <= 500 else f"{call[:500]}… ({len(call)} characters)"

    def figures(self, lap: Lap) -> dict[str, str | float]:
        """Of a race that was won, for people; times are in milliseconds."""
        return {
            "factor": significant(lap.factor),
            "before": significant(lap.before * 1000, 3),
            "after": significant(lap.after * 1000, 3),
            "calls": len(self.inputs) + len(self.timed),
        }

    def report(self, lap: Lap) -> str:
        """The result of a race that was won, for people."""
        return (
            "It is {factor}× faster: {before} ms of processor time became {after} ms. "
            "It passes the same tests and returns the same for {calls} calls."
        ).format(**self.figures(lap))

    async def run(self, code: str) -> Lap:
        """Race a new version, which passes the tests.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        calls = [*self.inputs, *self.timed]
        pairs = [(await self._old(calls), await self._new(code, calls)) for _ in range(2)]
        if objection := await asyncio.to_thread(self._difference, calls, pairs):
            return Lap(0.0, 0.0, objection)
        times: list[tuple[float, float]] = []
        for _ in range(_ROUNDS):
            old, new = await self._old(self.timed), await self._new(code, self.timed)
            times.append((_seconds(old), _seconds(new)))
        lap = Lap(*(statistics.median(column) for column in zip(*times, strict=True)))
        slow = f"it is {significant(lap.factor)}× as fast as version {self._before.version}"
        return lap._replace(objection=f"{slow}, not {FASTER:g}×" if lap.factor < FASTER else "")

    def _difference(
        self,
        calls: Sequence[Arguments],
        pairs: Sequence[tuple[list[CallOutcome] | None, list[CallOutcome] | None]],
    ) -> str:
        """The first call on which the versions differ, "" if there is none. A call that takes the
        old one too long, or is not answered alike twice, proves nothing.
        """
        (old, new), (old_again, _) = pairs
        if old is None or old_again is None or new is None:
            return "it can't be run on the calls on which it is compared; keep to plain functions"
        for call, expected, again, actual in zip(calls, old, old_again, new, strict=True):
            if expected.kind != "slow" and _alike(expected, again) and not _alike(expected, actual):
                call_text = shown_call(self._function, call)[:500]
                before, now = (SAYS[o.kind](o.text[:300]) for o in (expected, actual))
                another = ", but another" if before == now else ""
                return (
                    f"for {call_text} version {self._before.version} {before} and this one "
                    f"{now}{another}"
                )
        return ""

    async def _old(self, calls: Sequence[Arguments]) -> list[CallOutcome] | None:
        job = self._before.job(self._function, self._before.code)
        return await probe(self._sandbox, job, calls)

    async def _new(self, code: str, calls: Sequence[Arguments]) -> list[CallOutcome] | None:
        job = replace(self._before.job(self._function, code), library={})
        return await probe(self._sandbox, job, calls)


def _alike(first: CallOutcome, second: CallOutcome) -> bool:
    """As `same`, but large values must be equal, too."""
    both_large = first.kind == second.kind == "large"
    return first.text == second.text if both_large else same(first, second)


def _seconds(outcomes: Sequence[CallOutcome] | None) -> float:
    return sum(outcome.seconds for outcome in outcomes or ())


def _reversed(call: Arguments) -> Arguments:
    """The call with its lists in reverse: a rewriting may not rely on their order by chance."""
    return {name: value[::-1] if isinstance(value, list) else value for name, value in call.items()}


def _larger(calls: Sequence[Arguments]) -> list[Arguments]:
    """The calls with larger arguments, the smallest first: all of them, or only collections and
    texts, of new elements or of the same ones again.
    """
    larger_calls: dict[str, Arguments] = {}
    for times in _GROWTH:
        for call in calls:
            for numbers, varied in ((True, True), (False, True), (False, False)):
                new = {
                    name: value
                    if isinstance(value, int) and not numbers
                    else _grown(value, times, varied)
                    for name, value in call.items()
                }
                if len(repr(new)) <= _LARGEST:
                    larger_calls.setdefault(repr(new), new)
    return list(larger_calls.values())


def _grown(value: Any, times: int, varied: bool) -> Any:
    """A value that is so many times as large."""
    rounds = range(times)
    match value:
        case int() if not isinstance(value, bool):
            return value * times
        case str() if varied:
            return ("\n" if "\n" in value else " ").join(_variant(value, n) for n in rounds)
        case list() | tuple() if varied:
            return type(value)(_variant(item, n) for n in rounds for item in value)
        case dict():
            return {_variant(key, n): item for n in rounds for key, item in value.items()}
        case str() | list() | tuple():
            return value * times
    return value


def _variant(value: Any, number: int) -> Any:
    """A value like this one; this one itself for 0."""
    match value:
        case bool():
            return value
        case int() | float():
            return value + 1000 * number
        case str():
            return f"{value}{number}" if number else value
        case list() | tuple():
            return type(value)(_variant(item, number) for item in value)
        case dict():
            return {key: _variant(item, number) for key, item in value.items()}
    return value
