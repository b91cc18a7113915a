from make_acronym import make_acronym


def test_first_letters_become_capitals():
    assert make_acronym(text="as soon as possible") == "ASAP"
    assert make_acronym(text="Portable Network Graphics") == "PNG"


def test_hyphens_separate_words():
    assert make_acronym(text="first-in, first-out") == "FIFO"


def test_apostrophes_do_not():
    assert make_acronym(text="don't repeat yourself") == "DRY"


def test_single_word_and_empty_text():
    assert make_acronym(text="word") == "W"
    assert make_acronym(text="") == ""
