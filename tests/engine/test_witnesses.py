"""Witnesses: other candidates of a tool are called as the tool was, and compared with it."""

import pytest

from selfeng.core.errors import SandboxFailed
from selfeng.core.events import AnswerToken, FilesMade, QuestionsAsked, TurnFinished, Witnessed
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.result import EarlierResult
from selfeng.core.spec import SpecificationReply
from selfeng.core.tool import Tool
from selfeng.core.turn import EarlierResults, Request
from selfeng.core.verdict import Execution, Raised, Returned
from selfeng.sandbox import SecureSandbox
from tests.doubles import (
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    handled,
    kept,
    returned,
    tool,
)
from tests.engine.test_first_runs import sandbox
from tests.engine.test_orchestrator import Turns

__all__ = ["sandbox"]

ADD = FunctionCall(name="add_numbers", arguments={"a": 2, "b": None})
OTHERS = (
    "def add_numbers(a, b=1):\n    return sum([a, b])\n",
    "def add_numbers(a, b=1):\n    return a - -b\n",
)
RAISED = Raised(type_name="ValueError", message="no")
EARLIER = EarlierResult(
    id="r1",
    turn_id="t1",
    request="2 plus 1",
    tool="add_numbers",
    arguments='{"a": 2}',
    begins="3",
    reference=kept("3").value,
)


def witnessed_tool() -> Tool:
    return tool().model_copy(update={"witnesses": OTHERS})


def values(*others: str) -> Returned:
    """The value of the witnesses' job."""
    return returned(f"[{', '.join(f'[{value}]' for value in others)}]")


def turns(*outcomes: Execution | Exception) -> Turns:
    return Turns(
        ScriptedModel(ADD, "It is\n3."), ScriptedSandbox(*outcomes), ListedLibrary(witnessed_tool())
    )


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ((values("3", "3.0"),), Witnessed(tool="add_numbers", agree=2, of=2)),
        ((values("3", ""),), Witnessed(tool="add_numbers", agree=1, of=1)),
        ((values("", ""),), None),
        ((RAISED,), None),
        ((SandboxFailed("it broke"),), None),
    ],
    ids=["both agree", "one raises", "both raise", "the job fails", "no sandbox"],
)
async def test_an_answer_says_how_many_witnesses_agree(others, said) -> None:
    asked = turns(returned("3"), *others)
    await asked.ask("2 plus 1")
    assert [e for e in asked.events if isinstance(e, Witnessed)] == ([said] if said else [])
    last = asked.events[-1]
    assert isinstance(last, TurnFinished)
    assert (last.answer, last.outcome.value) == ("It is\n3.", "answered")


async def test_a_witness_that_differs_asks_before_anything_of_the_answer_is_shown() -> None:
    asked = turns(returned("3"), values("3", "4"))
    await asked.ask("2 plus 1")
    (said,) = [e for e in asked.events if isinstance(e, Witnessed)]
    assert said == Witnessed(tool="add_numbers", agree=1, of=2, other="4")
    (questions,) = [e for e in asked.events if isinstance(e, QuestionsAsked)]
    assert questions.questions[0].options == ("3", "4")
    pieces = [e.text for e in asked.events if isinstance(e, AnswerToken)]
    assert not [piece for piece in pieces if "It is" in piece]
    assert asked.events[-1].outcome.value == "asked"


async def test_what_a_witness_writes_is_dropped() -> None:
    own = File(name="own.txt", content=b"own")
    other = File(name="other.txt", content=b"other")
    first, second = (
        Returned(type_name="int", text=text, data=text, files=(file,))
        for text, file in (("3", own), ("[[3], [3]]", other))
    )
    asked = turns(first, second)
    await asked.ask("2 plus 1")
    (made,) = [e for e in asked.events if isinstance(e, FilesMade)]
    assert made.contents == (own,)


async def answered(value: str, *replies, outcomes) -> Turns:
    """A turn after the question, with the person's answer."""
    asked = Turns(
        ScriptedModel(*replies), ScriptedSandbox(*outcomes), ListedLibrary(witnessed_tool())
    )
    request = Request(
        "2 plus 1",
        answers=(Answer(id="witness", value=value),),
        rounds=1,
        earlier_results=EarlierResults((EARLIER,)),
    )
    async for event in asked.orchestrator.begin(request):
        asked.events.append(event)
    return asked


async def test_a_value_that_the_person_confirms_is_not_asked_about_again() -> None:
    outcomes = [returned("3"), values("3", "4")]
    asked = await answered("3", ADD, "It is\n3.", outcomes=outcomes)
    assert not [e for e in asked.events if isinstance(e, QuestionsAsked)]
    assert asked.events[-1].answer == "It is\n3."


@pytest.mark.bubblewrap
@pytest.mark.asyncio(loop_scope="session")
async def test_a_value_that_the_person_confirms_becomes_a_test(sandbox: SecureSandbox) -> None:
    right, wrong = OTHERS[0], "def add_numbers(a, b=1):\n    return 4\n"
    library = ListedLibrary(tool().model_copy(update={"witnesses": (right, wrong)}))
    asked = Turns(ScriptedModel(ADD, "It is 3."), sandbox, library)
    request = Request(
        "2 plus 1",
        answers=(Answer(id="witness", value="3"),),
        rounds=1,
        earlier_results=EarlierResults((EARLIER,)),
    )
    async for event in asked.orchestrator.begin(request):
        asked.events.append(event)
    await asked.orchestrator._runtime.aflush_tasks()
    newest = await library.get("add_numbers")
    assert (newest.version, newest.witnesses) == (2, (right,))
    assert "assert add_numbers(a=2) == 3" in newest.tests


async def test_the_other_value_disputes_the_result() -> None:
    declines = SpecificationReply(outcome="answer", message="It is 3.", specification=None)
    asked = await answered("4", declines, outcomes=[])
    (prompt,) = asked.model.prompts
    assert prompt.name == "specification"
    assert "must return 4" in prompt.messages[-1].content
    assert '"right":"4"' in prompt.messages[-1].content


FILES = tuple(
    f"def add_numbers(a, b=1):\n    open('f.txt', 'a').write('x')\n    return {value}\n"
    for value in ("len(open('f.txt').read())", "a")
)


@pytest.mark.bubblewrap
@pytest.mark.asyncio(loop_scope="session")
async def test_witnesses_see_the_files_as_they_came_and_leave_nothing(
    sandbox: SecureSandbox,
) -> None:
    file, listed = File(name="f.txt", content=b"--"), witnessed_tool()
    listed = listed.model_copy(update={"witnesses": (FILES[0], FILES[0] + "#", FILES[1])})
    asked = Turns(ScriptedModel(ADD, "It is 3."), sandbox, ListedLibrary(listed))
    await handled(asked.orchestrator, "2 plus 1", asked.events.append, files=[file])
    (said,) = [e for e in asked.events if isinstance(e, Witnessed)]
    assert said == Witnessed(tool="add_numbers", agree=2, of=3, other="2")
    assert not [e for e in asked.events if isinstance(e, FilesMade)]


async def test_a_tool_without_witnesses_says_nothing_of_them() -> None:
    asked = Turns(
        ScriptedModel(ADD, "It is\n3."), ScriptedSandbox(returned("3")), ListedLibrary(tool())
    )
    assert "witnessed" not in await asked.ask("2 plus 1")
