"""Proposals: with LIBRARY_CHANGES=ask a new tool or version waits for its person; and what a person
edits and teaches.
"""

import pytest
import sqlalchemy as sa

from selfeng.core.errors import RequestError, ResourceNotFound, SynthesisFailed
from selfeng.core.events import AnswerCorrected, TurnFinished
from selfeng.core.files import File
from selfeng.core.owner import owned_by
from selfeng.core.prompt import FunctionCall
from selfeng.core.provenance import ChangedCall, Corrected, Edited, Proposal, Provenance
from selfeng.core.result import TaughtRow, ToolEdit
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.signature import parse_signature
from selfeng.core.status import Asked
from selfeng.core.tool import Tool
from selfeng.core.turn import Request, Turn
from selfeng.library.tool_editor import Proposals, ProposingLibrary
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import (
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    kept,
    tool,
)
from tests.engine.test_first_runs import sandbox
from tests.engine.test_lessons import engine_on
from tests.engine.test_orchestrator import Turns
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook

__all__ = ["sandbox"]

CALL = FunctionCall(name="add_numbers", arguments={"a": 2, "b": 1})
OTHER = "def add_numbers(a, b=1):\n    return a + b if a < 5 else 0\n"
CONTENTS = {"a.txt": b"one\ntwo", "b.txt": b"one\ntwo\n"}
REAL = pytest.mark.asyncio(loop_scope="session")


class ComparedLibrary(ListedLibrary):
    async def compare(self, request: str, tools: list[ServerTool]) -> tuple[ServerCandidate, ...]:
        return tuple(ServerCandidate(tool=t, similarity=0.7, confidence=0.9) for t in tools)


@pytest.fixture
def waiting(database: sa.Engine) -> Proposals:
    return Proposals(database)


async def proposed(waiting: Proposals, *tools: Tool, draft: Tool | None = None) -> Proposal:
    library = ProposingLibrary(ComparedLibrary(*tools), waiting)
    new = (draft or tool()).draft()
    with owned_by("me"):
        made = (
            await library.revise(new, tools[0].version, Provenance(origin=Edited()))
            if tools
            else await library.add(new)
        )
    assert isinstance(made, Proposal)
    return made


async def test_a_new_tool_waits_and_only_its_person_finds_it(waiting: Proposals) -> None:
    made = await proposed(waiting)
    assert (made.version, made.based_on, waiting.of("me"), waiting.of("you")) == (1, 0, (made,), ())
    library = ProposingLibrary(ComparedLibrary(), waiting)
    with owned_by("me"):
        (found,) = await library.search("2 plus 1")
    assert (found.tool, found.confidence) == (made, 0.9)
    with owned_by("you"):
        assert await library.search("2 plus 1") == ()
    assert await library.tools() == ()


async def test_a_request_that_a_waiting_tool_serves_says_so(waiting: Proposals) -> None:
    made = await proposed(waiting)
    turns = Turns(ScriptedModel(CALL), ScriptedSandbox(), ListedLibrary(made))
    await turns.ask("2 plus 1")
    last = turns.events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.answer, last.outcome.value) == (made.words, "answered")


async def test_no_step_of_a_plan_goes_on_with_a_tool_that_waits(waiting: Proposals) -> None:
    made = await proposed(waiting)
    turns = Turns(ScriptedModel(CALL), ScriptedSandbox(), ListedLibrary(made))
    whole = Turn(Request("2 plus 1, twice"), turns.events.append)
    with pytest.raises(SynthesisFailed, match="waits for your acceptance"):
        await turns.orchestrator._stages.serve_part(whole)


async def test_a_proposal_is_refused_taken_up_again_and_accepted(database: sa.Engine) -> None:
    waiting = Proposals(database)
    async with engine_on(Notebook(database), ScriptedModel(), ScriptedSandbox()) as engine:
        made = await proposed(waiting)
        await engine.review.refuse("me", "add_numbers")
        assert await engine.review.proposals("me") == ()
        assert (await engine.review.refuse("me", "add_numbers", False)) == made
        with pytest.raises(ResourceNotFound):
            await engine.review.accept("you", "add_numbers")
        accepted = await engine.review.accept("me", "add_numbers")
        assert accepted.draft() == made.draft()
        assert await engine.review.proposals("me") == ()


async def test_an_accepted_correction_marks_the_wrong_answer(database: sa.Engine) -> None:
    sandbox = ScriptedSandbox(kept("3"), kept("3"))
    async with engine_on(Notebook(database), ScriptedModel(CALL, "3"), sandbox) as engine:
        engine.library.replace(tool())
        asked, _ = await turn(engine, None, "2 plus 1")
        waiting = Proposals(database)
        made = await proposed(waiting, tool())
        provenance = Provenance(origin=Corrected(turn_id=asked.turn_id))
        waiting.put("me", made.model_copy(update={"provenance": provenance}))
        assert (await engine.review.accept("me", "add_numbers")).version == 2
        await engine.settle()
        history = await engine.conversations.history("me", asked.conversation_id)
        (event,) = [r.event for r in history if isinstance(r.event, AnswerCorrected)]
    assert event == AnswerCorrected(tool="add_numbers", version=2, turn_id=asked.turn_id)


async def test_rows_that_a_tool_fails_begin_a_turn_and_bad_ones_are_refused(
    database: sa.Engine,
) -> None:
    async with engine_on(
        Notebook(database),
        ScriptedModel(RequestError("stop")),
        ScriptedSandbox(again=lambda version: failing("test_user_example_1")),
    ) as engine:
        engine.library.replace(tool())
        row = TaughtRow(arguments={"a": 2}, value=4)
        asked = await engine.teach("me", "add_numbers", [row])
        assert isinstance(asked, Asked)
        await engine.settle()
        first, *_ = await engine.conversations.records("me", asked.turn_id)
        assert first.event.request == "add_numbers(a=2) must return 4"
        with pytest.raises(RequestError, match="no call of add_numbers"):
            await engine.teach("me", "add_numbers", [TaughtRow(arguments={}, value=4)])


@pytest.mark.bubblewrap
@REAL
async def test_what_a_person_edits_is_judged_and_saved(sandbox: SecureSandbox) -> None:
    witness = "def add_numbers(a, b=1):\n    return sum([a, b])\n"
    old = tool().model_copy(update={"witnesses": (witness, OTHER)})
    library = ListedLibrary(old)
    synthesis = SynthesisEngine(ScriptedModel(), sandbox, library, "scripted")
    row = TaughtRow(arguments={"a": 7}, value=8)
    draft = await synthesis.drafted(old, ToolEdit(code=OTHER, rows=(row,)))
    verdict = await synthesis.quick_verdict(draft)
    assert [t.test for t in verdict.tests if t.outcome != "passed"] == ["test_user_example_1"]
    saved = await synthesis.save(old, ToolEdit(rows=(row,)))
    assert (saved.version, saved.code, saved.witnesses) == (2, old.code, (witness,))
    assert "assert add_numbers(a=7) == 8" in saved.tests


@pytest.mark.bubblewrap
@REAL
async def test_a_proposal_shows_the_inputs_for_which_it_differs(sandbox: SecureSandbox) -> None:
    tests = (
        "from add_numbers import add_numbers\n\ndef test_a():\n    assert add_numbers(2, 1) == 3\n"
    )
    old = tool().model_copy(update={"tests": tests})
    synthesis = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(old), "scripted")
    draft = old.draft().model_copy(update={"code": OTHER})
    report = await synthesis.behaviour(old, draft, [KnownCall(arguments={"a": 9, "b": 1})])
    first = ChangedCall(call="add_numbers(a=9, b=1)", before="returns 10", after="returns 0")
    assert (report.recorded, report.calls[0]) == (1, first)
    assert 0 < report.changed < report.compared
    new = await synthesis.behaviour(None, draft, [])
    assert (new.compared, new.calls[0].before) == (0, "")


@pytest.mark.bubblewrap
@REAL
async def test_an_update_that_fails_own_tests_or_calls_is_accepted_anyway_only(
    sandbox: SecureSandbox, database: sa.Engine
) -> None:
    tests = (
        "from add_numbers import add_numbers\n\ndef test_a():\n    assert add_numbers(9, 1) == 10\n"
    )
    old = tool().model_copy(update={"tests": tests})
    synthesis = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(old), "scripted")
    draft = old.draft().model_copy(update={"code": OTHER})
    recorded = [KnownCall(arguments={"a": a, "b": 1}) for a in (2, 9)]
    objections = await synthesis.objections(old, draft, recorded)
    assert objections == (
        "of your tests, test_a fails (+  where 0 = add_numbers(9, 1))",
        "add_numbers(a=9, b=1) returns 10, and with it returns 0",
    )
    assert await synthesis.objections(old, old.draft(), recorded) == ()
    waiting = Proposals(database)
    async with engine_on(Notebook(database), ScriptedModel(), ScriptedSandbox()) as engine:
        engine.library.replace(old)
        made = await proposed(waiting, old)
        waiting.put("me", made.model_copy(update={"objections": objections}))
        with pytest.raises(RequestError, match="test_a fails") as refused:
            await engine.review.accept("me", "add_numbers")
        assert "--anyway" in refused.value.remedy
        assert (await engine.review.accept("me", "add_numbers", anyway=True)).version == 2


LINES = 'def count_lines(path: str) -> int:\n    return len(open(path).read().split("\\n"))\n'


@pytest.mark.bubblewrap
@REAL
async def test_a_proposal_is_compared_on_the_files_of_earlier_calls(sandbox: SecureSandbox) -> None:
    old = tool("count_lines", LINES).model_copy(
        update={"tests": "", "signature": parse_signature(LINES, "count_lines")}
    )
    draft = old.draft().model_copy(update={"code": LINES.replace('split("\\n")', "splitlines()")})
    synthesis = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(old), "scripted")
    files = {name: File(name=name, content=text) for name, text in CONTENTS.items()}
    recorded = [KnownCall(arguments={"path": n}, files=(f,)) for n, f in files.items()]
    report = await synthesis.behaviour(old, draft, recorded)
    assert (report.compared, report.recorded, report.changed) == (2, 2, 1)
    changed = ChangedCall(call="count_lines(path='b.txt')", before="returns 3", after="returns 2")
    assert report.calls == (changed,)
