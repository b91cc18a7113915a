"""A limit that is reached within a synthesis: which one it was, what was reached by then, and that
it can still be seen.
"""

import time

import pytest

from selfeng.core.events import Limits, SynthesisStep, TurnFailed
from selfeng.core.turn import Budget
from selfeng.core.verdict import TestResult, Verdict
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    specified,
)
from tests.engine.test_orchestrator import Turns

TESTS_OF_FOUR = ["test_a", "test_b", "test_c", "test_d"]


class CostlyModel(ScriptedModel):
    """Each call takes 15 tokens, 100 seconds and a cent."""

    def _next(self, prompt, budget: Budget):
        reply = super()._next(prompt, budget)
        budget.usage = budget.usage.model_copy(update={"cost": 0.01 * budget.usage.calls})
        each: Budget | None = budget
        while each:
            each._started -= 100
            each = each._parent
        return reply


def passing_of_four(*passed: str) -> Verdict:
    outcomes = {True: "passed", False: "failed"}
    tests = [
        TestResult.model_validate({"test": t, "outcome": outcomes[t in passed], "seconds": 0.1})
        for t in TESTS_OF_FOUR
    ]
    return Verdict(passed=False, tests=tuple(tests))


@pytest.mark.parametrize(
    ("limits", "limit", "variable"),
    [
        (Limits(calls=4), "4 model calls", "TURN_MAX_CALLS"),
        (Limits(tokens=60), "60 tokens", "TURN_MAX_TOKENS"),
        (Limits(seconds=400), "400 seconds", "TURN_MAX_SECONDS"),
        (Limits(cost=0.04), "0.04 US dollars", "TURN_MAX_COST"),
    ],
)
async def test_a_limit_within_the_repairs_names_itself_and_the_best_implementation(
    limits, limit, variable
):
    model = CostlyModel(specified(), fenced(TESTS), fenced(CODE), fenced(CODE + "\n"))
    sandbox = ScriptedSandbox(
        failing(*TESTS_OF_FOUR),
        passing_of_four("test_a", "test_b", "test_c"),
        passing_of_four("test_d"),
    )
    turns = Turns(model, sandbox, ListedLibrary(), limits=limits)
    await turns.ask("double 4")
    last = turns.events[-1]
    assert isinstance(last, TurnFailed)
    assert (last.kind, last.where, last.message) == (
        "budget",
        "implement",
        f"the turn has used up its budget of {limit}",
    )
    assert last.remedy == f"ask for less, or raise {variable}"
    assert (
        last.reached
        == "Specification and tests are written, and the best implementation passes 3 of 4 tests."
    )
    made = [e.step for e in turns.events if isinstance(e, SynthesisStep) and e.artifact]
    assert made == ["specify", "test", "implement", "implement"]
    assert [event.usage.calls for event in turns.meter] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("calls", "reached"),
    [(0, ""), (1, "The specification is written."), (2, "Specification and tests are written.")],
)
async def test_what_was_reached_says_no_more_than_that(calls, reached):
    turns = Turns(
        ScriptedModel(specified(), fenced(TESTS)),
        ScriptedSandbox(failing()),
        ListedLibrary(),
        limits=Limits(calls=calls),
    )
    await turns.ask("double 4")
    assert turns.events[-1].reached == reached


def test_the_time_in_which_a_person_is_asked_does_not_count():
    budget = Budget()
    with budget.paused():
        time.sleep(0.05)
    assert budget.seconds < 0.05
