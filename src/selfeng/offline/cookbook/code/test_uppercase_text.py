from uppercase_text import uppercase_text


def test_small_letters_become_capitals():
    assert uppercase_text(text="hello world") == "HELLO WORLD"


def test_capitals_stay():
    assert uppercase_text(text="OK Go") == "OK GO"


def test_digits_and_punctuation_stay():
    assert uppercase_text(text="a1-b2!") == "A1-B2!"


def test_letters_outside_ascii():
    assert uppercase_text(text="äé") == "ÄÉ"


def test_empty_text_stays_empty():
    assert uppercase_text(text="") == ""
