"""Calls of tools that a person makes: turns without a model."""

from contextlib import aclosing

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.errors import RequestError, ToolNotFound
from selfeng.core.events import FINAL, Event
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.settings import Settings
from selfeng.core.turn import HandCall, Request
from selfeng.core.verdict import Raised
from tests.doubles import ListedLibrary, ScriptedModel, ScriptedSandbox, returned, tool
from tests.engine.test_orchestrator import Turns
from tests.home import Home

CALL = FunctionCall(name="add_numbers", arguments={"a": 2, "b": 3})
RAISED = Raised(type_name="KeyError", message="'b'", traceback="add_numbers.py")


async def called(turns: Turns) -> list[Event]:
    request = "Run add_numbers(a=2, b=3)"
    return [
        event
        async for event in turns.orchestrator.begin(Request(request, kind=HandCall(call=CALL)))
    ]


async def test_a_call_by_hand_is_a_turn_that_asks_no_model():
    model = ScriptedModel()
    turns = Turns(model, ScriptedSandbox(returned("5")), ListedLibrary(tool()))
    events = await called(turns)
    assert [e.node for e in events if e.type == "stage_entered"] == ["gather", "execute", "respond"]
    assert events[0].runs == "add_numbers"
    last = events[-1]
    assert isinstance(last, FINAL)
    assert (last.outcome, last.tool, last.usage.calls) == ("answered", "add_numbers", 0)
    assert "5" in last.answer


async def test_a_tool_that_fails_by_hand_is_not_mended():
    turns = Turns(ScriptedModel(), ScriptedSandbox(RAISED), ListedLibrary(tool()))
    last = (await called(turns))[-1]
    assert (last.type, last.outcome, last.usage.calls) == ("turn_finished", "failed", 0)
    assert "KeyError" in last.answer


async def test_what_cannot_be_called_begins_no_conversation(tmp_path, monkeypatch):
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
        files = [File(name=str(n), content=b"") for n in range(11)]
        with pytest.raises(RequestError, match="there are 11 files"):
            await engine.run("me", None, "add", {}, files)
        with pytest.raises(ToolNotFound, match="no tool"):
            await engine.run("me", None, "add", {})
        assert await engine.conversations.list("me") == ()
