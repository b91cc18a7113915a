from title_case_text import title_case_text


def test_each_word_gets_a_capital():
    assert title_case_text(text="the great gatsby") == "The Great Gatsby"


def test_other_letters_become_small():
    assert title_case_text(text="hELLO WORLD") == "Hello World"


def test_apostrophes_do_not_begin_a_word():
    assert title_case_text(text="don't stop o'clock") == "Don't Stop O'clock"


def test_white_space_and_punctuation_stay():
    assert title_case_text(text="  a well-known  fact: yes") == "  A Well-Known  Fact: Yes"


def test_empty_text_stays_empty():
    assert title_case_text(text="") == ""
