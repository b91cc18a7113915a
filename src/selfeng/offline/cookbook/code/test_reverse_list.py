from reverse_list import reverse_list


def test_last_item_comes_first():
    assert reverse_list(items=[1, 2, 3]) == [3, 2, 1]


def test_texts_stay_as_they_are():
    assert reverse_list(items=["ab", "cd"]) == ["cd", "ab"]


def test_inner_lists_stay_as_they_are():
    assert reverse_list(items=[[1, 2], [3]]) == [[3], [1, 2]]


def test_empty_and_single_lists():
    assert reverse_list(items=[]) == []
    assert reverse_list(items=[7]) == [7]
