import pytest
from count_words import count_words


def test_words_of_a_sentence():
    assert count_words(text="the quick brown fox") == 4


def test_white_space_and_line_breaks_separate_words():
    assert count_words(text="  one\ttwo\n\nthree  ") == 3


def test_punctuation_does_not_count():
    assert count_words(text="Well - yes, no ... maybe!") == 4


def test_contractions_and_hyphens_make_one_word():
    assert count_words(text="Don't use state-of-the-art") == 3


def test_numbers_and_other_scripts_are_words():
    assert count_words(text="3 Äpfel für Привет") == 4


def test_empty_text_has_none():
    assert count_words(text="") == 0
    assert count_words(text=" ?! ") == 0


def test_other_values_are_refused():
    with pytest.raises(TypeError):
        count_words(text=None)
