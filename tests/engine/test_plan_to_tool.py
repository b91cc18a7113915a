"""The parts of a turn that can be kept as one tool."""

from datetime import UTC, datetime

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.events import (
    Event,
    PlanMade,
    PlanStepChanged,
    Record,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from selfeng.core.plan import SavedPlan, SavedStep
from selfeng.turns.conversations import plan_to_tool
from tests.engine.test_plans import step

MADE = PlanMade(
    steps=(
        step("reversed", request="Reverse 'abc'"),
        step("vowels", "reversed", request="Count the vowels of reversed"),
    )
)
ENDED = TurnFinished(answer="One.")


def finished(id: str, tool: str | None) -> PlanStepChanged:
    return PlanStepChanged(step=id, state="finished", tool=tool)


def started(id: str) -> PlanStepChanged:
    return PlanStepChanged(step=id, state="started")


def records(*events: Event) -> list[Record]:
    told = (TurnStarted(request="Reverse 'abc' and count"), *events)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Record(conversation_id="c", seq=n, turn_id="t", at=at, event=e)
        for n, e in enumerate(told, 1)
    ]


def test_a_plan_is_kept_with_the_tools_of_its_steps():
    kept = plan_to_tool(
        records(
            MADE,
            started("reversed"),
            started("vowels"),
            finished("vowels", "count_vowels"),
            finished("reversed", "reverse_text"),
            ENDED,
        )
    )
    assert kept == SavedPlan(
        turn_id="t",
        request="Reverse 'abc' and count",
        steps=(
            SavedStep(request="Reverse 'abc'", tool="reverse_text"),
            SavedStep(request="Count the vowels of reversed", tool="count_vowels"),
        ),
    )


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ((ENDED,), "the turn had no plan"),
        ((MADE, TurnFailed(where="plan", message="no")), "the turn has not finished"),
        (
            (MADE, finished("reversed", "reverse_text"), finished("vowels", "count_vowels"), ENDED),
            "the step reversed ran no tool",
        ),
        (
            (
                MADE,
                started("reversed"),
                finished("reversed", None),
                finished("vowels", "count_vowels"),
                ENDED,
            ),
            "the step reversed ran no tool",
        ),
    ],
)
def test_what_cannot_be_kept_is_said_with_the_reason(events: tuple[Event, ...], problem: str):
    with pytest.raises(RequestError) as refused:
        plan_to_tool(records(*events))
    assert refused.value.message == problem
