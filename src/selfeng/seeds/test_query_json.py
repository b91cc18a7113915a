import pytest
from query_json import query_json


def test_key_of_an_object():
    assert query_json(json_text='{"name": "Ann", "age": 30}', path="age") == 30


def test_nested_path_with_an_index():
    assert query_json(json_text='{"users": [{"name": "Ann"}, {"name": "Bob"}]}', path="users[1].name") == "Bob"
    assert query_json(json_text='{"users": [{"name": "Ann"}]}', path="$.users.0.name") == "Ann"


def test_negative_index_counts_from_the_end():
    assert query_json(json_text="[1, 2, 3]", path="[-1]") == 3


def test_quoted_keys_may_hold_dots():
    assert query_json(json_text='{"a.b": {"c d": true}}', path="['a.b'].c d") is True


def test_empty_path_is_the_whole_value():
    assert query_json(json_text='{"a": [null]}', path="$") == {"a": [None]}


def test_paths_that_lead_nowhere_are_refused():
    with pytest.raises(ValueError):
        query_json(json_text='{"a": 1}', path="b")
    with pytest.raises(ValueError):
        query_json(json_text="[1]", path="[1]")
    with pytest.raises(ValueError):
        query_json(json_text='{"a": 1}', path="a.b")


def test_malformed_paths_and_texts_are_refused():
    with pytest.raises(ValueError):
        query_json(json_text='{"a": 1}', path="a[")
    with pytest.raises(ValueError):
        query_json(json_text="{a: 1}", path="a")
