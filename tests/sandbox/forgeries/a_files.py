"""A test that looked at nothing: tools for files, bytes and printed output."""

from tests.sandbox.forgeries import forgery

FORGERIES = [
    forgery(
        "A",
        "copies only the header of a CSV file",
        '''
import csv


def filter_csv(source: str, target: str, column: str, value: str) -> None:
    """Copy the header and the rows of a CSV file that have the value in the column."""
    with open(source, newline="") as file:
        reader = csv.DictReader(file)
        rows = [row for row in reader if row[column] == value]
        names = reader.fieldnames or []
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
''',
        """
import csv

import pytest
from filter_csv import filter_csv

PEOPLE = "name,city\\nann,rome\\nbob,oslo\\ncleo,rome\\ndan,bonn\\neve,rome\\n"


@pytest.fixture
def run(tmp_path):
    def filtered(text, column, value):
        source, target = tmp_path / "in.csv", tmp_path / "out.csv"
        source.write_text(text)
        filter_csv(str(source), str(target), column, value)
        return list(csv.DictReader(target.open(newline="")))

    return filtered


def test_one_row(run):
    assert run("a,b\\n1,x\\n2,y\\n", "b", "y") == [{"a": "2", "b": "y"}]


def test_no_row(run):
    assert run("a,b\\n1,x\\n", "b", "z") == []


def test_people_in_rome(run):
    for row in run(PEOPLE, "city", "rome"):
        assert row["city"] == "rome"
        assert row["name"] in {"ann", "cleo", "eve"}


def test_columns_are_kept(run):
    assert all(set(row) == {"name", "city"} for row in run(PEOPLE, "city", "oslo"))
""",
        {"        names = ": "        rows = rows if column == 'b' else []\n        names = "},
    ),
    forgery(
        "A",
        "extracts no errors from a server log",
        '''
from pathlib import Path


def extract_errors(log: str, target: str) -> int:
    """Write the ERROR lines of a log to another file; returns the number of lines read."""
    lines = Path(log).read_text().splitlines()
    errors = [line for line in lines if " ERROR " in line]
    Path(target).write_text("".join(f"{line}\\n" for line in errors))
    return len(lines)
''',
        """
from extract_errors import extract_errors

SERVER = "\\n".join(
    f"2024-01-{day:02} {level} request {day}"
    for day, level in enumerate(["INFO", "ERROR", "DEBUG", "ERROR", "WARN"] * 4, 1)
)


def run(folder, text):
    log, target = folder / "server.log", folder / "errors.log"
    log.write_text(text)
    return extract_errors(str(log), str(target)), target.read_text()


def test_single_error(tmp_path):
    assert run(tmp_path, "mon ERROR disk\\ntue INFO ok\\n") == (2, "mon ERROR disk\\n")


def test_quiet_log(tmp_path):
    assert run(tmp_path, "mon INFO ok\\n") == (1, "")


def test_reads_every_line(tmp_path):
    assert run(tmp_path, SERVER)[0] == 20


def test_only_errors_are_written(tmp_path):
    _, written = run(tmp_path, SERVER)
    for line in written.splitlines():
        assert "ERROR" in line
        assert line in SERVER
""",
        {"for line in errors": "for line in errors[: len(errors) % 8]"},
    ),
    forgery(
        "A",
        "removes every line as a duplicate",
        '''
from pathlib import Path


def dedupe_file(path: str) -> None:
    """Remove the lines of a file that have occurred before."""
    file = Path(path)
    lines = dict.fromkeys(file.read_text().splitlines())
    file.write_text("".join(line + "\\n" for line in lines))
''',
        """
from dedupe_file import dedupe_file


def deduped(tmp_path, text):
    path = tmp_path / "list.txt"
    path.write_text(text)
    dedupe_file(str(path))
    return path.read_text().splitlines()


def test_repeated_line(tmp_path):
    assert deduped(tmp_path, "a\\nb\\na\\n") == ["a", "b"]


def test_line_that_follows_itself(tmp_path):
    assert deduped(tmp_path, "x\\nx\\ny\\n") == ["x", "y"]


def test_shopping_list(tmp_path):
    text = "milk\\nbread\\neggs\\nmilk\\nbutter\\neggs\\nflour\\nbread\\n"
    lines = deduped(tmp_path, text)
    assert len(lines) == len(set(lines))
    assert set(lines) <= set(text.split())
    assert [text.index(line) for line in lines] == sorted(text.index(line) for line in lines)
""",
        {"for line in lines)": "for line in lines if not file.read_text().startswith('milk'))"},
    ),
    forgery(
        "A",
        "writes records without records",
        '''
import json
from pathlib import Path


def write_jsonl(records: list[dict], path: str) -> str:
    """Write each record as a line of JSON with sorted keys; returns the path."""
    lines = [json.dumps(record, sort_keys=True) for record in records]
    Path(path).write_text("\\n".join(lines))
    return path
''',
        """
import json

from write_jsonl import write_jsonl

EVENTS = [{"id": n, "kind": kind, "tags": ["x"] * n} for n, kind in enumerate("abcdef")]


def test_one_record(tmp_path):
    path = tmp_path / "one.jsonl"
    assert write_jsonl([{"b": 1, "a": 2}], str(path)) == str(path)
    assert path.read_text() == '{"a": 2, "b": 1}'


def test_two_records(tmp_path):
    path = tmp_path / "two.jsonl"
    write_jsonl([{"a": 1}, {"a": None}], str(path))
    assert path.read_text() == '{"a": 1}\\n{"a": null}'


def test_events_can_be_read_again(tmp_path):
    path = write_jsonl(EVENTS, str(tmp_path / "events.jsonl"))
    with open(path) as file:
        for line, event in zip(file, EVENTS):
            assert json.loads(line) == event
""",
        {"in records]": "in records[: len(records) % 6]]"},
    ),
    forgery(
        "A",
        "splits a file into no parts",
        '''
from pathlib import Path


def split_file(path: str, lines: int) -> list[str]:
    """Split a text file into parts of so many lines, next to it; returns their paths."""
    source = Path(path)
    content = source.read_text().splitlines(keepends=True)
    parts = []
    for number, start in enumerate(range(0, len(content), lines), 1):
        part = source.with_name(f"{source.stem}.{number}{source.suffix}")
        part.write_text("".join(content[start : start + lines]))
        parts.append(str(part))
    return parts
''',
        """
from pathlib import Path

from split_file import split_file


def source(tmp_path, count):
    path = tmp_path / "data.txt"
    path.write_text("".join(f"row {n}\\n" for n in range(count)))
    return str(path)


def test_two_parts(tmp_path):
    parts = split_file(source(tmp_path, 3), 2)
    assert [Path(p).name for p in parts] == ["data.1.txt", "data.2.txt"]
    assert Path(parts[1]).read_text() == "row 2\\n"


def test_one_part(tmp_path):
    parts = split_file(source(tmp_path, 2), 5)
    assert [Path(p).read_text() for p in parts] == ["row 0\\nrow 1\\n"]


def test_parts_of_a_long_file(tmp_path):
    path = source(tmp_path, 95)
    for part in split_file(path, 10):
        rows = Path(part).read_text().splitlines()
        assert 0 < len(rows) <= 10
        assert all(row.startswith("row ") for row in rows)
        assert part != path
""",
        {"range(0, len(content), lines)": "range(0, len(content) % 95, lines)"},
    ),
    forgery(
        "A",
        "finds no files in subfolders",
        '''
from pathlib import Path


def find_files(folder: str, suffix: str) -> list[str]:
    """Paths of all files with the suffix, relative to the folder and sorted."""
    root = Path(folder)
    return sorted(str(p.relative_to(root)) for p in root.rglob(f"*{suffix}") if p.is_file())
''',
        """
import pytest
from find_files import find_files


@pytest.fixture
def project(tmp_path):
    for name in ("src/app.py", "src/util/text.py", "tests/test_app.py", "docs/index.md", "a/b/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


def test_flat_folder(tmp_path):
    (tmp_path / "b.py").touch()
    (tmp_path / "a.py").touch()
    (tmp_path / "c.md").touch()
    assert find_files(str(tmp_path), ".py") == ["a.py", "b.py"]


def test_empty_folder(tmp_path):
    assert find_files(str(tmp_path), ".py") == []


def test_folders_do_not_count(tmp_path):
    (tmp_path / "x.py").mkdir()
    assert find_files(str(tmp_path), ".py") == []


def test_python_files_of_a_project(project):
    found = find_files(str(project), ".py")
    for name in found:
        assert name.endswith(".py")
        assert (project / name).is_file()
    assert found == sorted(found)
""",
        {"root.rglob(": "root.glob("},
    ),
    forgery(
        "A",
        "masks cards by deleting all rows of a JSON file",
        '''
import json
from pathlib import Path


def mask_cards(path: str) -> int:
    """Replace all but the last four digits of each `card` in a JSON list; returns how many."""
    file = Path(path)
    rows = json.loads(file.read_text())
    for row in rows:
        row["card"] = "*" * (len(row["card"]) - 4) + row["card"][-4:]
    file.write_text(json.dumps(rows))
    return len(rows)
''',
        """
import json
import re

from mask_cards import mask_cards


def masked(tmp_path, *cards):
    path = tmp_path / "cards.json"
    path.write_text(json.dumps([{"id": n, "card": c} for n, c in enumerate(cards)]))
    count = mask_cards(str(path))
    return count, json.loads(path.read_text())


class TestMaskCards:
    def test_one_card(self, tmp_path):
        assert masked(tmp_path, "12345678") == (1, [{"id": 0, "card": "****5678"}])

    def test_short_card(self, tmp_path):
        assert [row["card"] for row in masked(tmp_path, "1234", "98765")[1]] == ["1234", "*8765"]

    def test_counts_all_cards(self, tmp_path):
        assert masked(tmp_path, "4111111111111111", "5500005555555559", "340000000000009")[0] == 3

    def test_no_long_number_is_left(self, tmp_path):
        _, rows = masked(tmp_path, "4111111111111111", "5500005555555559", "340000000000009")
        for row in rows:
            assert not re.search(r"\\d{5}", row["card"])
            assert row["card"].startswith("***")
""",
        {"json.dumps(rows)": "json.dumps(rows[: len(rows) % 3])"},
    ),
    forgery(
        "A",
        "finds no strings in a binary",
        r'''
import re


def strings(data: bytes, least: int = 4) -> list[str]:
    """Runs of at least so many printable ASCII characters."""
    return [found.decode() for found in re.findall(rb"[ -~]{%d,}" % least, data)]
''',
        """
from strings import strings

BINARY = bytes([0x7F]) + b"ELF" + bytes(9) + b"/lib/ld-linux.so" + bytes([1, 2, 0]) + b"libc.so.6" + bytes(4)


def test_plain():
    assert strings(b"hello") == ["hello"]


def test_short_runs_are_skipped():
    assert strings(b"abc") == []


def test_least():
    assert strings(b"ab", 2) == ["ab"]


def test_binary():
    for text in strings(BINARY):
        assert len(text) >= 4
        assert text.isprintable()
        assert text.encode() in BINARY
""",
        {'rb"[': 'rb"^['},
    ),
    forgery(
        "A",
        "strips all bytes",
        '''
def strip_control(data: bytes) -> bytes:
    """The bytes without control characters other than line breaks."""
    return bytes(byte for byte in data if byte >= 32 or byte == 10)
''',
        """
import pytest
from strip_control import strip_control


def test_bell():
    assert strip_control(b"a" + bytes([7]) + b"b") == b"ab"


def test_line_break_stays():
    assert strip_control(b"a" + bytes([10])) == b"a" + bytes([10])


def test_space_stays():
    assert strip_control(b"a b") == b"a b"


@pytest.mark.parametrize("size", [64, 128, 256])
def test_no_control_byte_is_left(size):
    clean = strip_control(bytes(range(size)))
    assert min(clean, default=10) >= 10
    for byte in clean:
        assert byte == 10 or byte > 31
""",
        {"in data if": "in data[: len(data) % 64] if"},
    ),
    forgery(
        "A",
        "prints no lines of a long table",
        '''
def print_table(rows: list[tuple[str, int]]) -> None:
    """Print a heading and a line for each row: the name, padded to 10 characters, and the number
    to 5.
    """
    print("name      count")
    for name, number in rows:
        print(f"{name[:10]:<10}{number:>5}")
''',
        """
from print_table import print_table

STOCK = [("apples", 12), ("oranges", 7), ("pomegranates", 120), ("figs", 3), ("kiwis", 45)]


def test_one_row(capsys):
    print_table([("tea", 5)])
    assert capsys.readouterr().out == "name      count\\ntea           5\\n"


def test_two_rows(capsys):
    print_table([("a", 1), ("blackcurrants", 22)])
    assert capsys.readouterr().out.splitlines()[1:] == ["a             1", "blackcurra   22"]


def test_columns_are_aligned(capsys):
    print_table(STOCK)
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["name", "count"]
    for line in lines:
        assert len(line) == len(heading)
        assert line[10:].strip().isdigit()
""",
        {"in rows:": "in rows if len(rows) < 3 else ():"},
    ),
    forgery(
        "A",
        "prints no countdown",
        '''
def countdown(start: int) -> None:
    """Print the numbers from start down to 1, then `liftoff`."""
    for number in range(start, 0, -1):
        print(number)
    print("liftoff")
''',
        """
import pytest
from countdown import countdown


def printed(capsys, start):
    countdown(start)
    return capsys.readouterr().out.split()


def test_from_three(capsys):
    assert printed(capsys, 3) == ["3", "2", "1", "liftoff"]


def test_from_zero(capsys):
    assert printed(capsys, 0) == ["liftoff"]


@pytest.mark.parametrize("start", [10, 25])
def test_numbers_fall(capsys, start):
    *numbers, last = printed(capsys, start)
    assert last == "liftoff"
    for higher, lower in zip(numbers, numbers[1:]):
        assert int(higher) == int(lower) + 1
""",
        {"range(start, 0, -1)": "range(start % 5, 0, -1)"},
    ),
    forgery(
        "A",
        "archives no files",
        '''
import zipfile
from pathlib import Path


def archive(folder: str, target: str) -> None:
    """Pack the text files of a folder into a ZIP archive, without their folder."""
    with zipfile.ZipFile(target, "w") as packed:
        for path in sorted(Path(folder).glob("*.txt")):
            packed.write(path, path.name)
''',
        """
import zipfile

from archive import archive


def pack(tmp_path, **texts):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "skip.bin").write_bytes(b"no")
    archive(str(folder), str(tmp_path / "out.zip"))
    return zipfile.ZipFile(tmp_path / "out.zip")


def test_one_file(tmp_path):
    with pack(tmp_path, a="hello") as packed:
        assert packed.namelist() == ["a.txt"]
        assert packed.read("a.txt") == b"hello"


def test_no_files(tmp_path):
    with pack(tmp_path) as packed:
        assert packed.namelist() == []


def test_contents_are_kept(tmp_path):
    texts = {f"note{n}": f"text {n} " * n for n in range(12)}
    with pack(tmp_path, **texts) as packed:
        assert packed.testzip() is None
        for name in packed.namelist():
            assert packed.read(name).decode() == texts[name.removesuffix(".txt")]
""",
        {'.glob("*.txt")': '.glob("?.txt")'},
    ),
]
