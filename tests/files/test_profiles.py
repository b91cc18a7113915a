"""Profiles of files as the sandbox makes them, of the files that people have and of hostile ones."""

import gzip
import io
import json
import sqlite3
import struct
import unicodedata
import zipfile
import zlib
from base64 import b64decode
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from benchmarks.file_cases import Case, documents, messages, unusual_tables
from benchmarks.files import field_problem, made_file
from selfeng.core.errors import ResourceNotFound, SandboxUnavailable
from selfeng.core.files import File, FileReference, LargeFiles
from selfeng.core.verdict import Returned, SandboxJob, SandboxStatus
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from selfeng.stages.execution.file_profiler import FileProfiler
from tests.sandbox.backends import Behind

pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

MAKES_A_WORKBOOK = """
import datetime, openpyxl
def make(bad):
    book = openpyxl.Workbook()
    sales = book.active
    sales.title = "Sales"
    sales.append(["Report of 2025"])
    sales.append(["day", "amount", "paid"])
    for n in range(1, 80):
        sales.append([datetime.date(2025, 1, n % 28 + 1), bad if n == 55 else n * 1.5, n % 2 == 0])
    people = book.create_sheet("People")
    for row in (["id", "name"], [1, "Ann"], [2, None]):
        people.append(row)
    book.save("two sheets.xlsx")
"""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sandbox(behind: Callable[[str], Behind]) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(timeout=20, executors=PoolSize(1, 1, 2), **behind("bubblewrap").options)
    yield sandbox
    await sandbox.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def workbook(sandbox: SecureSandbox) -> bytes:
    made = await sandbox.execute(SandboxJob("make", MAKES_A_WORKBOOK), {"bad": "k.A."})
    assert isinstance(made, Returned)
    return made.files[0].content


async def profile(sandbox: Any, name: str, content: bytes) -> dict[str, Any]:
    async def read(_: FileReference) -> File:
        return file

    file = File(name=name, content=content)
    found = json.loads(await FileProfiler(sandbox).inspect(file.reference(), read))
    assert isinstance(found, dict)
    return found


def columns(found: dict[str, Any], table: int = 0) -> dict[str, Any]:
    return {c.pop("name"): c for c in found["tables"][table]["columns"]}


def european(bad: str) -> bytes:
    """The CSV that a spreadsheet saves in Germany, with an odd cell in line 57."""
    rows = [f"{n % 28 + 1:02}.03.2025;Müller;{n}.{n:03},50;{n} %" for n in range(1, 80)]
    rows[55] = f"01.03.2025;Müller;{bad};"
    return "\r\n".join(["Datum;Händler;Betrag;Anteil", *rows]).encode("cp1252")


async def test_a_european_csv_is_described_with_its_dirt_far_below(sandbox: SecureSandbox) -> None:
    found = await profile(sandbox, "umsatz.csv", european("n/a"))
    assert (found["kind"], found["encoding"], found["delimiter"], found["decimal"]) == (
        "table",
        "cp1252",
        ";",
        ",",
    )
    assert (found["tables"][0]["header"], found["tables"][0]["rows"]) == ("line 1", 79)
    told = columns(found)
    assert told["Datum"]["type"] == "date DD.MM.YYYY"
    assert told["Händler"] == {"type": "text", "values": ["Müller"]}
    assert told["Betrag"] == {
        "type": "number with thousands separators",
        "format": "decimal comma: 78 of 78 cells allow no other reading, such as '1.001,50'",
        "range": "1001.5 to 79079.5",
        "sum": "3107143",
        "odd": ["line 57: n/a"],
    }
    assert told["Anteil"] == {
        "type": "integer %",
        "empty": ["line 57"],
        "range": "1 to 79",
        "sum": "3104",
    }
    assert found["begins"][1] == "02.03.2025;Müller;1.001,50;1 %"


@pytest.mark.parametrize(
    ("content", "encoding", "delimiter"),
    [
        ("\ufeffid,town\n007,Köln\n008,Bonn\n".encode(), "utf-8-sig", ","),
        ("id\ttown\n007\tKöln\n008\tBonn\n".encode("utf-16"), "utf-16", "tab"),
        ("id|town\n007|Köln\n008|Bonn\n".encode("utf-16-le"), "utf-16-le", "|"),
        ("id|town\n007|Köln\n008|Bonn\n".encode("utf-16-be"), "utf-16-be", "|"),
        ("id;town\n007;東京とその\n008;さいたま\n".encode("shift_jis"), "shift_jis", ";"),
        ("id;town\n007;Москва\n008;Казань\n".encode("cp1251"), "cp1251", ";"),
        (b"id,town\n007,Bonn\n008,K\xf6ln\n", "cp1252", ","),
    ],
)
async def test_encodings_and_delimiters_are_told_apart(
    sandbox: SecureSandbox, content: bytes, encoding: str, delimiter: str
) -> None:
    found = await profile(sandbox, "towns.csv", content)
    assert (found["encoding"], found["delimiter"]) == (encoding, delimiter)
    assert columns(found)["id"]["type"] == "integer with leading zeros"


async def test_every_sheet_of_a_workbook_is_described(
    sandbox: SecureSandbox, workbook: bytes
) -> None:
    found = await profile(sandbox, "two sheets.xlsx", workbook)
    assert [(t["sheet"], t["header"], t["rows"]) for t in found["tables"]] == [
        ("Sales", "row 2", 79),
        ("People", "row 1", 2),
    ]
    sales = columns(found)
    assert sales["amount"] == {
        "type": "number",
        "range": "1.5 to 118.5",
        "sum": "4657.5",
        "odd": ["row 57: k.A."],
    }
    assert (sales["day"]["type"], sales["paid"]["type"]) == ("date or time", "yes or no")
    assert columns(found, 1)["name"] == {"type": "text", "values": ["Ann"], "empty": ["row 3"]}


async def test_rows_of_another_width_and_a_table_without_a_header_are_noted(
    sandbox: SecureSandbox,
) -> None:
    lines = [f"{n},2024-01-{n:02},{n}.5" for n in range(1, 20)]
    lines[7] = "8,2024-01-08,8,5"
    (table,) = (await profile(sandbox, "log.csv", "\n".join(lines).encode()))["tables"]
    assert (table["header"], table["rows"]) == ("none", 19)
    assert table["ragged"] == ["line 8: 4 cells instead of 3"]
    assert [c["type"] for c in table["columns"]] == ["integer", "date YYYY-MM-DD", "number"]


async def test_titles_above_a_table_are_no_header(sandbox: SecureSandbox) -> None:
    content = b"Report;;;\nCreated;2025-03-01;;\n\nday;town;n;note\n2025-01-01;Bonn;3;\n2025-01-02;Ulm;4;x\n"
    (table,) = (await profile(sandbox, "report.csv", content))["tables"]
    assert (table["header"], table["rows"]) == ("line 4", 2)
    assert [c["name"] for c in table["columns"]] == ["day", "town", "n", "note"]


async def test_codes_are_no_amounts_in_rand(sandbox: SecureSandbox) -> None:
    text = "room,price,deposit\nR0,R500,R100\nR12,R12.50,R 20\nR7,R3,R0\n"
    columns = (await profile(sandbox, "rooms.csv", text.encode()))["tables"][0]["columns"]
    assert columns[0] == {"name": "room", "type": "text", "values": ["R0", "R12", "R7"]}
    assert [column["type"] for column in columns[1:]] == ["number R", "integer R"]


async def test_the_shape_of_nested_json_names_what_differs(sandbox: SecureSandbox) -> None:
    users = [{"name": "A", "age": n, "tags": ["x"]} for n in range(50)]
    content = json.dumps({"users": [*users, {"name": "B", "age": "n/a"}], "next": None})
    found = await profile(sandbox, "users.json", content.encode())
    assert found["kind"] == "JSON"
    assert found["shape"] == (
        '{"users": list of 51 × {"name": text, "age": integer or text (1: $.users[50].age: "n/a"), '
        '"tags" (in 50 of 51): list of 1 × text}, "next": null}'
    )
    lines = await profile(sandbox, "log.jsonl", b'{"a": 1}\n{"a": 2.5}\n')
    assert (lines["kind"], lines["shape"]) == (
        "JSON lines",
        '{"a": integer or number (1: line 2.a: 2.5)}',
    )


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "photo.png",
            png(60_000, 40_000),
            {
                "kind": "picture",
                "format": "PNG",
                "size": "60000 x 40000 pixels",
                "mode": "RGB",
            },
        ),
        ("nothing.csv", b"", {"kind": "empty"}),
        (
            "paper.pdf",
            b"%PDF-1.7 ...",
            {"kind": "PDF", "problem": "it can't be read: Stream has ended unexpectedly"},
        ),
        ("noise.dat", bytes(range(256)), {"kind": "binary"}),
        ("zeros.csv", bytes(20), {"kind": "binary"}),
        (
            "notes.md",
            b"# Notes\n\nHello, world.\nBye, you.\nSo, so.\n",
            {
                "kind": "text",
                "lines": 5,
                "encoding": "utf-8",
                "begins": ["# Notes", "", "Hello, world.", "Bye, you.", "So, so."],
            },
        ),
    ],
)
async def test_other_files_are_named_for_what_they_are(
    sandbox: SecureSandbox, name: str, content: bytes, told: dict[str, Any]
) -> None:
    assert await profile(sandbox, name, content) == told


async def test_a_large_file_is_read_to_its_end(sandbox: SecureSandbox) -> None:
    rows = [f"{n};{n % 28 + 1:02}.01.2024;text {n}" for n in range(50_000)]
    rows[40_000] = "?;01.01.2024;text"
    found = await profile(sandbox, "large.csv", "\n".join(["n;day;text", *rows]).encode())
    assert found["tables"][0]["rows"] == 50_000
    assert columns(found)["n"]["odd"] == ["line 40002: ?"]
    assert len(json.dumps(found)) < 1_500


def swollen(workbook: bytes, megabytes: int) -> bytes:
    """The workbook with a cell of so many megabytes, in a file of a few kilobytes."""
    packed = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(workbook))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for member in source.infolist():
            if not member.filename.endswith("sheet1.xml"):
                target.writestr(member, source.read(member))
        with target.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(
                b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
                b'<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>'
            )
            for _ in range(megabytes):
                sheet.write(b"a" * 1_000_000)
            sheet.write(b"</t></is></c></row></sheetData></worksheet>")
    return packed.getvalue()


async def test_hostile_files_end_within_the_limits(sandbox: SecureSandbox, workbook: bytes) -> None:
    bomb = await profile(sandbox, "bomb.xlsx", swollen(workbook, 151))
    assert bomb["problem"] == "unpacked it has 151 MB, so it was not opened"
    smaller = await profile(sandbox, "bomb.xlsx", swollen(workbook, 140))
    assert smaller["problem"].startswith("reading it was ended: It needed more memory than")
    broken = await profile(sandbox, "broken.xlsx", b"PK\3\4" + b"junk" * 100)
    assert broken == {"problem": "it can't be read: BadZipFile: File is not a zip file"}
    deep = await profile(sandbox, "deep.json", b"[" * 100_000)
    assert deep["problem"] == "it is nested too deeply to be read"
    wide = await profile(sandbox, "wide.csv", b",".join(b"x" * 90 for _ in range(50_000)) + b"\n1")
    assert len(json.dumps(wide)) < 7_000


async def test_the_lines_of_an_error_are_found(sandbox: SecureSandbox, workbook: bytes) -> None:
    profiler = FileProfiler(sandbox)
    csv = File(name="umsatz.csv", content=european("n/a"))
    assert (
        await profiler.lines_about(csv, "could not convert string to float: 'n/a'")
        == "umsatz.csv, line or row 57: 01.03.2025;Müller;n/a;"
    )
    assert (
        await profiler.lines_about(csv, "line 3 is bad")
        == "umsatz.csv, line or row 3: 03.03.2025;Müller;2.002,50;2 %"
    )
    assert await profiler.lines_about(csv, "something else") == ""
    book = File(name="two sheets.xlsx", content=workbook)
    assert (
        await profiler.lines_about(book, "invalid literal: 'k.A.'")
        == "two sheets.xlsx, line or row 57: Sales: 2025-01-28 00:00:00 | k.A. | False"
    )


class Counted:
    """A sandbox that counts its calls, with their outcomes."""

    def __init__(self, *outcomes: Any, available: bool = True) -> None:
        self.calls, self._outcomes, self._available = 0, list(outcomes), available

    async def status(self) -> SandboxStatus:
        return SandboxStatus(available=self._available, backend="counted", detail="no engine here")

    async def execute(self, *_: Any, **__: Any) -> Any:
        self.calls += 1
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def test_a_content_is_examined_once_and_failed_tries_are_repeated_and_not_remembered() -> (
    None
):
    gone = SandboxUnavailable("no engine answers")
    counted = Counted(
        gone, gone, gone, Returned(type_name="dict", text="", data='{"kind": "text"}')
    )
    profiler, reads = FileProfiler(counted), []

    async def read(reference: FileReference) -> File:
        reads.append(reference.name)
        return File(name=reference.name, content=b"x")

    file = File(name="a.txt", content=b"x").reference()
    without = await FileProfiler(Counted(available=False)).inspect(file, read)
    assert without == '{"problem": "the content could not be examined: no engine here"}'
    told = [await profiler.inspect(file, read) for _ in range(3)]
    assert told == [
        '{"problem": "the content could not be examined: no engine answers"}',
        '{"kind": "text"}',
        '{"kind": "text"}',
    ]
    assert (counted.calls, len(reads)) == (4, 2)


async def test_a_file_that_can_not_be_read_is_a_problem_of_its_profile() -> None:
    async def gone(reference: FileReference) -> File:
        raise ResourceNotFound("the conversation has no such file", "attach it again")

    profiler = FileProfiler(Counted())
    profile = await profiler.inspect(File(name="a.csv", content=b"a").reference(), gone)
    assert "the conversation has no such file" in json.loads(profile)["problem"]


MAKES_UNUSUAL_FILES = """
import openpyxl, datetime
from openpyxl.utils.datetime import CALENDAR_MAC_1904
from PIL import Image
def make():
    book = openpyxl.Workbook()
    book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    for row in (["day", "sum"], [datetime.date(2026, 3, 4), 2], [datetime.date(2026, 3, 5), 3]):
        sheet.append(row)
    sheet.append([None, "=SUM(B2:B3)"])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.merge_cells("A5:B5")
    book.create_sheet("Old").sheet_state = "hidden"
    book.save("unusual.xlsx")
    picture = Image.new("RGB", (40, 30))
    exif = picture.getexif()
    exif[0x0112], exif.get_ifd(0x8769)[0x9003] = 6, "2026:04:05 06:07:08"
    picture.save("turned.jpg", exif=exif)
"""


async def test_unusual_facts_of_workbooks_and_photos_are_stated(sandbox: SecureSandbox) -> None:
    made = await sandbox.execute(SandboxJob("make", MAKES_UNUSUAL_FILES), {})
    assert isinstance(made, Returned)
    files = {file.name: file.content for file in made.files}
    book = await profile(sandbox, "unusual.xlsx", files["unusual.xlsx"])
    assert book["date_system"].startswith("1904")
    sheet, old = book["tables"]
    assert sheet["formulas_without_stored_values"] == ["B4"]
    assert sheet["hidden_rows"] == ["3"]
    assert sheet["hidden_columns"] == ["2 to 2"]
    assert sheet["merged"] == ["A5:B5"]
    assert old["hidden_sheet"] == "hidden"
    assert columns(book)["day"]["values"] == ["2026-03-04 00:00:00", "2026-03-05 00:00:00"]
    photo = await profile(sandbox, "turned.jpg", files["turned.jpg"])
    assert (photo["size"], photo["taken"]) == ("30 x 40 pixels", "2026:04:05 06:07:08")


MAKES_PICTURES = """
import io
from PIL import Image
from pypdf import PdfReader, PdfWriter
def make():
    def halves(mode, size, first, second):
        image = Image.new(mode, size, first)
        image.paste(second, (0, 0, size[0] // 2, size[1]))
        return image
    turned = halves("RGB", (4000, 2000), "red", "blue")
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save("turned.jpg", exif=exif)
    halves("RGBA", (60, 40), (0, 0, 0, 0), (255, 0, 0, 255)).save("clear.png")
    frames = [Image.new("RGB", (60, 40), color) for color in ("red", "blue")]
    frames[0].save("moving.gif", save_all=True, append_images=frames[1:])
    frames[1].save("still.webp", lossless=True)
    halves("I;16", (60, 40), 0, 65535).save("deep.png")
    scan = io.BytesIO()
    frames[0].save(scan, "PDF", save_all=True, append_images=frames[1:] * 5)
    pages = PdfWriter(scan)
    pages.pages[0].rotate(90)
    pages.write("scan.pdf")
"""
SEES = """
from PIL import Image
def see(names):
    images = [Image.open(name) for name in names]
    ends = [(i.getpixel((2, 2)), i.getpixel((i.width - 3, i.height - 3))) for i in images]
    colors = [[[round(v / 255) for v in color] for color in pair] for pair in ends]
    return [[*image.size, *pair] for image, pair in zip(images, colors)]
"""


def bomb() -> bytes:
    """A PNG of 400 million pixels in 50 KB."""
    chunks = {
        b"IHDR": struct.pack(">II5B", 20_000, 20_000, 1, 0, 0, 0, 0),
        b"IDAT": zlib.compress(bytes(2501 * 20_000)),
        b"IEND": b"",
    }
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


BLACK, WHITE, RED, BLUE = [0, 0, 0], [1, 1, 1], [1, 0, 0], [0, 0, 1]


async def test_a_model_is_shown_pictures_as_people_see_them(sandbox: SecureSandbox) -> None:
    made = await sandbox.execute(SandboxJob("make", MAKES_PICTURES), {})
    assert isinstance(made, Returned), made
    seen = {}
    for file in (*made.files, File(name="bomb.png", content=bomb())):
        urls = await FileProfiler(sandbox).pictures(file)
        assert all(url.startswith("data:image/jpeg;base64,/9j/") for url in urls)
        shown = [
            File(name=f"{n}.jpg", content=b64decode(url.partition(",")[2]))
            for n, url in enumerate(urls)
        ]
        ran = await sandbox.execute(
            SandboxJob("see", SEES), {"names": [file.name for file in shown]}, shown
        )
        assert isinstance(ran, Returned), ran
        seen[file.name] = json.loads(ran.data or "")
    page = [1568, 1046]
    assert seen == {
        "turned.jpg": [[784, 1568, BLUE, RED]],
        "clear.png": [[60, 40, RED, WHITE]],
        "moving.gif": [[60, 40, RED, RED]],
        "still.webp": [[60, 40, BLUE, BLUE]],
        "deep.png": [[60, 40, WHITE, BLACK]],
        "bomb.png": [],
        "scan.pdf": [[*page[::-1], RED, RED], *([[*page, BLUE, BLUE]] * 3)],
    }


async def test_usual_files_have_no_unusual_facts(sandbox: SecureSandbox, workbook: bytes) -> None:
    book = await profile(sandbox, "two sheets.xlsx", workbook)
    assert set(book) == {"kind", "tables"}
    unusual = ("formulas", "hidden", "merged", "rows_hidden", "columns_of")
    assert not [key for table in book["tables"] for key in table if key.startswith(unusual)]


async def test_archives_and_databases_are_profiled_inside(sandbox: SecureSandbox) -> None:
    packed, inner_zip = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner_zip, "w") as archive:
        archive.writestr("deep.txt", "deep")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("prices.csv", "item;price\npen;2\n")
        archive.writestr("inner.zip", inner_zip.getvalue())
    zipped = await profile(sandbox, "all.zip", packed.getvalue())
    assert [inner["kind"] for inner in zipped["contents"]] == ["table", "zip archive"]
    gzipped = await profile(sandbox, "a.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert gzipped["contents"][0]["name"] == "a.csv"
    assert gzipped["contents"][0]["tables"][0]["rows"] == 2
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE plant (name TEXT, height REAL)")
        connection.execute("INSERT INTO plant VALUES ('oak', 20.5)")
        connection.commit()
        content = connection.serialize()
    assert (await profile(sandbox, "plants.db", content))["tables"] == [
        {"table": "plant", "rows": 1, "columns": ["name TEXT", "height REAL"]}
    ]


async def test_columns_of_one_name_and_decomposed_accents_are_named(sandbox: SecureSandbox) -> None:
    twice = await profile(sandbox, "twice.csv", b"id,fee,fee\n1,2,3\n2,3,4\n")
    assert twice["tables"][0]["columns_of_one_name"] == ["fee: columns 2, 3"]
    content = unicodedata.normalize("NFD", "name,n\nZoë,1\nÉva,2\n").encode()
    assert "decomposed" in (await profile(sandbox, "nfd.csv", content))["unicode"]


@pytest.mark.parametrize(
    "case", [*messages(), *unusual_tables(), *(c for c in documents() if c.name[:3] == "hi.")],
    ids=lambda case: case.name,
)  # fmt: skip
async def test_documents_and_unusual_tables_have_profiles(
    sandbox: SecureSandbox, case: Case
) -> None:
    found = await profile(sandbox, case.name, (await made_file(sandbox, case)).content)
    assert [field for field in case.profile.items() if field_problem(found, *field)] == []


async def test_names_in_archives_are_decoded(sandbox: SecureSandbox) -> None:
    name = "日本語の表.txt".encode("shift_jis")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Q" * len(name), "text")
    content = packed.getvalue().replace(b"Q" * len(name), name)
    told = (await profile(sandbox, "names.zip", content))["encoding_of_names"]
    assert "in shift_jis they are 日本語の表.txt" in told


async def test_documents_that_hold_too_much_or_are_broken_are_problems(
    sandbox: SecureSandbox,
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("word/document.xml", bytes(151_000_000))
    bomb = await profile(sandbox, "bomb.docx", packed.getvalue())
    assert bomb["problem"] == "unpacked it has 151 MB, so it was not opened"
    old = await profile(sandbox, "old.doc", b"\xd0\xcf\x11\xe0" + bytes(600))
    assert old == {"kind": "old Office file, such as .doc or .msg"}


async def test_a_large_text_is_profiled_by_its_beginning(
    sandbox: SecureSandbox, tmp_path: Path
) -> None:
    text = b"x" * 100
    lines = b"".join(b"2026-01-%02d,%d,%s\n" % (n % 28 + 1, n, text) for n in range(100_000))
    large = LargeFiles(tmp_path).take("long.csv", [b"day,number,text\n", lines])
    profile = await profiled(sandbox, large)
    assert profile["sample"] == "from the first 8 MB of 12 MB"
    (table,) = profile["tables"]
    assert table["examined_to"].startswith("row ")
    assert "lines" not in profile
    assert "rows" not in table
    types = [column["type"] for column in table["columns"]]
    assert types == ["date YYYY-MM-DD", "integer", "text"]
    assert not any("sum" in column for column in table["columns"])
    one_line = LargeFiles(tmp_path).take("long.bin", [bytes(65_000_000)])
    assert "was not opened" in (await profiled(sandbox, one_line))["problem"]


async def profiled(sandbox: SecureSandbox, file: File) -> dict[str, Any]:
    async def read(reference: FileReference) -> File:
        return file

    profile: dict[str, Any] = json.loads(
        await FileProfiler(sandbox).inspect(file.reference(), read)
    )
    return profile
