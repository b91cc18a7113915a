from is_palindrome import is_palindrome


def test_palindromes():
    assert is_palindrome(text="racecar") is True
    assert is_palindrome(text="abba") is True


def test_other_words():
    assert is_palindrome(text="hello") is False
    assert is_palindrome(text="ab") is False


def test_spaces_capitals_and_punctuation_do_not_matter():
    assert is_palindrome(text="A man, a plan, a canal: Panama!") is True


def test_digits_matter():
    assert is_palindrome(text="12321") is True
    assert is_palindrome(text="12331") is False


def test_empty_and_single_character():
    assert is_palindrome(text="") is True
    assert is_palindrome(text="x") is True
