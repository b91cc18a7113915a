"""JSON found in text."""

from typing import Any

import pytest

from selfeng.models.json_text import find, mended, parse


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("no JSON here", []),
        ("42", []),
        ('{"a": 1}', [{"a": 1}]),
        (' \n{"a": 1}\n', [{"a": 1}]),
        ('```json\n{"a": {"b": 2}}\n```', [{"a": {"b": 2}}]),
        ('Use {braces} and [brackets], then {"a": "}"} or {"b": 2}.', [{"a": "}"}, {"b": 2}]),
        ("see [1] and [2]", [[1], [2]]),
        ('{"a": 1', []),
        ('{"a": {"b": 2}', [{"b": 2}]),
        ('"{\\"a\\": 1}"', [{"a": 1}]),
        ('{"text": "<think>{}</think>"}', [{"text": "<think>{}</think>"}]),
        ("[" * 100_000, []),
        ('{"a":' * 5_000, []),
        ("{" * 50_000 + '{"a": 1}', []),
        ("{1" + "0" * 5_000 + "}", []),
    ],
)
def test_objects_and_arrays_are_found_in_any_text(text: str, found: list[Any]) -> None:
    assert find(text) == found


@pytest.mark.parametrize("text", ["", "{", "nothing", "[" * 100_000, "1" * 5_000])
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value"), [('"{}"', {}), ('"plain"', "plain"), ("[1]", [1]), ('"[no"', None)]
)
def test_json_in_a_json_string_is_parsed_too(text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(ValueError, match="Expecting"):
            parse(text)
    else:
        assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it\\'s', 'b': True, 'c': None}", {"a": "it's", "b": True, "c": None}),
        ('{"a": 1, // one\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "def f():\n    pass\n"}', {"a": "def f():\n    pass\n"}),
        ('{a: 1, b: "x"}', {"a": 1, "b": "x"}),
        ('{"a": "x" "b": 2}', {"a": "x", "b": 2}),
        ('{"a": "He said "hi" to me", "b": 2}', {"a": 'He said "hi" to me', "b": 2}),
        ("{“a”: “x”}", {"a": "x"}),
        ('{"a": {"b": 1}', {"a": {"b": 1}}),
        ("Here it is:\n```json\n{'a': 1}\n```\nDone.", {"a": 1}),
        ('<tool_call>{"a": 1,}</tool_call>', {"a": 1}),
    ],
)
def test_slips_are_mended(text: str, value: Any) -> None:
    assert mended(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would build a tool for that.",
        '{"a": "cut of',
        '{"a": "see [1] and mo',
        '{"a": [1], "b": "cut',
        '{"a": 1, "b":',
        '{"a": [...]}',
        '{"a": ..., "b": 2}',
        '{"a": <your text>}',
        "{" * 50_000,
    ],
)
def test_nothing_is_made_up(text: str) -> None:
    assert mended(text) == []
