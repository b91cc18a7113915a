"""The budget of a build that draws on the budget of a turn."""

import pytest

from selfeng.core.errors import BudgetExceeded, ModelError
from selfeng.core.events import Limits
from selfeng.core.turn import Budget
from selfeng.projects.loop import BuildBudget


def test_what_a_build_spends_its_turn_spends_too():
    turn = Budget(Limits(calls=3, tokens=100))
    build = BuildBudget(Limits(calls=10, tokens=1000), parent=turn)
    turn.charge(10, 0, None)
    build.charge(20, 10, 0.5)
    assert (build.usage.calls, turn.usage.calls) == (1, 2)
    assert (turn.usage.input_tokens, turn.usage.output_tokens, turn.usage.cost) == (30, 10, 0.5)
    assert build.tokens_left == turn.tokens_left == 60


@pytest.mark.parametrize(
    ("own", "message", "remedy"),
    [
        (
            2,
            "the turn has used up its budget of 1 model calls",
            "ask for less, or raise TURN_MAX_CALLS",
        ),
        (
            1,
            "the build has used up its budget of 1 model calls",
            "continue with another build, or raise max_calls",
        ),
    ],
)
def test_the_limit_that_was_reached_is_named(own, message, remedy):
    build = BuildBudget(Limits(calls=own), parent=Budget(Limits(calls=1 if own > 1 else 5)))
    build.charge(1, 1, None)
    with pytest.raises(BudgetExceeded) as caught:
        build.check()
    assert (caught.value.message, caught.value.remedy, caught.value.kind) == (
        message,
        remedy,
        "budget",
    )
    assert not isinstance(caught.value, ModelError)


def test_a_turn_that_has_no_tokens_left_ends_the_running_call_of_its_build():
    turn = Budget(Limits(tokens=10))
    with pytest.raises(BudgetExceeded, match="the turn has used up its budget of 10 tokens"):
        BuildBudget(Limits(tokens=1000), parent=turn).check_running(11, None)
