from intersect_lists import intersect_lists


def test_common_items():
    assert intersect_lists(first=[1, 2, 3], second=[2, 3, 4]) == [2, 3]


def test_order_of_the_first_list_is_kept():
    assert intersect_lists(first=["c", "b", "a"], second=["a", "c"]) == ["c", "a"]


def test_repeated_items_come_once():
    assert intersect_lists(first=[1, 1, 2], second=[1, 1]) == [1]


def test_lists_without_common_items():
    assert intersect_lists(first=[1], second=[2]) == []


def test_empty_lists():
    assert intersect_lists(first=[], second=[1]) == []
    assert intersect_lists(first=[1], second=[]) == []
