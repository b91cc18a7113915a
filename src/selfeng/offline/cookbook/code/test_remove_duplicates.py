from remove_duplicates import remove_duplicates


def test_repeated_items_come_once():
    assert remove_duplicates(items=[1, 2, 2, 3, 1]) == [1, 2, 3]


def test_order_of_first_appearance_is_kept():
    assert remove_duplicates(items=["b", "a", "b", "c"]) == ["b", "a", "c"]


def test_lists_without_duplicates_stay():
    assert remove_duplicates(items=[3, 2, 1]) == [3, 2, 1]


def test_capitals_make_a_difference():
    assert remove_duplicates(items=["a", "A"]) == ["a", "A"]


def test_empty_list_stays_empty():
    assert remove_duplicates(items=[]) == []
