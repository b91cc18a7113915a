from word_frequencies import word_frequencies


def test_words_are_counted():
    assert word_frequencies(text="the cat and the dog") == {"the": 2, "and": 1, "cat": 1, "dog": 1}


def test_most_frequent_words_come_first():
    assert list(word_frequencies(text="a b b c c c")) == ["c", "b", "a"]


def test_capitals_and_punctuation_do_not_matter():
    assert word_frequencies(text="Go, go! GO?") == {"go": 3}


def test_contractions_are_one_word():
    assert word_frequencies(text="don't don't") == {"don't": 2}


def test_empty_text_has_no_words():
    assert word_frequencies(text="") == {}
