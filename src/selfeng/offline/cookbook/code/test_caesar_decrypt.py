from caesar_decrypt import caesar_decrypt


def test_letters_move_back():
    assert caesar_decrypt(text="khoor", shift=3) == "hello"


def test_alphabet_wraps_around():
    assert caesar_decrypt(text="abc", shift=3) == "xyz"


def test_capitals_and_other_characters_are_kept():
    assert caesar_decrypt(text="Mjqqt, Btwqi 1!", shift=5) == "Hello, World 1!"


def test_negative_and_large_shifts():
    assert caesar_decrypt(text="zab", shift=-1) == "abc"
    assert caesar_decrypt(text="def", shift=29) == "abc"


def test_no_shift_changes_nothing():
    assert caesar_decrypt(text="same", shift=0) == "same"
