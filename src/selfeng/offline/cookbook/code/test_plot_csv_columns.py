import pytest
from plot_csv_columns import plot_csv_columns

PNG = b"\x89PNG\r\n\x1a\n"


def test_picture_is_written_and_named(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,2\n2,4\n3,3\n")
    output = str(tmp_path / "plot.png")
    assert plot_csv_columns(path=str(tmp_path / "data.csv"), x="x", y="y", output=output) == output
    content = (tmp_path / "plot.png").read_bytes()
    assert content[:8] == PNG
    assert len(content) > 2000


def test_axes_are_not_mixed_up(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n1,20\n2,10\n5,40\n")
    plot_csv_columns(path=str(tmp_path / "data.csv"), x="a", y="b", output=str(tmp_path / "one.png"))
    plot_csv_columns(path=str(tmp_path / "data.csv"), x="b", y="a", output=str(tmp_path / "other.png"))
    assert (tmp_path / "one.png").read_bytes() != (tmp_path / "other.png").read_bytes()


def test_names_may_lie_along_the_axis(tmp_path):
    (tmp_path / "data.csv").write_text("city,n\nOslo,1\nRome,3\n")
    output = str(tmp_path / "names.png")
    assert plot_csv_columns(path=str(tmp_path / "data.csv"), x="city", y="n", output=output) == output


def test_unknown_columns_are_refused(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError):
        plot_csv_columns(path=str(tmp_path / "data.csv"), x="x", y="z", output=str(tmp_path / "plot.png"))
    with pytest.raises(ValueError):
        plot_csv_columns(path=str(tmp_path / "data.csv"), x="z", y="y", output=str(tmp_path / "plot.png"))


def test_what_is_no_number_is_refused(tmp_path):
    (tmp_path / "data.csv").write_text("x,y\n1,two\n")
    with pytest.raises(ValueError):
        plot_csv_columns(path=str(tmp_path / "data.csv"), x="x", y="y", output=str(tmp_path / "plot.png"))


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ValueError):
        plot_csv_columns(path=str(tmp_path / "nothing.csv"), x="x", y="y", output=str(tmp_path / "plot.png"))
