from lowercase_text import lowercase_text


def test_capitals_become_small_letters():
    assert lowercase_text(text="HELLO World") == "hello world"


def test_small_letters_stay():
    assert lowercase_text(text="ok") == "ok"


def test_digits_and_punctuation_stay():
    assert lowercase_text(text="A1-B2!") == "a1-b2!"


def test_letters_outside_ascii():
    assert lowercase_text(text="ÄÉ") == "äé"


def test_empty_text_stays_empty():
    assert lowercase_text(text="") == ""
