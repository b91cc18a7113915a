"""Input piped into a command: a request, a part of one, or a file of one."""

import io
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from selfeng.cli.app import app
from selfeng.cli.standard_input import with_input
from selfeng.core.errors import RequestError
from selfeng.core.files import File, FileLimits, LargeFiles
from tests.home import Home

LARGE_FILES = LargeFiles(Path("nowhere"))


@pytest.fixture
def piped(monkeypatch):
    """Makes these bytes the standard input."""

    def pipe(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("line", ["hello\n", "", " \r\n"])
def test_one_line_becomes_a_part_of_the_request(piped, line, encoding):
    piped(line.encode(encoding))
    said = line.strip()
    expected = f"Reverse this\n\n{said}" if said else "Reverse this"
    assert with_input("Reverse this", FileLimits(), LARGE_FILES) == (expected, ())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("stdin.csv", b"a,b\n1,2\n3,4\n"),
        ("stdin.csv", "\ufeffa;b\n1;2\n".encode()),
        ("stdin.csv", b'a,b\n1,"x\ny"\n'),
        ("stdin.csv", b'a,b\n1,"x\n\n\ny, z; and"\n2,z'),
        ("stdin.csv", b"a,b\n1,2"),
        ("stdin.csv", b"a,b\r1,2\r"),
        ("stdin.csv", "\ufeffa,b\r\nÄ,2\r\n".encode("utf-16-le")),
        ("stdin.csv", "\ufeffa;b\n1;2\n".encode("utf-16-be")),
        ("stdin.csv", 'name,b\nx,"2\n3"\n'.encode("utf-16-le")),
        ("stdin.tsv", "name\tb\nx\t2\n".encode("utf-16-be")),
        ("stdin.csv", "name;b\nJürgen;2\n".encode("cp1252")),
        ("stdin.tsv", b"a\tb\n1\t2\n"),
        ("stdin.json", b'{"a": 1,\n"b": 2}'),
        ("stdin.txt", b"{not json\n}"),
        ("stdin.txt", b"Dear all,\nhello\n"),
        ("stdin.txt", b"x" * 2_000),
        ("stdin.gif", b"GIF89a\x01\x00\x01\x00\n\n"),
        ("stdin.bin", b"\xff\xfe\n\x00\n"),
    ],
)
def test_anything_else_becomes_a_file_named_after_its_form(piped, name, content):
    piped(content)
    assert with_input("Sum it", FileLimits(), LARGE_FILES) == (
        "Sum it",
        (File(name=name, content=content),),
    )


def test_a_large_file_is_streamed(piped, tmp_path):
    content = b"a,b\n" + b"1,2\n" * 500_000
    piped(content)
    words, (file,) = with_input("Sum it", FileLimits(), LargeFiles(tmp_path))
    assert (words, file.name, file.content) == ("Sum it", "stdin.csv", b"")
    assert b"".join(file.pieces()) == content


def test_more_than_files_may_have_is_refused(piped, tmp_path):
    piped(b"a\n" * 600_000)
    with pytest.raises(RequestError, match="standard input has more than 1 MB") as raised:
        with_input("Sum it", FileLimits(size=1024 * 1024), LargeFiles(tmp_path))
    assert "FILE_MAX_MB" in raised.value.remedy


@pytest.mark.parametrize("arguments", [["-"], ["ask"], ["ask", "-"], []])
def test_without_words_it_is_the_request(tmp_path, arguments):
    home = Home(tmp_path, bubblewrap=True)
    done = CliRunner(env=home.environment()).invoke(app, arguments, input="Hello!\n")
    assert (done.exit_code, done.stdout[:6]) == (0, "Hello!")


def test_a_request_that_is_no_text_is_refused(tmp_path):
    done = CliRunner(env=Home(tmp_path).environment()).invoke(app, ["-"], input=b"\xff\xfe\0")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: standard input is not text\n")
