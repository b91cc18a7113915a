"""Results in words: what the model is told of an execution, and what the person is told without a
model.
"""

import json
import re

import pytest

from selfeng.core.errors import ModelUnavailable
from selfeng.core.files import File
from selfeng.core.plan import StepResult
from selfeng.core.tool import Tool
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.prompts.request import all_results
from selfeng.stages.response_synthesizer import (
    SHOWN_TO_MODEL,
    ResponseSynthesizer,
    describe,
    described,
    plain,
    plain_results,
    rounded,
)
from selfeng_offline.cookbook.read_prompt import sections_of
from tests.doubles import ScriptedModel, kept, tool


@pytest.mark.parametrize(
    ("execution", "told"),
    [
        (Returned(type_name="int", text="45"), "The result is:\n\n```\n45\n```"),
        (
            Returned(type_name="str", text="xx", truncated=True),
            "The result is:\n\n```\nxx\n```\n\nThe value is longer than this.",
        ),
        (
            Returned(type_name="str", text="a ``` b ~~~~ c"),
            "The result is:\n\n````\na ``` b ~~~~ c\n````",
        ),
        (
            Returned(type_name="str", text="```\n`````\n~~~~"),
            "The result is:\n\n``````\n```\n`````\n~~~~\n``````",
        ),
        (
            Raised(type_name="ValueError", message="it must be positive"),
            "The tool refused this input: it must be positive",
        ),
        (
            Raised(type_name="TypeError", message="it must be a number"),
            "The tool refused this input: it must be a number",
        ),
        (Raised(type_name="ValueError", message=""), "The tool refused this input: ValueError"),
        (Raised(type_name="SystemExit", message="3"), "The tool refused this input: SystemExit: 3"),
        (Raised(type_name="KeyError", message="'a'"), "The tool refused this input: KeyError: 'a'"),
        (
            Raised(type_name="KeyboardInterrupt", message=""),
            "The tool refused this input: KeyboardInterrupt",
        ),
        (
            Killed(reason="It used 30 s of processor time."),
            "The sandbox ended the tool. It used 30 s of processor time.",
        ),
    ],
)
def test_results_are_told_without_a_model(execution: Execution, told: str) -> None:
    assert plain(execution) == told


@pytest.mark.parametrize(
    ("execution", "told"),
    [
        (Returned(type_name="int", text="45"), "45"),
        (Returned(type_name="str", text=""), "(an empty text)"),
        (
            Returned(type_name="str", text="xx", truncated=True),
            "xx\n… (the value is longer than this)",
        ),
        (Raised(type_name="SystemExit", message="3"), "raised SystemExit: 3"),
        (
            Returned(
                type_name="str",
                text="ok",
                files=(File(name="a.csv", content=b""),),
                refused_files=("b: it is a folder.",),
            ),
            "ok\nmade the file a.csv (text/csv), which the person sees below\nleft a file that "
            "can't be handed out, b: it is a folder.",
        ),
        (
            Killed(reason="It used 30 s of processor time."),
            "was ended: It used 30 s of processor time.",
        ),
    ],
)
def test_the_model_is_told_the_outcome(execution: Execution, told: str) -> None:
    assert describe(execution) == told


async def answer(model: ScriptedModel, execution: Execution) -> str:
    return "".join(
        [
            piece
            async for piece in ResponseSynthesizer(model).answer(
                Turn(Request("ask"), [].append), "f()", execution
            )
        ]
    )


async def test_the_model_is_shown_both_ends_of_a_long_result() -> None:
    model = ScriptedModel("It is long.")
    text = "x" * 20_000
    assert (
        await answer(model, Returned(type_name="str", text=text, truncated=True)) == "It is long."
    )
    shown = re.search(
        r"<result>\n(.*)\n</result>", model.prompts[0].messages[-1].content, re.DOTALL
    )
    assert shown is not None
    left = f"{len(text) - SHOWN_TO_MODEL} of {len(text)} characters are left out"
    assert shown[1] == (
        f"{text[:750]}\n… ({left}) …\n{text[-250:]}\n… (the value is longer than this)"
    )


def prompted(model: ScriptedModel) -> dict[str, str]:
    return sections_of(str(model.prompts[0].messages[-1].content))


async def test_the_model_is_told_the_shape_of_a_long_table_and_not_its_rows() -> None:
    rows = json.dumps([{"month": n, "paid": 1013.37 + n} for n in range(360)])
    model = ScriptedModel("These are 360 payments.")
    assert await answer(model, kept(rows)) == "These are 360 payments."
    told = prompted(model)["result"]
    assert told.startswith("a table of 360 rows and 2 columns, in short:\ncolumns:\n- month: ")
    assert 'row 360, the last: {"month":359' in told
    assert len(told) < 500
    assert plain(kept(rows)) == "The result is a table of 360 rows and 2 columns."


def number_tool(name: str, docstring: str) -> Tool:
    return tool(name, f'def {name}(x: float) -> float:\n    """{docstring}"""\n    return x\n')


DISTANCE = number_tool("distance", "The length of a way.\n\n    Returns:\n        In km.\n    ")
CHANCE = number_tool("chance", "How likely a price in EUR rises.\n\n    :returns: A share.\n    ")
NETTO = number_tool("nettobetrag", "Rechnet um.\n\n    Returns:\n        Betrag in €.\n    ")
CUOTA = number_tool("cuota_eur", "La cuota mensual.")
BULBS = number_tool("bulbs", "Bulbs for a budget.\n\n    Returns: The quantity.\n\n    In EUR.")


@pytest.mark.parametrize(
    ("request_text", "tool", "value", "said"),
    [
        ("How far is the cheapest price from here?", DISTANCE, "2.60267", "about 2.603"),
        ("Wie weit ist es? Die Fahrt kostet 3 €.", DISTANCE, "2.60267", "about 2.603"),
        ("¿Qué probabilidad hay de que suba el precio?", CHANCE, "0.0149253", "about 0.01493"),
        ("What is the chance at a price of $5?", CHANCE, "0.0149", None),
        ("Netto von 8,93 brutto", NETTO, "7.5", "7.50"),
        ("¿Cuánto pago al mes?", CUOTA, "3.4567", "about 3.46"),
        ("Wie viele Lampen bekomme ich für 400 €?", BULBS, "200.0", "200"),
        ("¿Cuántas bombillas por 5 euros?", BULBS, "2.5", None),
        ("count them", BULBS, "12", None),
    ],
)
async def test_a_number_has_the_digits_of_what_it_is_whatever_the_request_speaks_of(
    request_text: str, tool: Tool, value: str, said: str | None
) -> None:
    model = ScriptedModel("It is.", ModelUnavailable("no connection"))
    turn = Turn(Request(request_text), [].append)
    responder = ResponseSynthesizer(model)
    pieces = [piece async for piece in responder.answer(turn, "f()", kept(value), tool)]
    assert pieces == ["It is."]
    assert (prompted(model).get("rounded"), prompted(model)["result"]) == (said, value)
    (told,) = [piece async for piece in responder.answer(turn, "f()", kept(value), tool)]
    assert told.startswith(f"The result is {said}." if said else f"The result is:\n\n```\n{value}")


def test_a_value_that_is_too_large_is_said_with_its_size_and_what_to_do() -> None:
    large = Returned(type_name="str", text="x" * 50, truncated=True, too_large=9_437_184)
    size = "the value has 9.0 MB, more than the 8 MB that are kept, so this is its beginning; ask"
    assert size in describe(large)
    assert f"The{size[3:]} for it as a file." in plain(large)


async def test_the_plain_result_stands_in_for_a_model_that_cannot_be_reached() -> None:
    execution = Returned(type_name="str", text="xx", truncated=True)
    told = await answer(ScriptedModel(ModelUnavailable("no connection")), execution)
    assert (
        told == plain(execution) + "\n\n*The model could not put this into words: no connection.*"
    )


def test_long_results_of_a_plan_are_told_by_their_shape() -> None:
    rows = kept(json.dumps([{"n": n} for n in range(90)]))
    long = StepResult(
        id="a", request="list", tool="t", text=rows.text, data=rows.data, summary=described(rows)
    )
    short = StepResult(id="b", request="count", tool="t", text="90", data="90")
    assert plain_results((long, short)) == (
        "The results are:\n\nlist\n\na table of 90 rows and 1 column\n\ncount\n\n```\n90\n```"
    )


def test_a_step_shows_its_value_without_signs_of_python() -> None:
    months = StepResult(
        id="a",
        request="Zähle je Monat",
        tool="t",
        text="{'2026-04': 4, '2026-05': 2.60267}",
        data='{"2026-04": 4, "2026-05": 2.60267}',
    )
    assert months.shown == "2026-04: 4, 2026-05: 2.603"
    assert plain_results((months,)).endswith("```\n2026-04: 4, 2026-05: 2.603\n```")
    assert months.model_copy(update={"data": None}).shown == months.text


def test_a_step_that_names_another_is_told_with_its_value() -> None:
    steps = (
        StepResult(id="reversed", request="Reverse 'abc'", tool="t", text="cba", data="cba"),
        StepResult(id="n", request="Count in 'reversed'", tool="t", text="1", data="1"),
    )
    assert all_results(steps) == (
        '{"request":"Reverse \'abc\'","value":"cba"}\n{"request":"Count in \'cba\'","value":"1"}'
    )


@pytest.mark.parametrize(
    ("execution", "said"),
    [
        (Returned(type_name="Decimal", text="Decimal('7.5')"), "7.50"),
        (Returned(type_name="float", text="inf"), ""),
        (Returned(type_name="str", text="7.5"), ""),
        (Returned(type_name="bool", text="True"), ""),
        (Raised(type_name="float", message="7.5"), ""),
    ],
)
def test_only_numbers_are_rounded(execution: Execution, said: str) -> None:
    assert rounded(execution, NETTO) == said
