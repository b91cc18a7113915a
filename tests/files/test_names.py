"""The permitted names of a file, how a hostile one is shown, and how much may go into a turn."""

import pytest
from pydantic import ValidationError

from selfeng.core.files import MB, File, FileLimits, FileReference, name_problem, shown_name


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "data.csv",
        "Größe ½ (1).tar.gz",
        "日本.png",
        "random.py",
        "conftest.py",
        "a b",
        "a.",
        "x" * 255,
        "é" * 127,
        "🎉.txt",
        "a:b?*|<>\"'",
    ],
)
def test_ordinary_names_are_allowed(name: str) -> None:
    assert name_problem(name) is None
    assert File(name=name, content=b"").name == name


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "it is empty"),
        (".", "it begins with ."),
        ("..", "it begins with ."),
        (".bashrc", "it begins with ."),
        ("-rf", "it begins with -"),
        ("/etc/passwd", "it contains a path separator"),
        ("a/b", "it contains a path separator"),
        ("..\\a", "it contains a path separator"),
        ("a\nb", "it contains invisible characters"),
        ("a\0", "it contains invisible characters"),
        ("\x1b[31mred", "it contains invisible characters"),
        ("a\u202egnp.exe", "it contains invisible characters"),
        ("a\u2028b", "it contains invisible characters"),
        ("a\u00a0b", "it contains invisible characters"),
        (" a", "it begins or ends with a space"),
        ("a ", "it begins or ends with a space"),
        ("a\udcff", "it is not valid Unicode"),
        ("x" * 256, "it is longer than 255 bytes"),
        ("é" * 128, "it is longer than 255 bytes"),
    ],
)
def test_other_names_are_refused(name: str, problem: str) -> None:
    assert name_problem(name) == problem
    with pytest.raises(ValidationError, match="can't be the name of a file"):
        File(name=name, content=b"")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("data.csv", "data.csv"),
        ("a\nb\x1b[2J", "a\\nb\\x1b[2J"),
        ("\udcff\u202e", "\\udcff\\u202e"),
        ("x" * 300, "x" * 80 + "..."),
        ("\x1b" * 300, "\\x1b" * 20 + "..."),
    ],
)
def test_any_name_is_shown_in_one_short_line(name: str, shown: str) -> None:
    assert shown_name(name) == shown


def test_a_reference_tells_all_but_the_content() -> None:
    file = File(name="data.CSV", content=b"a,b\n")
    assert file.reference() == FileReference(
        name="data.CSV",
        size=4,
        sha256="5be08c9684a1d25efcee09318204824278b08bbfb4aef973ffefd0b9d7478313",
        media_type="text/csv",
    )
    assert "a,b" not in repr(file)


def files(*sizes: int) -> list[File]:
    return [File(name=f"{n}.bin", content=bytes(size)) for n, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (files(), None),
        (files(MB, MB), None),
        (files(1, 1, 1), "there are 3 files; 2 are allowed"),
        (files(MB, MB + 60_000), "the files have 2.1 MB; 2 MB are allowed"),
        ([*files(1), *files(2)], "two files are called 0.bin"),
    ],
)
def test_limits_say_what_is_too_much(given: list[File], problem: str | None) -> None:
    assert FileLimits(count=2, size=2 * MB).problem(given) == problem
