import pytest
from sum_csv_column import sum_csv_column


def test_column_is_added_up():
    assert sum_csv_column(csv_text="item,price\npen,2\nbook,10", column="price") == 12


def test_decimal_fractions():
    assert sum_csv_column(csv_text="a,b\n1.5,x\n2.25,y", column="a") == 3.75


def test_empty_cells_count_as_nothing():
    assert sum_csv_column(csv_text="a,b\n1,2\n,5\n", column="a") == 1


def test_header_alone_adds_up_to_zero():
    assert sum_csv_column(csv_text="a,b", column="b") == 0


def test_unknown_column_is_refused():
    with pytest.raises(ValueError):
        sum_csv_column(csv_text="a,b\n1,2", column="c")
    with pytest.raises(ValueError):
        sum_csv_column(csv_text="", column="a")


def test_cells_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError):
        sum_csv_column(csv_text="a\n1\nx", column="a")
