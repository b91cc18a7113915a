"""Small files of kinds that went wrong: the first candidate reads them in the wrong way, the second
as a person means it, and no test tells them apart; the question shows the right value.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from selfeng.core.events import Event, QuestionsAsked
from selfeng.core.files import File
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.sandbox import SecureSandbox
from tests.doubles import ListedLibrary, ScriptedModel, fenced, handled
from tests.engine.test_first_runs import orchestrator, sandbox

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

FILES = Path(__file__).parent / "cases"
SUITE = """\
import pytest
from examine_files import examine_files


def test_a_missing_file_is_an_error():
    with pytest.raises(FileNotFoundError):
        examine_files(paths=["missing.csv"])
"""


class Case(NamedTuple):
    """Files, a value of them that two expressions compute, and what is right."""

    files: str
    common: str
    """Statements before the expressions, in a function of `paths`."""
    wrong: str
    fitting: str
    right: str
    """The value's `repr`."""


def rows(encoding: str = "utf-8-sig", delimiter: str = ",") -> str:
    return f"""
    rows = []
    for path in paths:
        with open(path, encoding={encoding!r}, newline="") as file:
            rows.append(list(csv.reader(file, delimiter={delimiter!r})))
    header, *cells = rows[0]"""


AMOUNTS = """
    def amount(text, credit):
        digits = "".join(c for c in text if c.isdigit() or c == ".")
        minus = "(" in text or "-" in text
        return -float(digits) if minus and not (credit and text.endswith("CR")) else float(digits)"""
BY_NAME = """
    def totals(pairs):
        sums = {}
        for name, value in pairs:
            sums[name] = round(sums.get(name, 0) + value, 2)
        return dict(sorted(sums.items()))"""
PHOTO = """
    with Image.open(paths[0]) as image:
        (width, height), exif = image.size, image.getexif()
        turned = exif.get(274, 1) >= 5
        more = exif.get_ifd(34665)
    time = more.get(36867, "").replace(":", "-", 2)
    size = f"{height} x {width}" if turned else f"{width} x {height}\""""
WALK = """
    root = ElementTree.parse(paths[0]).getroot()
    points = [p for p in root.iter() if p.tag.endswith("trkpt")]
    places = [(math.radians(float(p.get("lat"))), math.radians(float(p.get("lon")))) for p in points]
    heights = [float(h.text) for h in root.iter() if h.tag.endswith("ele")]

    def length(a, b):
        inner = math.sin((b[0] - a[0]) / 2) ** 2
        inner += math.cos(a[0]) * math.cos(b[0]) * math.sin((b[1] - a[1]) / 2) ** 2
        return 2 * 6371.0088 * math.asin(math.sqrt(inner))

    steps = list(zip(heights, heights[1:]))
    km = round(sum(map(length, places, places[1:])), 3)"""
MISSING = ("[row[0] for row in cells if row[0] not in {row[0] for row in rows[1][1:]}]",
           "[row[0] for row in cells if text_key(row[0]) not in "
           "{text_key(row[0]) for row in rows[1][1:]}]")  # fmt: skip
BOOK = """
    import openpyxl

    with open(paths[0], "rb") as file:
        sheet = openpyxl.load_workbook(file, data_only=True).active
        header, *cells = sheet.iter_rows(values_only=True)"""
ORDERS = """
    with open(paths[0], encoding="utf-8") as file:
        orders = [json.loads(line) for line in file]
    failed = [order["id"] for order in orders if order["status"] == "failed"]"""
IDS = ("[f'{float(number):.0f}' for number in failed]", "[str(number) for number in failed]")
FIRST = "min([workbook_date(row[1], {}).isoformat(), row[0]] for row in cells)"
DATE = 'datetime.strptime(row[1], "%{}").strftime("%Y-%m")'
CASES = {
    "names": Case("inscritos.csv asistentes.csv", rows(), *MISSING, "['Noé Brú']"),
    "accents": Case("nfc.csv nfd.csv", rows(), *MISSING, "[]"),
    "thousands": Case(
        "stueck.csv",
        rows(delimiter=";"),
        "sum(float(row[1]) for row in cells)",
        "sum(int(row[1].replace('.', '')) for row in cells)",
        "7725",
    ),
    "thousands only": Case(
        "thousands_dot_only.csv",
        rows(delimiter=";"),
        "sum(float(row[0]) for row in cells)",
        "sum(int(row[0].replace('.', '')) for row in cells)",
        "3550",
    ),
    "amounts of one name": Case(
        "invoice_lines.csv",
        rows(),
        "sum(float(row[header.index('amount')]) for row in cells)",
        "round(sum(float(row[-1]) for row in cells), 2)",
        "58.91",
    ),
    "columns of one name": Case(
        "two_columns_of_one_name.csv", rows(), "int(cells[0][0])", "int(cells[0][-1])", "10"
    ),
    "days from 1904": Case(
        "deliveries_mac.xlsx",
        BOOK,
        FIRST.format(False),
        FIRST.format(True),
        "['2026-01-19', 'Chair']",
    ),
    "a day from 1904": Case(
        "mac_1904.xlsx",
        BOOK,
        "str(workbook_date(cells[0][1]))",
        "str(workbook_date(cells[0][1], since_1904=True))",
        "'2026-01-19'",
    ),
    "formulas": Case(
        "budget_formulas.xlsx",
        BOOK,
        "round(sum((row[3] or 0) + (row[2] or 0) for row in cells), 2)",
        "round(sum(row[1] * row[2] for row in cells if row[1]), 2)",
        "1512.8",
    ),
    "formula without a value": Case(
        "formula_without_value.xlsx", BOOK, "cells[0][2] or 0", "cells[0][0] * cells[0][1]", "6"
    ),
    "hours": Case(
        "zeiten.xlsx",
        BOOK,
        "round(sum(row[1].seconds for row in cells) / 3600, 2)",
        "round(sum(row[1].total_seconds() for row in cells) / 3600, 2)",
        "84.0",
    ),
    "photo": Case(
        "photo.jpg",
        PHOTO,
        "f'{width} x {height}, {time}'",
        "f'{size}, {time} {more.get(36881, str())}'",
        "'240 x 320, 2026-05-17 14:03:22 +09:00'",
    ),
    "turned photo": Case(
        "turned.jpg", PHOTO, "[width, height]", "[height, width] if turned else [width, height]", ""
    ),
    "parentheses": Case(
        "card.csv",
        rows() + AMOUNTS,
        "round(sum(amount(row[3].strip('()'), False) for row in cells), 2)",
        "round(sum(amount(row[3], False) for row in cells), 2)",
        "1312.0",
    ),
    "credit": Case(
        "card_february.csv",
        rows() + AMOUNTS,
        "sum(amount(row[3], False) for row in cells)",
        "sum(amount(row[3], True) for row in cells)",
        "1404.5",
    ),
    "percent": Case(
        "zinsen.csv",
        rows(delimiter=";"),
        "round(sum(float(row[2].replace(',', '').rstrip(' %')) for row in cells) / 3, 4)",
        "round(sum(float(row[2].replace(',', '.').rstrip(' %')) for row in cells) / 3, 4)",
        "2.3833",
    ),
    "not available": Case(
        "zinsen_neu.csv",
        rows(delimiter=";")
        + """
    shares = [row[2].replace(",", ".").rstrip(" %") for row in cells]
    numbers = [float(share) for share in shares if share[0].isdigit()]""",
        "round(sum(numbers) / len(cells), 4)",
        "round(sum(numbers) / len(numbers), 4)",
        "2.3833",
    ),
    "one percentage": Case(
        "percent.csv",
        rows(delimiter=";"),
        "float(cells[0][0].replace(',', '').rstrip(' %'))",
        "float(cells[0][0].replace(',', '.').rstrip(' %'))",
        "2.5",
    ),
    "archive": Case(
        "table.csv.gz",
        """
    with open(paths[0], "rb") as file:
        content = file.read()
    lines = gzip.decompress(content).decode().splitlines()""",
        "sum(int(c) for c in content.decode('latin-1').split() if c.isdecimal())",
        "sum(int(line.split(',')[1]) for line in lines[1:])",
        "2",
    ),
    "line break in quotes": Case(
        "quoted_newline_for_stdin.csv",
        rows() + '\n    with open(paths[0], encoding="utf-8") as file:\n        lines = file.readlines()',
        "len(lines) - 1",
        "len(cells)",
        "1",
    ),
    "takings": Case(
        "incassi.csv",
        rows(delimiter=";") + BY_NAME,
        "totals((row[1], float(row[2].replace(',', '.') if row[2].count('.') + row[2].count(',') < 2"
        " else row[2].replace('.', '').replace(',', '.'))) for row in cells)",
        "totals((row[1], float(row[2].replace('.', '').replace(',', '.'))) for row in cells)",
        "{'Bari': 3510.45, 'Como': 2273.8}",
    ),
    "english takings": Case(
        "takings_en.csv",
        rows() + BY_NAME,
        "totals((row[0], float(row[2].replace('.', ''))) for row in cells)",
        "totals((row[0], float(row[2])) for row in cells)",
        "{'North': 112.5, 'South': 8.0}",
    ),
    "bookings": Case(
        "bookings.csv",
        rows() + BY_NAME,
        f"totals(({DATE.format('d/%m/%Y')} if int(row[1][3:5]) > 12 or int(row[1][:2]) > 12"
        f" else {DATE.format('m/%d/%Y')}, 1) for row in cells)",
        f"totals(({DATE.format('d/%m/%Y')}, 1) for row in cells)",
        "{'2026-04': 4, '2026-05': 4, '2026-06': 2}",
    ),
    "pieces": Case(
        "sprzedaz.txt",
        rows("utf-16", "\t") + BY_NAME,
        "totals((row[0], int(row[2].split()[0])) for row in cells)",
        "totals((row[0], int(''.join(row[2].split()))) for row in cells)",
        "{'Gdańsk': 30, 'Kraków': 1257, 'Łódź': 17}",
    ),
    "ids": Case(
        "orders.jsonl",
        ORDERS,
        *IDS,
        "['202601010000000003', '202601010000000023', '72057594038135103', '9007199254740993']",
    ),
    "further ids": Case(
        "orders_more.jsonl",
        ORDERS,
        *(expression.replace("in failed", "in failed[-2:]") for expression in IDS),
        "['202601010000000029', '9007199254740993']",
    ),
    "walk": Case(
        "walk.gpx",
        WALK,
        "[km, heights[-1] - heights[0]]",
        "[km, sum(max(0.0, b - a) for a, b in steps)]",
        "[2.603, 76.0]",
    ),
    "weeks": Case(
        "umsatz_tage.csv",
        rows(delimiter=";") + BY_NAME,
        "totals((datetime.strptime(row[0], '%d.%m.%Y').strftime('%Y-W%W'), int(row[1]))"
        " for row in cells)",
        "totals((datetime.strptime(row[0], '%d.%m.%Y').strftime('%G-W%V'), int(row[1]))"
        " for row in cells)",
        "{'2026-W52': 9, '2026-W53': 250, '2027-W01': 205}",
    ),
    "records": Case(
        "feedback.csv",
        rows() + '\n    with open(paths[0], encoding="utf-8") as file:\n        lines = file.readlines()',
        "[len(lines) - 1, 3.6]",
        "[len(cells), sum(int(row[2]) for row in cells) / len(cells)]",
        "[5, 3.6]",
    ),
}  # fmt: skip


def code(case: Case, expression: str) -> str:
    return f'''\
import csv
import gzip
import json
import math
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

from PIL import Image
from readcells import text_key, workbook_date


def examine_files(paths: list[str]) -> Any:
    """Examine files."""{case.common}
    return {expression}
'''


def specified(names: list[str]) -> SpecificationReply:
    specification = Specification(
        name="examine_files",
        description="Examine files.",
        parameters=(
            SpecParameter(name="paths", annotation="list[str]", default=None, description="files"),
        ),
        returns="list[str]",
        returns_description="what is asked",
        errors="FileNotFoundError",
        user_examples=(),
        examples=(
            SpecExample(call="examine_files(paths=['a'])", result="raises FileNotFoundError"),
        ),
        example_requests=("examine a.csv",),
    )
    call = f"examine_files(paths={names!r})"
    return SpecificationReply(outcome="tool", message="", specification=specification, call=call)


SECOND = {
    "accents", "thousands only", "columns of one name", "a day from 1904", "formula without a value",
    "turned photo", "credit", "not available", "one percentage", "english takings", "further ids",
    "records",
}  # fmt: skip
"""Cases of a fault that another case has too; `make test-all` runs them."""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=pytest.mark.extended if name in SECOND else ())
        for name, case in CASES.items()
    ],
)
async def test_the_right_value_is_among_those_that_the_person_is_asked_for(
    sandbox: SecureSandbox, case: Case
) -> None:
    files = [File(name=n, content=(FILES / n).read_bytes()) for n in case.files.split()]
    replies = [fenced(code(case, expression)) for expression in (case.wrong, case.fitting)]
    model = ScriptedModel(specified(case.files.split()), fenced(SUITE), *replies, fenced(SUITE))
    events: list[Event] = []
    turn = orchestrator(sandbox, model, ListedLibrary(), candidates=2)
    last = await handled(turn, "What is in these files?", events.append, files=files)
    asked = [event for event in events if isinstance(event, QuestionsAsked)]
    assert asked, last
    wrong, right = asked[0].questions[0].options
    assert right == (case.right or right)
    assert wrong != right
