import pytest
from replace_text import replace_text


def test_every_occurrence_is_replaced():
    assert replace_text(text="cats and cats", old="cats", new="dogs") == "dogs and dogs"
    assert replace_text(text="banana", old="a", new="o") == "bonono"


def test_parts_can_be_removed():
    assert replace_text(text="a-b-c", old="-", new="") == "abc"


def test_capitals_matter():
    assert replace_text(text="Cat cat", old="cat", new="dog") == "Cat dog"


def test_absent_parts_change_nothing():
    assert replace_text(text="hello", old="z", new="y") == "hello"


def test_empty_part_is_refused():
    with pytest.raises(ValueError):
        replace_text(text="hello", old="", new="x")
