import pytest
from json_to_csv import json_to_csv


def test_objects_become_rows():
    assert json_to_csv(json_text='[{"name": "Ann", "age": 30}, {"name": "Bob", "age": 25}]') == "name,age\nAnn,30\nBob,25"


def test_missing_values_are_empty():
    assert json_to_csv(json_text='[{"a": 1}, {"b": null, "c": true}]') == "a,b,c\n1,,\n,,true"


def test_cells_with_commas_are_quoted():
    assert json_to_csv(json_text='[{"a": "x, y"}]') == 'a\n"x, y"'


def test_empty_list_gives_empty_text():
    assert json_to_csv(json_text="[]") == ""


def test_other_values_are_refused():
    with pytest.raises(ValueError):
        json_to_csv(json_text='{"a": 1}')
    with pytest.raises(ValueError):
        json_to_csv(json_text="[1, 2]")
    with pytest.raises(ValueError):
        json_to_csv(json_text="name,age")
