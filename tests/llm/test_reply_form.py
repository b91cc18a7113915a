"""Values read out of what a model wrote."""

from datetime import date
from typing import Any

import pytest

from src.core.value import Value
from src.llm.reply_form import ReplyForm


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
        pytest.param([{**FULL, "items": [{"name": "a", "due": "2024-02-29", "done": False}], "why": "x"}], id="with unknown fields"),
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
        ([{}], "title: Field required; items: Field required; note: Field required; more: Field required"),
        ([{"title": "T", "note": None, "more": None}, {"x": 1}], "items: Field required"),
        ([{**FULL, "items": [{"name": "a", "due": "soon"}]}], "items.0.due: Input should be a valid date or datetime, input is too short"),
        ([{**FULL, "items": [{}] * 4}], "items.0.name: Field required; items.0.due: Field required; items.1.name: Field required; "
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
