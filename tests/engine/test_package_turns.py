"""Whole turns on a scripted model with the real sandbox and package index: a tool that needs a
package is built with consent, and used again; without consent the request is served without it.
"""

import asyncio

import pytest
import sqlalchemy as sa

from selfeng.core.events import ConsentDecided, ExecutionFinished, QuestionsAsked
from selfeng.core.package_lock import lock_packages
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import Tool
from selfeng.sandbox import SecureSandbox
from tests.doubles import ScriptedModel, ScriptedNetwork, fenced, tool
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
BOTH = "ordinal_and_roman"
BOTH_CODE = f'''
from {NAME} import {NAME}
from roman_of import roman_of


def {BOTH}(number: int) -> str:
    """Write a whole number as an ordinal, and in Roman numerals."""
    return f"{{{NAME}(number)}} ({{roman_of(number)}})"
'''
BOTH_TESTS = f"""
import pytest

from {BOTH} import {BOTH}


def test_small_numbers():
    assert [{BOTH}(number=n) for n in (1, 4)] == ["1st (I)", "4th (IV)"]


def test_a_larger_number():
    assert {BOTH}(number=112) == "112th (CXII)"


def test_negative_numbers_are_refused():
    with pytest.raises(ValueError, match="-1"):
        {BOTH}(number=-1)
"""
ONE_CODE = f'''
from {NAME} import {NAME}


def {BOTH}(number: int) -> str:
    """Write a whole number as an ordinal, and in Roman numerals."""
    left, numeral = number, ""
    for value, letters in ((100, "C"), (10, "X"), (5, "V"), (4, "IV"), (1, "I")):
        count, left = divmod(left, value)
        numeral += letters * count
    return f"{{{NAME}(number)}} ({{numeral}})"
'''
ROMAN = """
import roman


def roman_of(number: int) -> str:
    return roman.toRoman(number)
"""
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


def with_both(*more: object) -> ScriptedModel:
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes both"})
    spec = SPEC.model_copy(
        update={
            "name": BOTH,
            "description": "Write a whole number as an ordinal, and in Roman numerals.",
            "examples": (SpecExample(call=f"{BOTH}(number=4)", result="'4th (IV)'"),),
            "packages": (),
        }
    )
    update = {"specification": spec, "call": f"{BOTH}(number=103)"}
    return ScriptedModel(none, SPECIFIED.model_copy(update=update), fenced(BOTH_TESTS), *more)  # type: ignore[arg-type]


async def packaged(name: str, code: str, requirement: str) -> Tool:
    lock = await asyncio.to_thread(lock_packages, [requirement])
    return tool(name, code).model_copy(update={"lock": lock})


async def test_a_tool_that_imports_two_has_the_packages_of_both(
    database: sa.Engine, sandbox: SecureSandbox
) -> None:
    model, pages = with_both(fenced(BOTH_CODE)), ScriptedNetwork()
    ordinal = await packaged(NAME, CODE, "humanize>=4,<4.10")
    numerals = await packaged("roman_of", ROMAN, "roman>=4,<6")
    async with engine_on(Notebook(database), model, sandbox, pages=pages) as engine:
        library = engine.model_parts.current.executor._library
        library.replace(ordinal)
        library.replace(numerals)
        begun, first = await turn(engine, None, "103 as an ordinal, and in Roman numerals")
        (asked,) = of(QuestionsAsked, first)
        model.extend("Both.")
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        built = await library.get(BOTH)
    assert asked.questions[0].question == f"May the tool {BOTH!r} use the packages humanize, roman?"
    assert of(ExecutionFinished, second)[0].execution.text == "103rd (CIII)"
    assert built.lock
    assert built.lock.versions == {**ordinal.lock.versions, **numerals.lock.versions}  # type: ignore[union-attr]


async def test_tools_whose_packages_conflict_are_not_imported_together(
    database: sa.Engine, sandbox: SecureSandbox
) -> None:
    numerals = await packaged("roman_of", ROMAN, "humanize>=4.10,<4.12")
    ordinal = await packaged(NAME, CODE, "humanize>=4,<4.10")
    model, pages = with_both(fenced(BOTH_CODE), fenced(ONE_CODE)), ScriptedNetwork()
    async with engine_on(Notebook(database), model, sandbox, pages=pages) as engine:
        library = engine.model_parts.current.executor._library
        library.replace(ordinal)
        library.replace(numerals)
        _, events = await turn(engine, None, "103 as an ordinal, and in Roman numerals")
    (asked,) = of(QuestionsAsked, events)
    told = model.prompts[4].messages[-1].content
    assert f"{NAME} needs humanize 4.9.0" in told, told
    assert "roman_of needs humanize 4.11.0, but only one can be there" in told, told
    assert asked.questions[0].question == f"May the tool {BOTH!r} use the package humanize?"
