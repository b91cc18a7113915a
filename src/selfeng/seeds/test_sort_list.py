import pytest
from sort_list import sort_list


def test_numbers_are_sorted_by_size():
    assert sort_list(items=[10, 9, 2.5, -1]) == [-1, 2.5, 9, 10]


def test_texts_are_sorted_by_alphabet():
    assert sort_list(items=["pear", "Apple", "fig"]) == ["Apple", "fig", "pear"]


def test_descending_order():
    assert sort_list(items=[3, 1, 2], descending=True) == [3, 2, 1]
    assert sort_list(items=["a", "c", "B"], descending=True) == ["c", "B", "a"]


def test_equal_items_all_stay():
    assert sort_list(items=[2, 1, 2]) == [1, 2, 2]


def test_empty_and_single_lists():
    assert sort_list(items=[]) == []
    assert sort_list(items=["x"]) == ["x"]


def test_given_list_is_left_alone():
    given = [2, 1]
    assert sort_list(items=given) == [1, 2]
    assert given == [2, 1]


def test_mixed_lists_are_refused():
    with pytest.raises(TypeError):
        sort_list(items=[1, "a"])
    with pytest.raises(TypeError):
        sort_list(items=[None, 1])
