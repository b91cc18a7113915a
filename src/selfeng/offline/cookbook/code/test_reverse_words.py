from reverse_words import reverse_words


def test_words_change_their_order():
    assert reverse_words(text="one two three") == "three two one"
    assert reverse_words(text="Hello, world!") == "world! Hello,"


def test_single_word_stays():
    assert reverse_words(text="stressed") == "stressed"


def test_white_space_becomes_single_spaces():
    assert reverse_words(text="  a   b\nc ") == "c b a"


def test_empty_text_stays_empty():
    assert reverse_words(text="") == ""
