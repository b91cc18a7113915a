"""Earlier answers are computed again by a tool's newest version: their owner's only, and only while
their conversation is there.
"""

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from selfeng.core.errors import SandboxFailed
from selfeng.core.events import AnswerCorrected, AnswersRecomputed
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.result import ChangedAnswer
from selfeng.core.tool import Tool
from selfeng.core.verdict import Raised
from selfeng.engine import Engine
from selfeng.store.conversation_list import ConversationChange
from tests.doubles import ScriptedModel, ScriptedSandbox, kept, tool
from tests.engine.test_lessons import engine_on
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook

LATER = datetime(2999, 1, 1, tzinfo=UTC)
COUNT = tool("count_lines", "def count_lines(path: str) -> int:\n    return 0\n")


def add(a: int, b: int) -> FunctionCall:
    return FunctionCall(name="add_numbers", arguments={"a": a, "b": b})


def next_version(former: Tool) -> Tool:
    return former.model_copy(update={"version": 2, "created_at": LATER})


async def two_answers(engine: Engine) -> list[str]:
    """Conversations, each with an answer of the tool's first version."""
    engine.library.replace(tool())
    conversations = [(await turn(engine, None, f"{n} plus 1"))[0] for n in (2, 7)]
    engine.library.replace(next_version(tool()))
    return [asked.conversation_id for asked in conversations]


async def test_answers_that_change_are_told_with_both_values(database: sa.Engine) -> None:
    model = ScriptedModel(add(2, 1), "3", add(7, 1), "8")
    sandbox = ScriptedSandbox(kept("3"), kept("8"), kept("8.0"), kept("4"))
    async with engine_on(Notebook(database), model, sandbox) as engine:
        first, _ = await two_answers(engine)
        report = await engine.earlier_answers.recompute("me", "add_numbers")
        ((turn_id, content),) = [
            (record.turn_id, record.event.answer)
            for record in await engine.conversations.history("me", first)
            if record.event.type == "turn_finished"
        ]
    assert (report.version, report.computed, report.unknown) == (2, 2, 0)
    assert report.changed == (
        ChangedAnswer(
            conversation_id=first,
            turn_id=turn_id,
            request="2 plus 1",
            arguments='{"a": 2, "b": 1}',
            before="3",
            after="4",
        ),
    )
    assert content == "3", "the answer is not rewritten"
    assert [a for _, a in sandbox.executed[2:]] == [{"a": 7, "b": 1}, {"a": 2, "b": 1}]
    assert sandbox.owners[2:] == ["me", "me"]


async def test_a_call_that_raises_now_changes(database: sa.Engine) -> None:
    raised = Raised(type_name="ValueError", message="no")
    model = ScriptedModel(add(2, 1), "3", add(7, 1), "8")
    sandbox = ScriptedSandbox(kept("3"), kept("8"), kept("8"), raised)
    async with engine_on(Notebook(database), model, sandbox) as engine:
        await two_answers(engine)
        (changed,) = (await engine.earlier_answers.recompute("me", "add_numbers")).changed
    assert (changed.before, changed.after) == ("3", "raises ValueError: no")


@pytest.mark.parametrize("works", [True, False])
async def test_a_correction_is_followed_by_what_changes_or_by_nothing(
    database: sa.Engine, works: bool
) -> None:
    again = (kept("8"), kept("4")) if works else (SandboxFailed("it broke"),)
    model = ScriptedModel(add(2, 1), "3", add(7, 1), "8")
    sandbox = ScriptedSandbox(kept("3"), kept("8"), *again)
    async with engine_on(Notebook(database), model, sandbox) as engine:
        first, _ = await two_answers(engine)
        last = (await engine.conversations.history("me", first))[-1]
        corrected = AnswerCorrected(tool="add_numbers", version=2, turn_id=last.turn_id)
        engine.recorder.emit(first, last.turn_id, corrected)
        await engine.settle()
        later = [
            record.event for record in await engine.conversations.history("me", first, last.seq)
        ]
    recomputed = AnswersRecomputed(tool="add_numbers", version=2, computed=2, changed=1)
    assert later == [corrected, *([recomputed] if works else [])]


async def test_nobody_sees_the_answers_of_another(database: sa.Engine) -> None:
    model = ScriptedModel(add(2, 1), "3", add(7, 1), "8")
    sandbox = ScriptedSandbox(kept("3"), kept("8"))
    async with engine_on(Notebook(database), model, sandbox) as engine:
        await two_answers(engine)
        report = await engine.earlier_answers.recompute("you", "add_numbers")
    assert (report.computed, report.changed) == (0, ())
    assert len(sandbox.executed) == 2


async def test_recorded_inputs_go_with_their_conversation(database: sa.Engine) -> None:
    model = ScriptedModel(add(2, 1), "3", add(7, 1), "8")
    sandbox = ScriptedSandbox(kept("3"), kept("8"), kept("8"))
    async with engine_on(Notebook(database), model, sandbox) as engine:
        first, _ = await two_answers(engine)
        await engine.conversations.change("me", first, ConversationChange(deleted=True))
        report = await engine.earlier_answers.recompute("me", "add_numbers")
    assert (report.computed, report.changed) == (1, ())


async def test_a_file_is_as_it_was_at_the_call(database: sa.Engine) -> None:
    call = FunctionCall(name="count_lines", arguments={"path": "a.txt"})
    model = ScriptedModel(call, "1", call, "2")
    sandbox = ScriptedSandbox(kept("1"), kept("2"), kept("2"), kept("1"))
    one, two = (File(name="a.txt", content=b"line\n" * n) for n in (1, 2))
    async with engine_on(Notebook(database), model, sandbox) as engine:
        engine.library.replace(COUNT)
        asked, _ = await turn(engine, None, "how many lines?", files=[one])
        await turn(engine, asked.conversation_id, "and now?", files=[two])
        engine.library.replace(next_version(COUNT))
        report = await engine.earlier_answers.recompute("me", "count_lines")
    assert (report.computed, report.changed) == (2, ())
    assert sandbox.files[2:] == [(two,), (one,)]
