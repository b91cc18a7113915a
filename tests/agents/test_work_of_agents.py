"""Pieces of the agents' work: their workspace, the functions of a model, and what a thread shows of
itself.
"""

import pytest

from selfeng.agents.agent_workspace import AgentWorkspace
from selfeng.core.errors import RequestError
from selfeng.core.files import File
from selfeng.core.prompt import ChatMessage
from selfeng.core.question import (
    Answer,
    Question,
    answer_problem,
    answers_text,
    completed,
    questions_problem,
    questions_text,
)
from selfeng.prompts.agent_thread import within_limits
from tests.agents.workshop import printed
from tests.doubles import ScriptedSandbox

UNIT = Question(
    id="unit", question="Which unit?", answer="choice", options=("m", "ft"), default="m"
)
SIZE = Question(id="size", question="How long?", why="It decides the scale.", answer="number")


async def test_files_last_from_run_to_run_until_the_code_deletes_them():
    a, b = File(name="a", content=b"1"), File(name="b", content=b"2")
    newer = File(name="a", content=b"3")
    sandbox = ScriptedSandbox(printed("", newer, left=("b",)), printed("", left=("a",)))
    workspace = AgentWorkspace(sandbox, (a, b))
    await workspace.run("write a")
    assert set(workspace.files) == {newer, b}
    await workspace.run("delete b")
    assert workspace.files == (newer,)
    assert [arguments for _, arguments in sandbox.executed] == [
        {"code": "write a"},
        {"code": "delete b"},
    ]


def test_a_thread_is_shown_from_its_newest_end_and_never_without_its_system_prompt():
    system, *rest = (
        ChatMessage(role=role, content=role[0] * 20_000)
        for role in ("system", "user", "assistant", "user", "assistant", "user")
    )
    assert within_limits((system, *rest)) == (system, rest[-1])
    assert within_limits((system, *rest[:2])) == (system, *rest[:2])
    huge = ChatMessage(role="user", content="x" * 90_000)
    assert within_limits((system, huge)) == (system, huge)


@pytest.mark.parametrize(
    ("question", "value", "problem"),
    [
        (UNIT, "ft", ""),
        (UNIT, "mile", "unit='mile' is not one of m, ft"),
        (SIZE, "-2.5e3", ""),
        (SIZE, "nan", "size='nan' is not a number"),
        (
            Question(id="sure", question="Sure?", answer="yes_no"),
            "maybe",
            "sure='maybe' is neither yes nor no",
        ),
        (Question(id="name", question="Name?"), " ", "name has no answer"),
    ],
)
def test_an_answer_fits_its_question_or_says_why_not(question, value, problem):
    assert answer_problem(question, value) == problem


@pytest.mark.parametrize(
    ("questions", "problem"),
    [
        ([UNIT, SIZE], ""),
        ([], "a round has 1 to 3 questions, not 0"),
        ([UNIT, UNIT], "two questions have the id unit"),
        (
            [UNIT.model_copy(update={"options": ("m",)})],
            "the question unit has 1 option; a choice is among two or more",
        ),
        ([SIZE.model_copy(update={"default": "far"})], "the default of size='far' is not a number"),
    ],
)
def test_what_can_t_be_asked_is_said_with_the_reason(questions, problem):
    assert questions_problem(questions) == problem


def test_answers_are_checked_against_what_is_open_and_told_in_words():
    answers = completed((UNIT, SIZE), (Answer(id="size", value="3"), Answer(id="unit", value="ft")))
    assert answers_text(answers) == "How long? 3\nWhich unit? ft"
    assert questions_text((UNIT, SIZE), "Two things:") == (
        "Two things:\n- **unit**: Which unit? (m | ft; default: m)\n- **size**: How long? (a "
        "number) It decides the scale."
    )
    for wrong in (Answer(id="other", value="1"), Answer(id="size", value="x")):
        with pytest.raises(RequestError):
            completed((UNIT, SIZE), (wrong,))
