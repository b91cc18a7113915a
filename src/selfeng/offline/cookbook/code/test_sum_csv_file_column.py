import pytest
from sum_csv_file_column import sum_csv_file_column


def test_column_is_added_up(tmp_path):
    (tmp_path / "data.csv").write_text("item,price\npen,2\nbook,10\n")
    assert sum_csv_file_column(path=str(tmp_path / "data.csv"), column="price") == 12


def test_decimal_fractions_and_another_column(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1.5,7\n2.25,8\n")
    assert sum_csv_file_column(path=str(tmp_path / "data.csv"), column="a") == 3.75


def test_empty_cells_count_as_nothing(tmp_path):
    (tmp_path / "data.csv").write_text("\ufeffa,b\r\n1,2\r\n,5\r\n", encoding="utf-8")
    assert sum_csv_file_column(path=str(tmp_path / "data.csv"), column="a") == 1


def test_header_alone_adds_up_to_zero(tmp_path):
    (tmp_path / "data.csv").write_text("a,b")
    assert sum_csv_file_column(path=str(tmp_path / "data.csv"), column="b") == 0


def test_unknown_column_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError):
        sum_csv_file_column(path=str(tmp_path / "data.csv"), column="c")


def test_cells_that_are_not_numbers_are_refused(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1\nx\n")
    with pytest.raises(ValueError):
        sum_csv_file_column(path=str(tmp_path / "data.csv"), column="a")


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ValueError):
        sum_csv_file_column(path=str(tmp_path / "nothing.csv"), column="a")
