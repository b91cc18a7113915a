from reverse_and_count_vowels import reverse_and_count_vowels


def test_text_is_reversed_and_its_vowels_are_counted():
    assert reverse_and_count_vowels(text="abc") == ["cba", 1]
    assert reverse_and_count_vowels(text="hello world") == ["dlrow olleh", 3]


def test_capital_vowels_count():
    assert reverse_and_count_vowels(text="Umbrella") == ["allerbmU", 3]


def test_text_without_vowels():
    assert reverse_and_count_vowels(text="rhythm") == ["mhtyhr", 0]


def test_empty_text():
    assert reverse_and_count_vowels(text="") == ["", 0]
