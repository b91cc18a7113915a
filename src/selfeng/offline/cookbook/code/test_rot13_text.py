from rot13_text import rot13_text


def test_letters_move_by_thirteen():
    assert rot13_text(text="hello") == "uryyb"


def test_applied_again_it_gives_the_text_back():
    assert rot13_text(text="uryyb") == "hello"


def test_capitals_and_other_characters_are_kept():
    assert rot13_text(text="Hello, World 1!") == "Uryyb, Jbeyq 1!"


def test_empty_text_stays_empty():
    assert rot13_text(text="") == ""
