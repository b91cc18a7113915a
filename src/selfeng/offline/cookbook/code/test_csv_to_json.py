import pytest
from csv_to_json import csv_to_json


def test_rows_become_objects():
    assert csv_to_json(csv_text="name,age\nAnn,30\nBob,25") == '[{"name": "Ann", "age": "30"}, {"name": "Bob", "age": "25"}]'


def test_quoted_cells_may_hold_commas():
    assert csv_to_json(csv_text='a,b\n"x, y",z\n') == '[{"a": "x, y", "b": "z"}]'


def test_space_around_cells_is_dropped():
    assert csv_to_json(csv_text="a, b\n 1 , 2") == '[{"a": "1", "b": "2"}]'


def test_header_alone_has_no_rows():
    assert csv_to_json(csv_text="a,b") == "[]"


def test_text_outside_ascii_stays_readable():
    assert csv_to_json(csv_text="name\nÄnne") == '[{"name": "Änne"}]'


def test_empty_and_uneven_tables_are_refused():
    with pytest.raises(ValueError):
        csv_to_json(csv_text="")
    with pytest.raises(ValueError):
        csv_to_json(csv_text="a,b\n1")
