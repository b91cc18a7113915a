import pytest
from truncate_text import truncate_text


def test_long_texts_are_cut():
    assert truncate_text(text="hello wonderful world", length=10) == "hello w..."


def test_short_texts_stay():
    assert truncate_text(text="hello", length=10) == "hello"
    assert truncate_text(text="hello", length=5) == "hello"


def test_ending_can_be_chosen():
    assert truncate_text(text="abcdef", length=4, ending="…") == "abc…"
    assert truncate_text(text="abcdef", length=4, ending="") == "abcd"


def test_only_the_ending_may_remain():
    assert truncate_text(text="abcdef", length=3) == "..."


def test_length_without_room_is_refused():
    with pytest.raises(ValueError):
        truncate_text(text="abcdef", length=2)
    with pytest.raises(ValueError):
        truncate_text(text="abcdef", length=-1)
