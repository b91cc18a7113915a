"""Files of the person at the terminal: read with every problem named, and written without touching
what is there.
"""

import os
from pathlib import Path

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.files import MB, File, FileLimits
from selfeng.doors.local_files import read_files, write_files

LIMITS = FileLimits(count=2, size=MB)


def test_files_come_under_their_own_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1")
    (tmp_path / "b").write_bytes(bytes(MB - 1))
    files = read_files([tmp_path / "a.csv", tmp_path / "b"], LIMITS)
    assert [(f.name, len(f.content)) for f in files] == [("a.csv", 1), ("b", MB - 1)]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(bytes(MB + 60_000))
    (tmp_path / ".hidden").touch()
    for name in "abc":
        (tmp_path / name).touch()
    for names, message in (
        (["nothing"], "nothing does not exist"),
        (["pipe"], "pipe is not a regular file"),
        (["."], "'' can't be the name of a file: it is empty"),
        ([".hidden"], "'.hidden' can't be the name of a file: it begins with ."),
        (["large"], "large is too large: 1.1 MB, where 1.0 MB are left"),
        (["a", "b", "c"], "there are 3 files; 2 are allowed"),
        (["a", "a"], "two files are called a"),
    ):
        with pytest.raises(RequestError) as caught:
            read_files(
                [Path(tmp_path, name) if name != "." else Path("/") for name in names], LIMITS
            )
        assert caught.value.message.removeprefix(f"{tmp_path}/") == message


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    files = [File(name="plot.png", content=b"new"), File(name="a", content=b"")]
    (tmp_path / "plot.png").write_bytes(b"old")
    (tmp_path / "plot-1.png").symlink_to("nowhere")
    assert [p.name for p in write_files(files, tmp_path)] == ["plot-2.png", "a"]
    assert [p.name for p in write_files(files, tmp_path)] == ["plot-3.png", "a-1"]
    assert (tmp_path / "plot.png").read_bytes() == b"old"
    assert (tmp_path / "plot-2.png").read_bytes() == b"new"


def test_a_folder_is_made_or_its_problem_named(tmp_path: Path) -> None:
    assert [
        p.parent for p in write_files([File(name="a", content=b"")], tmp_path / "new" / "folder")
    ] == [tmp_path / "new" / "folder"]
    with pytest.raises(RequestError) as caught:
        list(write_files([File(name="a", content=b"")], Path("/proc")))
    assert caught.value.remedy == "name another folder with --output"
