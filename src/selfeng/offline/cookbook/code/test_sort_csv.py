import pytest
from sort_csv import sort_csv


def test_rows_are_sorted_by_alphabet():
    assert sort_csv(csv_text="name,age\nBob,25\nann,30", column="name") == "name,age\nann,30\nBob,25"


def test_numbers_are_sorted_by_size():
    assert sort_csv(csv_text="item,price\na,10\nb,9\nc,100", column="price") == "item,price\nb,9\na,10\nc,100"


def test_descending_order():
    assert sort_csv(csv_text="n\n1\n3\n2", column="n", descending=True) == "n\n3\n2\n1"


def test_equal_rows_keep_their_order():
    assert sort_csv(csv_text="a,b\nx,1\ny,1\nz,0", column="b") == "a,b\nz,0\nx,1\ny,1"


def test_header_alone_stays():
    assert sort_csv(csv_text="a,b\n", column="b") == "a,b"


def test_unknown_column_is_refused():
    with pytest.raises(ValueError):
        sort_csv(csv_text="a,b\n1,2", column="c")
    with pytest.raises(ValueError):
        sort_csv(csv_text="a,b\n1", column="b")
