"""A person disagrees with a result: the tool is fixed by a test that its present version fails, and
what the wrong answer taught is taken back.
"""

import json
import unicodedata
from typing import Any

import pytest

from selfeng.core.events import AnswerCorrected, Event, ExecutionFinished
from selfeng.core.files import File, FileReference
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.provenance import Corrected
from selfeng.core.result import (
    Dispute,
    EarlierResult,
    ResultReference,
    expected_value,
)
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import Tool
from selfeng.core.turn import Asking, EarlierFiles, EarlierResults, Request
from selfeng.sandbox import SecureSandbox
from tests.doubles import ListedLibrary, ScriptedModel, fenced, tool
from tests.engine.test_first_runs import orchestrator, sandbox

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

NAME = "list_absent"
SPEC = Specification(
    name=NAME,
    description="List the names of one CSV file that another one lacks.",
    parameters=tuple(
        SpecParameter(name=name, annotation="str", default=None, description=name)
        for name in ("registered", "attended")
    ),
    returns="list[str]",
    returns_description="the names, in their order",
    errors="none",
    user_examples=(),
    examples=(
        SpecExample(
            call=f"{NAME}(registered='a.csv', attended='b.csv')  # a.csv: 'n\\nJosé\\n', b.csv: "
            "'n\\nJose\\u0301 \\n'",
            result="[]",
        ),
    ),
    example_requests=("who is missing?",),
)
HEAD = f"""\
from pathlib import Path

from {NAME} import {NAME}


def absent(tmp_path, registered, attended):
    for name, text in (("a.csv", registered), ("b.csv", attended)):
        Path(tmp_path, name).write_text(text, encoding="utf-8")
    return {NAME}(registered=str(tmp_path / "a.csv"), attended=str(tmp_path / "b.csv"))
"""
FORMER_TESTS = (
    HEAD
    + """

def test_those_who_are_missing(tmp_path):
    assert absent(tmp_path, "n\\nAna\\nBen\\n", "n\\nBen\\n") == ["Ana"]


def test_nobody_is_missing(tmp_path):
    assert absent(tmp_path, "n\\nAna\\n", "n\\nAna\\n") == []
"""
)
HOLDING_THE_FAULT = (
    FORMER_TESTS
    + """

def test_other_spellings_are_other_people(tmp_path):
    assert absent(tmp_path, "n\\nJosé\\n", "n\\nJose\\u0301\\n") == ["José"]
"""
)
NEW_TESTS = (
    HEAD
    + """

def test_spellings_of_one_name(tmp_path):
    assert absent(tmp_path, "n\\nJosé\\nNoé\\n", "n\\nJose\\u0301 \\n") == ["Noé"]
"""
)
WRONG = f'''\
"""Names that are missing."""

import csv


def {NAME}(registered: str, attended: str) -> list[str]:
    with open(registered, encoding="utf-8") as file:
        names = [row[0] for row in csv.reader(file)][1:]
    with open(attended, encoding="utf-8") as file:
        there = {{row[0] for row in csv.reader(file)}}
    return [name for name in names if name not in there]
'''
RIGHT = (
    WRONG.replace("import csv\n", "import csv\nimport unicodedata\n")
    .replace("row[0] for row", "_key(row[0]) for row", 2)
    .replace("[_key(row[0])", "[row[0]")
    .replace("if name not in", "if _key(name) not in")
    + """

def _key(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
"""
)
FILES = {
    file.reference(): file
    for file in (
        File(name="inscritos.csv", content="nombre\nJosé Gil\nNoé Brú\n".encode()),
        File(
            name="asistentes.csv",
            content=unicodedata.normalize("NFD", "nombre\njosé  gil \n").encode(),
        ),
    )
}
ARGUMENTS = {"registered": "inscritos.csv", "attended": "asistentes.csv"}
FIRST = "Who registered but did not attend?"
CONVERSATIONS = {
    "en": (FIRST, "That is not right: José did attend.", "Only Noé Brú did not attend."),
    "es": (
        "¿Quién se inscribió pero no asistió?",
        "No es correcto: José sí asistió.",
        "Solo faltó Noé Brú.",
    ),
    "de": (
        "Wer ist angemeldet, war aber nicht da?",
        "Das stimmt nicht: José war da.",
        "Nur Noé Brú war nicht da.",
    ),
    "ja": (
        "申し込んだのに出席しなかったのは誰ですか？",
        "違います。ホセは出席しました。",
        "欠席はNoé Brúさんだけです。",
    ),
}
"""The first request, the complaint, and the right answer, by language."""
COMPLAINT = CONVERSATIONS["en"][1]
WRONG_RESULT = EarlierResult(
    id="r1",
    turn_id="t1",
    request=FIRST,
    standalone="Who registered but did not attend?",
    tool=NAME,
    arguments=json.dumps(ARGUMENTS),
    begins='["José Gil", "Noé Brú"]',
    reference=ResultReference(kind="list", sha256="0" * 64, size=24, count=2),
)
DISPUTE = FunctionCall(
    name="earlier_result_is_wrong",
    arguments={
        "standalone_request": "Who registered but did not attend? José did attend.",
        "result": "r1",
        "complaint": "José attended.",
    },
)
FIX = SpecificationReply(
    outcome="fix",
    message="",
    specification=SPEC,
    call=f"{NAME}(registered='inscritos.csv', attended='asistentes.csv')",
)


class Correction:
    """The turn after a wrong answer, with a scripted model in a real sandbox."""

    def __init__(
        self, sandbox: SecureSandbox, *replies: Any, tests: str = FORMER_TESTS, candidates: int = 1
    ) -> None:
        wrong = tool(NAME, WRONG).model_copy(update={"tests": tests, "signature": SPEC.signature()})
        self.library = ListedLibrary(wrong)
        self.model = ScriptedModel(*replies)
        self.orchestrator = orchestrator(sandbox, self.model, self.library, candidates)
        self.events: list[Event] = []

    async def run(
        self, complaint: str, marked: Dispute | None = None, *, first: str = FIRST
    ) -> Event:
        history = (
            ChatMessage(role="user", content=first),
            ChatMessage(role="assistant", content="José Gil and Noé Brú."),
        )

        async def read(reference: FileReference) -> File:
            return FILES[reference]

        request = Request(
            complaint,
            history,
            earlier=EarlierFiles(tuple(FILES), read),
            earlier_results=EarlierResults((WRONG_RESULT.model_copy(update={"request": first}),)),
            kind=marked or Asking(),
        )
        async for event in self.orchestrator.begin(request):
            self.events.append(event)
        return self.events[-1]

    @property
    def returned(self) -> list[str]:
        return [e.execution.data for e in self.events if isinstance(e, ExecutionFinished)]

    async def newest(self) -> Tool:
        return await self.library.get(NAME)


@pytest.mark.parametrize(
    "language",
    [
        "en",
        pytest.param("es", marks=pytest.mark.extended),
        pytest.param("de", marks=pytest.mark.extended),  # as below
        "ja",
    ],
)
async def test_a_correction_fixes_the_tool_and_answers_right(
    sandbox: SecureSandbox, language: str
) -> None:
    first, complaint, answer = CONVERSATIONS[language]
    turn = Correction(sandbox, DISPUTE, FIX, fenced(NEW_TESTS), fenced(RIGHT), answer)
    last = await turn.run(complaint, first=first)
    assert (last.type, last.answer) == ("turn_finished", answer)
    assert turn.returned == ['["Noé Brú"]']
    fixed = await turn.newest()
    assert (fixed.version, fixed.code) == (2, RIGHT)
    assert "test_those_who_are_missing" in fixed.tests
    assert (await turn.library.version(NAME, 2)).provenance.origin == Corrected(turn_id="t1")
    assert turn.library.requests == []
    assert turn.library.forgotten == [(NAME, first), (NAME, WRONG_RESULT.standalone)]
    (corrected,) = [e for e in turn.events if isinstance(e, AnswerCorrected)]
    assert (corrected.tool, corrected.version, corrected.turn_id) == (NAME, 2, "t1")


async def test_a_suite_that_the_wrong_version_passes_is_written_again(
    sandbox: SecureSandbox,
) -> None:
    blind = NEW_TESTS.replace("Jose\\u0301 ", "José").replace("spellings", "others")
    turn = Correction(
        sandbox, DISPUTE, FIX, fenced(blind), fenced(NEW_TESTS), fenced(RIGHT), "Noé Brú."
    )
    assert (await turn.run(COMPLAINT)).type == "turn_finished"
    assert "every test passes on version 1" in turn.model.prompts[3].messages[-1].content
    assert (await turn.newest()).version == 2


@pytest.mark.parametrize("candidates", [1, 3])
async def test_a_former_test_that_holds_the_fault_is_dropped(
    sandbox: SecureSandbox, candidates: int
) -> None:
    codes = [RIGHT, RIGHT.replace("key", "folded"), RIGHT.replace("there", "present")][:candidates]
    repair = [fenced(RIGHT)] if candidates == 1 else []
    turn = Correction(
        sandbox,
        DISPUTE,
        FIX,
        fenced(NEW_TESTS),
        *map(fenced, codes),
        *repair * 3,
        "Noé Brú.",
        tests=HOLDING_THE_FAULT,
        candidates=candidates,
    )
    last = await turn.run(COMPLAINT)
    assert last.type == "turn_finished", last
    tests = (await turn.newest()).tests
    assert "test_other_spellings" not in tests
    assert "test_nobody_is_missing" in tests


async def test_what_the_data_refute_is_declined_and_changes_nothing(
    sandbox: SecureSandbox,
) -> None:
    refuted = SpecificationReply(
        outcome="answer", message="Noé Brú is not in asistentes.csv.", specification=None
    )
    turn = Correction(sandbox, DISPUTE, refuted)
    last = await turn.run("Noé did attend.")
    assert last.answer == "Noé Brú is not in asistentes.csv."
    assert (await turn.newest()).version == 1
    assert (turn.library.requests, turn.library.forgotten) == ([], [])


async def test_a_specification_of_the_same_tool_is_a_fix_after_a_complaint(
    sandbox: SecureSandbox,
) -> None:
    plain = FIX.model_copy(update={"outcome": "tool"})
    turn = Correction(sandbox, DISPUTE, plain, fenced(NEW_TESTS), fenced(RIGHT), "Noé Brú.")
    await turn.run(COMPLAINT)
    assert (await turn.newest()).version == 2
    assert turn.returned == ['["Noé Brú"]']


@pytest.mark.parametrize(
    "choice",
    [
        FunctionCall(name=NAME, arguments=ARGUMENTS),
        FunctionCall(name="no_tool_fits", arguments={"reason": "It was wrong."}),
    ],
    ids=["the same call again", "no tool"],
)
async def test_a_dispatcher_that_misses_the_complaint_changes_nothing(
    sandbox: SecureSandbox, choice: FunctionCall
) -> None:
    turn = Correction(sandbox, choice, FIX, fenced(NEW_TESTS), fenced(RIGHT), "Noé Brú.")
    await turn.run(CONVERSATIONS["de"][1])
    assert turn.returned == ['["Noé Brú"]']
    assert (await turn.newest()).version == 2
    assert any(isinstance(e, AnswerCorrected) for e in turn.events)


async def test_an_answer_marked_as_wrong_is_right_on_the_persons_files_and_no_test_has_them(
    sandbox: SecureSandbox,
) -> None:
    near = RIGHT.replace(".casefold()", "")
    turn = Correction(
        sandbox, FIX, fenced(NEW_TESTS), fenced(near), fenced(RIGHT), "Noé Brú.", candidates=1
    )
    marked = Dispute(result=WRONG_RESULT, complaint="José attended.", expected='["Noé Brú"]')
    last = await turn.run("José attended.", marked)
    assert (last.type, last.answer) == ("turn_finished", "Noé Brú.")
    assert turn.events[0].disputes == "t1"
    assert "the person says that ['Noé Brú'] is right" in turn.model.prompts[3].messages[-1].content
    fixed = await turn.newest()
    assert (fixed.version, fixed.code) == (2, RIGHT)
    assert "Gil" not in fixed.tests
    assert turn.library.requests == []


def sum_spec() -> Specification:
    return Specification(
        name="sum_all",
        description="Add up numbers.",
        parameters=(
            SpecParameter(name="numbers", annotation="list[int]", default=None, description="all"),
        ),
        returns="int",
        returns_description="the sum",
        errors="none",
        user_examples=(),
        examples=(
            SpecExample(call="sum_all(numbers=[2, -5])", result="-3"),
            SpecExample(call="sum_all(numbers=[1, -4])", result="5"),
        ),
        example_requests=("add up 1 and 2",),
    )


async def test_the_value_that_a_person_gives_is_a_test_of_its_own(sandbox: SecureSandbox) -> None:
    wrong = "def sum_all(numbers: list[int]) -> int:\n    return sum(map(abs, numbers))\n"
    right = wrong.replace("map(abs, numbers)", "numbers")
    head = "from sum_all import sum_all\n\n\n"
    former = "def test_positive_ones():\n    assert sum_all([1, 2]) == 3\n"
    new = "def test_no_number():\n    assert sum_all([]) == 0\n\n\ndef test_negative():\n    assert sum_all([2, -5]) == -3\n"
    spec = sum_spec()
    fix = SpecificationReply(
        outcome="fix", message="", specification=spec, call="sum_all(numbers=[1, -4])"
    )
    turn = Correction(sandbox, fix, fenced(head + new), fenced(right), "-3.")
    turn.library = ListedLibrary(
        tool("sum_all", wrong).model_copy(
            update={"tests": head + former, "signature": spec.signature()}
        )
    )
    turn.orchestrator = orchestrator(sandbox, turn.model, turn.library, 1)
    result = WRONG_RESULT.model_copy(
        update={"tool": "sum_all", "arguments": '{"numbers": [1, -4]}', "begins": "5"}
    )
    last = await turn.run("Wrong", Dispute(result=result, complaint="Wrong", expected="-3"))
    assert last.type == "turn_finished", last
    tests = (await turn.library.get("sum_all")).tests
    assert "def test_user_example_1():\n    assert sum_all(numbers=[1, -4]) == -3" in tests
    assert "test_positive_ones" in tests
    assert turn.returned == ["-3"]


async def test_a_right_value_is_json_or_a_text_of_the_kind_that_was_returned() -> None:
    assert expected_value("number", "7725") == "7725"
    assert expected_value("number", "7,725 euros") == ""
    assert expected_value("text", "7725") == '"7725"'
    assert expected_value("text", '"a"') == '"a"'
    assert expected_value("table", '[{"a": 1}]') == '[{"a":1}]'
    assert expected_value("list", '{"a": 1}') == ""
    assert expected_value("nothing", "3") == "3"
