"""Values read out of what a model wrote."""

from datetime import date
from typing import Any

import pytest

from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.value import Value
from selfeng.models.reply_form import ReplyForm


class Item(Value):
    name: str
    due: date | None


class List(Value):
    title: str
    items: tuple[Item, ...]
    note: str | None
    more: dict[str, Item] | None


FULL = {"title": "T", "items": [{"name": "a", "due": "2024-02-29"}], "note": None, "more": None}
VALUE = List(title="T", items=(Item(name="a", due=date(2024, 2, 29)),), note=None, more=None)


def read(*found: Any) -> List:
    return ReplyForm(List).read(found)


@pytest.mark.parametrize(
    "found",
    [
        pytest.param([FULL], id="as it is"),
        pytest.param([[FULL]], id="in a list"),
        pytest.param([{"List": [FULL]}], id="in two wrappers"),
        pytest.param([{"a": 1}, FULL, [1]], id="among others"),
        pytest.param([{**FULL, "title": "draft"}, FULL], id="the last of two"),
        pytest.param([{"title": "T", "items": FULL["items"]}], id="nulls left out"),
        pytest.param(
            [{**FULL, "items": [{"name": "a", "due": "2024-02-29", "done": False}], "why": "x"}],
            id="with unknown fields",
        ),
    ],
)
def test_the_one_value_that_is_meant_is_read(found: list[Any]) -> None:
    assert read(*found) == VALUE


def test_what_fits_as_it_is_comes_before_what_has_to_be_mended() -> None:
    assert read(FULL, {"title": "U", "items": []}) == VALUE


@pytest.mark.parametrize(
    ("found", "problem"),
    [
        ([], "it holds no valid JSON object"),
        ([[1, 2]], "it holds no valid JSON object"),
        ([{}], "title: Field required; items: Field required; note: Field required; more: Field "
"required"),
        ([{"title": "T"}, {"x": 1}], "items: Field required; note: Field required; more: Field "
"required"),
        ([{**FULL, "title": None}], "title: Input should be a valid string"),
        ([{**FULL, "title": ["T"]}], "title: Input should be a valid string"),
        ([{**FULL, "title": float("inf")}], "title: Input should be a valid string"),
        ([{**FULL, "items": None}], "items: Input should be a valid array"),
        ([{**FULL, "items": [{"name": "a", "due": "soon"}]}], "items.0.due: Input should be a "
"valid date or datetime, input is too short"),
        ([{**FULL, "items": [{}] * 4}], "items.0.name: Field required; items.0.due: Field "
"required; items.1.name: Field required; "
         "items.1.due: Field required; items.2.name: Field required; and 3 more"),
        ([{**FULL, "title": "\ud800"}], "the object: *"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_of_the_most_likely_value(found: list[Any], problem: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(*found)
    assert str(caught.value).startswith(problem.rstrip("*"))
    assert problem.endswith("*") or str(caught.value) == problem


def test_nothing_is_mended_where_no_field_is_known() -> None:
    class Optional(Value):
        note: str | None

    with pytest.raises(ValueError, match="note: Field required"):
        ReplyForm(Optional).read([{"remark": "x"}])


def test_reading_changes_nothing() -> None:
    found = {"title": "T", "items": [{"name": "a", "due": "2024-02-29", "done": False}]}
    read(found)
    assert found == {"title": "T", "items": [{"name": "a", "due": "2024-02-29", "done": False}]}


class Call(Value):
    function: str
    default: str | None
    errors: str
    examples: tuple[str, ...]
    tags: list[str]


CALL: dict[str, Any] = {"function": "f", "default": None, "errors": "", "examples": [], "tags": []}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({**CALL, "default": 2}, {"default": "2"}),
        ({**CALL, "default": -0.5}, {"default": "-0.5"}),
        ({**CALL, "default": True}, {"default": "True"}),
        ({**CALL, "examples": ["a", 2, False]}, {"examples": ("a", "2", "False")}),
        ({**CALL, "tags": [1.0]}, {"tags": ["1.0"]}),
        ({"function": "f", "default": 2, "tags": []}, {"default": "2"}),
        ({"function": "f", "errors": "", "examples": [], "why": "x"}, {}),
    ],
)
def test_numbers_for_text_become_python_and_missing_fields_empty(
    given: dict[str, Any], meant: dict[str, Any]
) -> None:
    expected = Call(**{**CALL, **meant})
    assert ReplyForm(Call).read([given]) == expected


@pytest.mark.parametrize("given", [{"str": 2}, [2], [{"str": 2}]])
def test_a_branch_of_a_union_is_not_mended(given: Any) -> None:
    class Either(Value):
        name: str
        value: str | tuple[Item, ...]

    with pytest.raises(ValueError, match="value"):
        ReplyForm(Either).read([{"name": 1, "value": given}])


def test_where_most_is_missing_nothing_is_made_up() -> None:
    with pytest.raises(
        ValueError, match="errors: Field required; examples: Field required; tags: Field required"
    ):
        ReplyForm(Call).read([{"function": "f", "default": None}])


def test_the_fullest_of_several_values_is_mended() -> None:
    assert ReplyForm(Call).read(
        [{**CALL, "default": 2}, {"function": "g", "errors": "e", "tags": []}]
    ) == Call(**{**CALL, "default": "2"})


def test_a_specification_as_real_models_write_it_needs_no_repair() -> None:
    parameter = {"name": "times", "annotation": "int", "default": 2, "description": "How often."}
    example = {"call": "f()", "result": 4}
    known = {
        "name": "f",
        "description": "Doubles.",
        "returns": "int",
        "returns_description": "The double.",
    }
    specification = {**known, "parameters": [parameter], "examples": [example]}
    reply = ReplyForm(SpecificationReply).read(
        [{"outcome": "tool", "specification": specification}]
    )
    assert reply == SpecificationReply(
        outcome="tool",
        message="",
        specification=Specification(
            **known,
            parameters=(SpecParameter(**{**parameter, "default": "2"}),),
            errors="",
            user_examples=(),
            examples=(SpecExample(call="f()", result="4"),),
            example_requests=(),
        ),
    )
