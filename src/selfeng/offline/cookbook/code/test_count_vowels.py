from count_vowels import count_vowels


def test_small_vowels_count():
    assert count_vowels(text="hello world") == 3


def test_capital_vowels_count():
    assert count_vowels(text="AEIOU") == 5
    assert count_vowels(text="Umbrella") == 3


def test_y_is_no_vowel():
    assert count_vowels(text="rhythm") == 0


def test_each_occurrence_counts():
    assert count_vowels(text="banana") == 3


def test_empty_text_has_none():
    assert count_vowels(text="") == 0
