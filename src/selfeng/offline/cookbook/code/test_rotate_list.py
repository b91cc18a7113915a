from rotate_list import rotate_list


def test_items_move_to_the_right():
    assert rotate_list(items=[1, 2, 3, 4], steps=1) == [4, 1, 2, 3]


def test_negative_steps_move_to_the_left():
    assert rotate_list(items=["a", "b", "c"], steps=-1) == ["b", "c", "a"]


def test_full_turns_change_nothing():
    assert rotate_list(items=[1, 2, 3], steps=3) == [1, 2, 3]
    assert rotate_list(items=[1, 2, 3], steps=7) == [3, 1, 2]


def test_no_steps_change_nothing():
    assert rotate_list(items=[1, 2], steps=0) == [1, 2]


def test_empty_list_stays_empty():
    assert rotate_list(items=[], steps=5) == []
