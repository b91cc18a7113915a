from count_characters import count_characters


def test_every_character_counts():
    assert count_characters(text="hello") == 5
    assert count_characters(text="hello world!") == 12


def test_spaces_can_be_left_out():
    assert count_characters(text="hello world", include_spaces=False) == 10
    assert count_characters(text=" a\tb\n", include_spaces=False) == 2


def test_letters_outside_ascii_count_once():
    assert count_characters(text="naïve") == 5


def test_empty_text_has_none():
    assert count_characters(text="") == 0
