"""The log: its level, and the turn that a line belongs to."""

import asyncio
import logging
from typing import get_args

from selfeng.core.events import AnswerToken, Event, ExecutionFinished, StageEntered, SynthesisStep
from selfeng.core.logs import _FACTS, NAME, Line, log_event, log_to_stderr, logged_with
from selfeng.core.verdict import Returned


async def test_a_line_names_the_turn_of_the_task_that_logs_it():
    line = Line("%(name)s: %(message)s")
    record = logging.LogRecord("selfeng.turns", logging.ERROR, __file__, 1, "it\nfailed", (), None)

    async def log() -> str:
        return line.format(record)

    with logged_with("c1", "t1"):
        inside = asyncio.create_task(log())
    assert await inside == "selfeng.turns: [conversation c1 turn t1] it\\nfailed"
    assert await log() == "selfeng.turns: it\\nfailed"


def test_the_level_is_that_of_our_own_records():
    own = logging.getLogger(NAME)
    before = own.level
    try:
        log_to_stderr("DEBUG")
        assert logging.getLogger("selfeng.web.bridge").isEnabledFor(logging.DEBUG)
        assert not logging.getLogger("httpx").isEnabledFor(logging.DEBUG)
    finally:
        own.setLevel(before)


def test_events_are_logged_without_what_people_models_and_tools_say(caplog):
    caplog.set_level(logging.INFO, NAME)
    secret = "my password"
    execution = Returned(type_name="str", text=secret, data=f'"{secret}"')
    for event in (
        StageEntered(node="search", symbol="new"),
        SynthesisStep(step="implement", state="started", attempt=2, text=secret),
        SynthesisStep(step="implement", state="streaming", text=secret),
        SynthesisStep(step="implement", state="finished", artifact=secret, seconds=1.234),
        ExecutionFinished(tool="add", execution=execution, seconds=0.5),
        AnswerToken(text=secret),
    ):
        log_event(event)
    assert caplog.messages == [
        "stage_entered node=search symbol=new",
        "synthesis_step step=implement attempt=2 state=started",
        "synthesis_step step=implement attempt=1 state=finished seconds=1.23",
        "execution_finished tool=add seconds=0.5",
    ]


def test_texts_of_events_that_are_logged_are_names():
    texts = {
        name
        for kind in get_args(get_args(Event)[0])
        for name, field in kind.model_fields.items()
        if name in _FACTS and field.annotation in (str, str | None)
    }
    assert texts == {
        "action",
        "after",
        "agent",
        "recipient",
        "runs",
        "server",
        "symbol",
        "tool",
        "where",
    }
