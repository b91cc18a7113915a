import pytest
from text_to_morse import text_to_morse


def test_letters_are_separated_by_spaces():
    assert text_to_morse(text="SOS") == "... --- ..."


def test_words_are_separated_by_slashes():
    assert text_to_morse(text="hello world") == ".... . .-.. .-.. --- / .-- --- .-. .-.. -.."


def test_digits_and_punctuation():
    assert text_to_morse(text="73!") == "--... ...-- -.-.--"


def test_empty_text_stays_empty():
    assert text_to_morse(text="") == ""


def test_other_characters_are_refused():
    with pytest.raises(ValueError):
        text_to_morse(text="ä")
