import pytest
from count_occurrences import count_occurrences


def test_letters_are_counted():
    assert count_occurrences(text="strawberry", part="r") == 3


def test_longer_parts_are_counted():
    assert count_occurrences(text="the cat and the dog", part="the") == 2


def test_capitals_matter():
    assert count_occurrences(text="Anna", part="a") == 1


def test_overlaps_count_once():
    assert count_occurrences(text="aaaa", part="aa") == 2


def test_absent_parts_occur_zero_times():
    assert count_occurrences(text="hello", part="z") == 0
    assert count_occurrences(text="", part="a") == 0


def test_empty_part_is_refused():
    with pytest.raises(ValueError):
        count_occurrences(text="hello", part="")
