from snake_to_camel import snake_to_camel


def test_words_are_joined():
    assert snake_to_camel(text="snake_case_name") == "snakeCaseName"


def test_capital_words_become_small_first():
    assert snake_to_camel(text="MAX_RETRY_COUNT") == "maxRetryCount"


def test_underscores_at_the_ends_and_in_a_row_vanish():
    assert snake_to_camel(text="_private__name_") == "privateName"


def test_single_word_and_empty_text():
    assert snake_to_camel(text="word") == "word"
    assert snake_to_camel(text="") == ""
