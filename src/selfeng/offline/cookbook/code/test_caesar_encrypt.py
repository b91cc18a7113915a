from caesar_encrypt import caesar_encrypt


def test_letters_move_forward():
    assert caesar_encrypt(text="hello", shift=3) == "khoor"


def test_alphabet_wraps_around():
    assert caesar_encrypt(text="xyz", shift=3) == "abc"


def test_capitals_and_other_characters_are_kept():
    assert caesar_encrypt(text="Hello, World 1!", shift=5) == "Mjqqt, Btwqi 1!"


def test_negative_and_large_shifts():
    assert caesar_encrypt(text="abc", shift=-1) == "zab"
    assert caesar_encrypt(text="abc", shift=29) == "def"


def test_no_shift_changes_nothing():
    assert caesar_encrypt(text="same", shift=0) == "same"
    assert caesar_encrypt(text="", shift=7) == ""
