"""Profiles of files in a turn: which prompts show them, and what becomes of a turn without them."""

import json
from collections.abc import Awaitable, Callable

from selfeng.core.files import File, FileReference
from selfeng.core.prompt import FunctionCall
from selfeng.core.turn import EarlierFiles, Request
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    returned,
    specified,
    tool,
)
from tests.engine.test_orchestrator import DOUBLE, NONE, Turns

NEW = File(name="new.csv", content=b"a;b\n1;2\n")
OLD = File(name="old.xlsx", content=b"PK")


class Profiles:
    """An `Inspector` that notes which files it was given."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def inspect(
        self, reference: FileReference, read: Callable[[FileReference], Awaitable[File]]
    ) -> str:
        self.read.append((await read(reference)).name)
        return json.dumps({"kind": f"profile of {reference.name}"})


async def test_every_prompt_of_a_build_shows_the_profiles_of_new_and_earlier_files():
    inspector = Profiles()
    run = Turns(
        ScriptedModel(
            NONE, specified(), fenced(TESTS), fenced(CODE), fenced(CODE), DOUBLE, "It is 8."
        ),
        ScriptedSandbox(failing(), failing(), passing(), returned("8")),
        ListedLibrary(tool()),
        inspector=inspector,
    )

    async def read(reference: FileReference) -> File:
        return OLD

    turn = run.orchestrator.begin(
        Request("double 4", files=(NEW,), earlier=EarlierFiles((OLD.reference(),), read))
    )
    assert [event.type async for event in turn][-1] == "turn_finished"
    asked = {prompt.name: prompt.messages[-1].content for prompt in run.model.prompts}
    assert {
        "decide",
        "specification",
        "tests",
        "implementation",
        "repair",
        "answer",
    } <= asked.keys()
    assert "profile" not in asked.pop("answer")
    for name, told in asked.items():
        assert '"profile":{"kind":"profile of new.csv"}' in told, name
        assert (
            '"from":"earlier in the conversation","profile":{"kind":"profile of old.xlsx"}' in told
        ), name
    assert inspector.read == ["new.csv", "old.xlsx"]


async def test_a_turn_without_files_waits_for_no_profile():
    inspector = Profiles()
    run = Turns(
        ScriptedModel(NONE, specified()), ScriptedSandbox(), ListedLibrary(), inspector=inspector
    )
    await run.ask("double 4")
    assert inspector.read == []


class KnownSum(Profiles):
    """An `Inspector` of files whose column b adds up to 2."""

    async def inspect(
        self, reference: FileReference, read: Callable[[FileReference], Awaitable[File]]
    ) -> str:
        column = {"name": "b", "type": "integer", "range": "2 to 2", "sum": "2"}
        return json.dumps({"tables": [{"header": "line 1", "rows": 1, "columns": [column]}]})

    async def lines_about(self, file: File, message: str) -> str:
        return ""


async def test_a_result_that_contradicts_the_profile_is_no_answer():
    code = "def sum_column(path: str, column: str) -> int:\n    return 3\n"
    call = FunctionCall(name="sum_column", arguments={"path": "new.csv", "column": "b"})
    model = ScriptedModel(call, "misuse", "The tool and the file differ: 3 and 2.")
    run = Turns(
        model,
        ScriptedSandbox(returned("3")),
        ListedLibrary(tool("sum_column", code)),
        inspector=KnownSum(),
    )
    events = [e async for e in run.orchestrator.begin(Request("sum of b", files=(NEW,)))]
    (failed,) = (event for event in events if event.type == "execution_failed")
    assert failed.execution.type_name == "ResultContradicted"
    assert [prompt.name for prompt in model.prompts] == ["decide", "mend", "answer"]
    assert "returned 3 as sum" in model.prompts[-1].messages[-1].content
