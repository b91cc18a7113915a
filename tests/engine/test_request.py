"""A request goes to another process as JSON, whole."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import get_args

import pytest
from pydantic import BaseModel

from selfeng.core.files import File, FileReference
from selfeng.core.plan import SavedPlan, SavedStep, StepResult
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Answer
from selfeng.core.result import Dispute, EarlierResult, Result, ResultReference, TaughtRow
from selfeng.core.schedule import SchedulePlan
from selfeng.core.spec import SpecifiedTool
from selfeng.core.turn import (
    AgentPart,
    Asking,
    EarlierFiles,
    EarlierResults,
    HandCall,
    PlanPart,
    ProjectBuild,
    Refactoring,
    Request,
    RequestKind,
    ScheduleAnswer,
    ToolDescription,
)
from tests.doubles import specified

REFERENCE = ResultReference(sha256="0" * 64, kind="number", size=1)
EARLIER = EarlierResult(id="r1", turn_id="t", request="", tool="f", begins="1", reference=REFERENCE)
CALL = FunctionCall(name="f", arguments={"a": 1})
KINDS = (
    Asking(agent="coder", again="u", waiting=CALL, specified=SpecifiedTool(**dict(specified()))),
    HandCall(call=CALL, version=2, schedule="s"),
    ScheduleAnswer(added=SchedulePlan(tool="f", cron="0 8 * * mon")),
    ToolDescription(),
    Refactoring(tool="f"),
    ProjectBuild(options={"goal": "g"}),
    SavedPlan(turn_id="t", request="r", steps=(SavedStep(request="", tool="f"),)),
    Dispute(
        result=EARLIER, complaint="h", expected="1", rows=(TaughtRow(arguments={"a": 1}, value=2),)
    ),
    PlanPart(id="a", results=(StepResult(id="b", request="", tool="f", text="1", data="1"),)),
    AgentPart(),
)
NEW, OLD = File(name="a.csv", content=b"a"), File(name="b.csv", content=b"b")


@dataclass
class Stored:
    """The contents of a conversation."""

    files: Mapping[FileReference, File]

    def file(self, reference: FileReference) -> File:
        return self.files[reference]

    def result(self, result: EarlierResult) -> Result:
        return Result(content="1", reference=result.reference)


CONTENTS = Stored({file.reference(): file for file in (NEW, OLD)})


def test_the_kinds_are_complete_and_every_field_of_one_is_set() -> None:
    union, _ = get_args(RequestKind)
    assert {*map(type, KINDS)} == {*get_args(union)}
    for kind in KINDS:
        unset = type(kind).model_fields.keys() - kind.model_fields_set
        assert unset <= {"kind"}, kind


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
async def test_every_field_of_a_request_comes_back(kind: BaseModel) -> None:
    request = Request(
        "again",
        (ChatMessage(role="user", content="first"),),
        (NEW,),
        EarlierFiles((OLD.reference(),)),
        earlier_results=EarlierResults((EARLIER,)),
        answers=(Answer(id="x", question="X?", value="1"),),
        rounds=2,
        conversation_id="c",
        after="t",
        kind=kind,
        refused=("g",),
        consents={"allow_1": "once"},
        model="m",
        temporary=True,
        timezone="Europe/Berlin",
    )
    default = Request("", kind=AgentPart() if isinstance(kind, Asking) else Asking())
    unset = {
        f.name for f in fields(Request) if getattr(request, f.name) == getattr(default, f.name)
    }
    assert unset == {"profiles", "pictures"}, "those are made by the process that runs the turn"

    back = Request.from_json(request.as_json(), CONTENTS)
    assert back == replace(request, earlier=back.earlier, earlier_results=back.earlier_results)
    assert back.earlier.references == (OLD.reference(),)
    assert await back.earlier.read(OLD.reference()) == OLD
    assert back.earlier_results.values == (EARLIER,)
    assert (await back.earlier_results.read(EARLIER)).content == "1"


def test_contents_stay_out_of_the_json() -> None:
    text = Request("r", files=(NEW,)).as_json()
    assert NEW.reference().sha256 in text
    assert "content" not in text
