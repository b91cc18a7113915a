import pytest
from counting import count_words, most_common
from main import main


def test_capitals_and_punctuation_make_no_other_word():
    assert count_words("Tea, tea. TEA!\nmilk") == {"tea": 3, "milk": 1}


def test_an_empty_text_has_no_words():
    assert count_words(" \n ") == {}


def test_equally_frequent_words_come_in_the_order_of_the_alphabet():
    assert most_common("b a b a c", 2) == [("a", 2), ("b", 2)]


def test_no_words_can_not_be_listed():
    with pytest.raises(ValueError, match="0 words"):
        most_common("a", 0)


def test_the_command_line_counts_a_file(tmp_path, capsys):
    path = tmp_path / "text.txt"
    path.write_text("one two two")
    assert main([str(path), "--top", "1"]) == 0
    assert capsys.readouterr().out == "    2 two\n3 words in all\n"


def test_a_file_that_is_not_there_is_an_error(tmp_path, capsys):
    assert main([str(tmp_path / "none.txt")]) == 1
    assert "none.txt" in capsys.readouterr().err
