import pytest
from format_json import format_json


def test_entries_stand_on_lines_of_their_own():
    assert format_json(json_text='{"b":1,"a":[true,null]}') == '{\n  "b": 1,\n  "a": [\n    true,\n    null\n  ]\n}'


def test_indent_can_be_chosen():
    assert format_json(json_text='{"a":1}', indent=4) == '{\n    "a": 1\n}'
    assert format_json(json_text="[1,2]", indent=0) == "[\n1,\n2\n]"


def test_keys_can_be_sorted():
    assert format_json(json_text='{"b":1,"a":2}', sort_keys=True) == '{\n  "a": 2,\n  "b": 1\n}'


def test_text_outside_ascii_stays_readable():
    assert format_json(json_text='["\\u00e4", "日本"]') == '[\n  "ä",\n  "日本"\n]'


def test_empty_and_single_values():
    assert format_json(json_text="{}") == "{}"
    assert format_json(json_text=" 7 ") == "7"


def test_text_that_is_not_json_is_refused():
    with pytest.raises(ValueError):
        format_json(json_text="{'a': 1}")
    with pytest.raises(ValueError):
        format_json(json_text="[NaN]")


def test_senseless_indents_are_refused():
    with pytest.raises(ValueError):
        format_json(json_text="{}", indent=-1)
