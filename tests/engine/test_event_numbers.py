"""The numbers of a turn's events: each event is told once, although a turn that goes on in another
process emits them again.
"""

import pytest

from selfeng.core.errors import Diverged
from selfeng.core.events import (
    AnswerToken,
    BudgetSpent,
    Event,
    Limits,
    PlanStepChanged,
    Searching,
    StageEntered,
    SynthesisStep,
    ThoughtAloud,
    TurnFailed,
    TurnFinished,
    TurnResumed,
    TurnStarted,
    TurnStopped,
    Waiting,
)
from selfeng.core.stage_event import Usage
from selfeng.turns.event_numbers import EventNumbers, NumberedEvent


def _spent(calls: int) -> BudgetSpent:
    return BudgetSpent(usage=Usage(calls=calls), limits=Limits(), seconds=1.0)


def _writes(state: str, text: str = "", attempt: int = 1) -> SynthesisStep:
    return SynthesisStep(step="test", state=state, text=text, attempt=attempt)


def _taken(numbers: EventNumbers, *events: Event) -> list[NumberedEvent]:
    return [taken for event in events if (taken := numbers.take(event))]


STARTED = TurnStarted(request="r")
TURN: list[Event] = [
    STARTED,
    StageEntered(node="gather"),
    Waiting(part="sandbox", state="started"),
    _writes("started"),
    _writes("streaming", "def 😀"),
    _writes("streaming", "test"),
    _spent(1),
    _writes("finished"),
    PlanStepChanged(step="a", state="started"),
    Searching(plan_step="b"),
    Searching(plan_step="a"),
    AnswerToken(text="It is "),
    AnswerToken(text="3."),
    TurnFinished(answer="It is 3."),
]


def test_the_parts_of_a_plan_are_numbered_apart_and_pieces_have_offsets() -> None:
    told = [
        (event.type, scope, n, getattr(event, "offset", None))
        for event, scope, n in _taken(EventNumbers(), *TURN)
    ]
    assert told == [
        ("turn_started", "", 1, None),
        ("stage_entered", "", 2, None),
        ("waiting", None, None, None),
        ("synthesis_step", "", 3, None),
        ("synthesis_step", None, None, 0),
        ("synthesis_step", None, None, 6),
        ("budget_spent", None, None, None),
        ("synthesis_step", "", 4, None),
        ("plan_step", "a", 1, None),
        ("searching", "b", 1, None),
        ("searching", "a", 2, None),
        ("answer_token", None, None, 0),
        ("answer_token", None, None, 6),
        ("turn_finished", "", 5, None),
    ]


@pytest.mark.parametrize("kept", range(1, len(TURN) + 1))
def test_wherever_a_turn_ends_its_repetition_tells_the_rest(kept: int) -> None:
    whole = [(e, s, n) for e, s, n in _taken(EventNumbers(), *TURN) if e.type != "waiting"]
    known = _taken(EventNumbers(), *TURN[:kept])
    again = _taken(EventNumbers(known), *(e for e in TURN if e.type != "waiting"))
    assert [e for e in known if e.event.type != "waiting"] + again == whole


def test_the_parts_of_a_plan_may_come_in_another_order() -> None:
    a, b = Searching(plan_step="a"), Searching(plan_step="b")
    known = _taken(EventNumbers(), STARTED, b, a, b)
    assert _taken(EventNumbers(known), STARTED, a, a, b, b, b) == [
        NumberedEvent(a, "a", 2),
        NumberedEvent(b, "b", 3),
    ]


def test_a_reply_that_is_written_again_replaces_what_differs() -> None:
    known = _taken(EventNumbers(), STARTED, _writes("started"), _writes("streaming", "abcdef"))
    again = [STARTED, _writes("started"), *(_writes("streaming", text) for text in ("abc", "xy"))]
    (piece,) = _taken(EventNumbers(known), *again)
    assert piece == NumberedEvent(_writes("streaming", "xy").model_copy(update={"offset": 3}))


def test_an_attempt_of_the_same_number_has_a_stream_of_its_own() -> None:
    twice = [_writes("started"), _writes("streaming", "ab"), _writes("finished")] * 2
    offsets = [e.event.offset for e in _taken(EventNumbers(), *twice) if not e.n]
    assert offsets == [0, 0]
    assert _taken(EventNumbers(_taken(EventNumbers(), *twice)), *twice) == []


def test_another_event_in_its_place_is_an_error_and_the_end_has_a_number_of_its_own() -> None:
    known = _taken(EventNumbers(), STARTED, Searching(), StageEntered(node="gather"))
    numbers = EventNumbers(known)
    numbers.take(STARTED)
    with pytest.raises(Diverged, match="event 2 of the turn was searching and is turn_failed"):
        numbers.take(TurnFailed(where="internal", message="m"))
    assert numbers.next == 4


def test_a_turn_that_begins_again_repeats_everything_but_its_start() -> None:
    known = _taken(EventNumbers(), *TURN[:8], ThoughtAloud(text="hm", call=2))
    told = _taken(
        EventNumbers(known, again=True),
        STARTED,
        TurnResumed(again=True),
        Searching(),
        _spent(1),
        _writes("started"),
        _writes("streaming", "def 😀"),
        ThoughtAloud(text="oh", call=1),
    )
    assert [(e.type, scope, n) for e, scope, n in told] == [
        ("turn_resumed", None, None),
        ("searching", "", 5),
        ("budget_spent", None, None),
        ("synthesis_step", "", 6),
        ("synthesis_step", None, None),
        ("thought_aloud", None, None),
    ]
    assert told[-1].event == ThoughtAloud(text="oh", call=3)


def test_a_stop_ends_the_turn_wherever_its_repetition_was() -> None:
    known = NumberedEvent(STARTED, "", 1), NumberedEvent(Searching(), "", 2)
    stopped = TurnStopped(reason="enough")
    assert _taken(EventNumbers(known), STARTED, stopped) == [NumberedEvent(stopped, "", 3)]
    further = EventNumbers(known)
    new = StageEntered(node="search")
    assert _taken(further, STARTED, Searching(), new, stopped) == [
        NumberedEvent(new, "", 3),
        NumberedEvent(stopped, "", 4),
    ]
