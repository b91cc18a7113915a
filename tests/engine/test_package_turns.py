"""Whole turns on a scripted model with the real sandbox and package index: a tool that needs a
package is built with consent, and used again; without consent the request is served without it.
"""

import pytest
import sqlalchemy as sa

from selfeng.core.events import ConsentDecided, ExecutionFinished, QuestionsAsked
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.sandbox import SecureSandbox
from tests.doubles import ScriptedModel, ScriptedNetwork, fenced
from tests.engine.test_first_runs import sandbox
from tests.engine.test_lessons import engine_on
from tests.engine.test_questions import turn
from tests.engine.test_world_turns import of
from tests.lessons.notebook import Notebook

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

NAME = "ordinal_of"
SPEC = Specification(
    name=NAME,
    description="Write a whole number as an English ordinal such as 3rd.",
    parameters=(
        SpecParameter(name="number", annotation="int", default=None, description="the number"),
    ),
    returns="str",
    returns_description="the ordinal",
    errors="ValueError if the number is negative",
    user_examples=(),
    examples=(
        SpecExample(call=f"{NAME}(number=1)", result="'1st'"),
        SpecExample(call=f"{NAME}(number=12)", result="'12th'"),
    ),
    example_requests=("the ordinal of 7",),
    packages=("humanize>=4,<4.10",),
)
SPECIFIED = SpecificationReply(
    outcome="tool", message="", specification=SPEC, call=f"{NAME}(number=103)"
)
TESTS = f"""
import pytest

from {NAME} import {NAME}


def test_ordinals_of_small_numbers():
    assert [{NAME}(number=n) for n in (1, 2, 3, 4)] == ["1st", "2nd", "3rd", "4th"]


def test_ordinals_of_the_teens():
    assert {NAME}(number=12) == "12th"
    assert {NAME}(number=113) == "113th"


def test_zero_is_a_boundary():
    assert {NAME}(number=0) == "0th"


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="-1"):
        {NAME}(number=-1)
"""
CODE = f'''
import humanize


def {NAME}(number: int) -> str:
    """Write a whole number as an English ordinal."""
    if number < 0:
        raise ValueError(f"{{number}} is negative")
    return humanize.ordinal(number)
'''
PLAIN = f'''
def {NAME}(number: int) -> str:
    """Write a whole number as an English ordinal."""
    if number < 0:
        raise ValueError(f"{{number}} is negative")
    ending = "th" if number % 100 in (11, 12, 13) else {{1: "st", 2: "nd", 3: "rd"}}.get(number % 10, "th")
    return f"{{number}}{{ending}}"
'''
AGAIN = FunctionCall(name=NAME, arguments={"number": 22})


async def test_a_tool_is_built_with_a_package_by_consent_and_used_again(
    database: sa.Engine, sandbox: SecureSandbox
) -> None:
    wrong = CODE.replace("import humanize", "import humanise")
    model = ScriptedModel(SPECIFIED, fenced(TESTS), fenced(wrong), fenced(CODE), "It is 103rd.")
    pages = ScriptedNetwork()
    async with engine_on(Notebook(database), model, sandbox, pages=pages) as engine:
        begun, first = await turn(engine, None, "write 103 as an ordinal, with humanize")
        (asked,) = of(QuestionsAsked, first)
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        assert second[-1].answer == "It is 103rd.", second[-1]
        library = engine.model_parts.current.executor._library
        built = await library.get(NAME)
        grants = await engine.network.grants()

        model.extend(AGAIN, "It is 22nd.")
        _, third = await turn(engine, None, "and the ordinal of 22?")
        await engine.network.revoke(NAME)
        model.extend(AGAIN)
        _, fourth = await turn(engine, None, "the ordinal of 22 again?")
    question = asked.questions[0]
    assert question.question == f"May the tool {NAME!r} use the package humanize?"
    assert question.why.startswith("Its code needs humanize 4.9.0 (0.1 MB, MIT")
    assert of(ConsentDecided, second)[0].server == "humanize"
    assert [(g.need.name, str(g.need).split()[1]) for g in grants] == [("humanize", "4.9.0")]
    assert built.lock
    assert built.lock == asked.specified.lock
    assert (built.lock.versions, built.lock.modules) == (
        {"humanize": "4.9.0"},
        {"humanize": "humanize"},
    )
    assert "humanise" in model.prompts[3].messages[-1].content
    assert "`humanize` (of the package humanize)" in model.prompts[2].messages[0].content
    assert of(ExecutionFinished, third)[0].execution.text == "22nd"
    assert of(QuestionsAsked, third) == []
    assert of(QuestionsAsked, fourth)[0].call == AGAIN
    assert pages.sent == []


async def test_without_consent_the_request_is_served_without_the_package(
    database: sa.Engine, sandbox: SecureSandbox
) -> None:
    without = SPECIFIED.model_copy(
        update={"specification": SPEC.model_copy(update={"packages": ()})}
    )
    model = ScriptedModel(
        SPECIFIED, without, fenced(TESTS), fenced(PLAIN), "It is 103rd, in English only."
    )
    async with engine_on(Notebook(database), model, sandbox, pages=ScriptedNetwork()) as engine:
        begun, first = await turn(engine, None, "write 103 as an ordinal, with humanize")
        (asked,) = of(QuestionsAsked, first)
        answers = (Answer(id=asked.questions[0].id, value="no"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        built = await engine.model_parts.current.executor._library.get(NAME)
    assert "the person does not allow humanize" in model.prompts[1].messages[-1].content
    assert "did not allow humanize" in model.prompts[-1].messages[0].content
    assert (built.lock, built.needs) == (None, ())
    assert second[-1].answer == "It is 103rd, in English only."
