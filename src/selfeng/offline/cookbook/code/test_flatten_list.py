from flatten_list import flatten_list


def test_lists_of_lists():
    assert flatten_list(items=[[1, 2], [3, 4]]) == [1, 2, 3, 4]


def test_any_depth():
    assert flatten_list(items=[1, [2, [3, [4, []]]]]) == [1, 2, 3, 4]


def test_order_is_kept():
    assert flatten_list(items=[["c"], "a", [["b"]]]) == ["c", "a", "b"]


def test_flat_lists_stay():
    assert flatten_list(items=[3, 1, 2]) == [3, 1, 2]


def test_empty_lists_vanish():
    assert flatten_list(items=[]) == []
    assert flatten_list(items=[[], [[]]]) == []
