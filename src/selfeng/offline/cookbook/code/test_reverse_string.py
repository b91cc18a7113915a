from reverse_string import reverse_string


def test_order_of_characters_is_reversed():
    assert reverse_string(text="hello world") == "dlrow olleh"
    assert reverse_string(text="ab") == "ba"


def test_capitals_and_punctuation_are_kept():
    assert reverse_string(text="Python 3!") == "!3 nohtyP"


def test_palindromes_stay_the_same():
    assert reverse_string(text="level") == "level"


def test_empty_and_single_character():
    assert reverse_string(text="") == ""
    assert reverse_string(text="x") == "x"


def test_white_space_counts():
    assert reverse_string(text=" a\nb") == "b\na "


def test_letters_outside_ascii():
    assert reverse_string(text="äöü") == "üöä"
