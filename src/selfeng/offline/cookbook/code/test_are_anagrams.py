from are_anagrams import are_anagrams


def test_anagrams():
    assert are_anagrams(first="listen", second="silent") is True


def test_other_words():
    assert are_anagrams(first="hello", second="world") is False


def test_letters_must_occur_equally_often():
    assert are_anagrams(first="aab", second="abb") is False
    assert are_anagrams(first="ab", second="aab") is False


def test_spaces_and_capitals_do_not_matter():
    assert are_anagrams(first="Dormitory", second="dirty room") is True


def test_empty_texts_are_anagrams_of_each_other():
    assert are_anagrams(first="", second="") is True
