import pytest
from summarize_csv_column import summarize_csv_column


def test_figures_of_a_column():
    assert summarize_csv_column(csv_text="item,price\npen,2\nbook,10\n", column="price") == {
        "count": 2,
        "missing": 0,
        "sum": 12,
        "mean": 6.0,
        "minimum": 2,
        "maximum": 10,
    }


def test_blank_cells_are_missing():
    assert summarize_csv_column(csv_text="a,b\n1,2\n,4\n3", column="b") == {
        "count": 2,
        "missing": 1,
        "sum": 6,
        "mean": 3.0,
        "minimum": 2,
        "maximum": 4,
    }


def test_header_without_rows_has_no_mean():
    assert summarize_csv_column(csv_text="a,b", column="a") == {
        "count": 0,
        "missing": 0,
        "sum": 0,
        "mean": None,
        "minimum": None,
        "maximum": None,
    }


def test_delimiter_is_recognised():
    assert summarize_csv_column(csv_text="name;score\nAnn;1.5\nBob;2.5", column="score")["sum"] == 4.0
    assert summarize_csv_column(csv_text="name\tscore\nAnn\t7", column="score")["maximum"] == 7


def test_quoted_cells_may_hold_delimiters_and_line_breaks():
    assert summarize_csv_column(csv_text='note,n\n"a, b",1\n"c\nd",2', column="n")["sum"] == 3


def test_column_names_may_differ_in_capitals():
    assert summarize_csv_column(csv_text="Item,Price\npen,2", column="price")["sum"] == 2


def test_unknown_column_is_refused():
    with pytest.raises(ValueError):
        summarize_csv_column(csv_text="a,b\n1,2", column="c")


def test_cells_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError):
        summarize_csv_column(csv_text="a\n1\nx", column="a")
    with pytest.raises(ValueError):
        summarize_csv_column(csv_text="a\nnan", column="a")


def test_empty_text_is_refused():
    with pytest.raises(ValueError):
        summarize_csv_column(csv_text="  \n", column="a")
