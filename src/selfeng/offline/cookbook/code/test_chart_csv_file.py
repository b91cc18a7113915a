import pytest
from chart_csv_file import chart_csv_file

PNG = b"\x89PNG\r\n\x1a\n"


def test_picture_is_written_and_named(tmp_path):
    (tmp_path / "data.csv").write_text("day,n,m\nMon,2,5\nTue,4,1\nWed,3,2\n")
    output = str(tmp_path / "chart.png")
    assert chart_csv_file(path=str(tmp_path / "data.csv"), output=output) == output
    content = (tmp_path / "chart.png").read_bytes()
    assert content[:8] == PNG
    assert len(content) > 2000


def test_every_column_of_numbers_is_drawn(tmp_path):
    (tmp_path / "two.csv").write_text("x,a,b\n1,2,9\n2,4,7\n")
    (tmp_path / "one.csv").write_text("x,a\n1,2\n2,4\n")
    chart_csv_file(path=str(tmp_path / "two.csv"), output=str(tmp_path / "two.png"))
    chart_csv_file(path=str(tmp_path / "one.csv"), output=str(tmp_path / "one.png"))
    assert (tmp_path / "two.png").read_bytes() != (tmp_path / "one.png").read_bytes()


def test_single_column_is_drawn_in_its_order(tmp_path):
    (tmp_path / "data.csv").write_text("n\n3\n1\n2\n")
    output = str(tmp_path / "chart.png")
    assert chart_csv_file(path=str(tmp_path / "data.csv"), output=output) == output
    assert (tmp_path / "chart.png").read_bytes()[:8] == PNG


def test_table_without_numbers_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("name,city\nAnn,Oslo\n")
    with pytest.raises(ValueError):
        chart_csv_file(path=str(tmp_path / "data.csv"), output=str(tmp_path / "chart.png"))


def test_empty_file_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("")
    with pytest.raises(ValueError):
        chart_csv_file(path=str(tmp_path / "data.csv"), output=str(tmp_path / "chart.png"))


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ValueError):
        chart_csv_file(path=str(tmp_path / "nothing.csv"), output=str(tmp_path / "chart.png"))
