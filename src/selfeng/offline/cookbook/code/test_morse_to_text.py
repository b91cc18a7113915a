import pytest
from morse_to_text import morse_to_text


def test_groups_become_letters():
    assert morse_to_text(morse="... --- ...") == "SOS"


def test_slashes_separate_words():
    assert morse_to_text(morse=".... .. / -... --- -...") == "HI BOB"


def test_digits_and_punctuation():
    assert morse_to_text(morse="--... ...-- -.-.--") == "73!"


def test_empty_code_gives_empty_text():
    assert morse_to_text(morse="") == ""


def test_other_texts_are_refused():
    with pytest.raises(ValueError):
        morse_to_text(morse=".......")
    with pytest.raises(ValueError):
        morse_to_text(morse="hello")
