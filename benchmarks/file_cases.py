"""The files of `benchmarks.files`: made here, each with values that are known.

To add a kind of file, append a function to `KINDS` that gives its cases.
"""

import base64
import csv
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any
from xml.sax.saxutils import escape

REFUSED = "refused"
"""The answer where nothing decides between two readings."""


@dataclass(frozen=True)
class Case:
    """A file, a call about it, and what profile and call must give."""

    name: str
    content: bytes
    tool: str = ""
    """A seed tool, or a module of `TOOLS`; "" where only the profile is examined."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None
    """The value, an entry of each key of a dict, or REFUSED."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """By the names of the profile's fields, what stands there; of a text a part is enough. Names of
    fields of a column follow the column's name and a slash, as in `amount/sum`.
    """
    maker: str = ""
    """A function of `MAKERS`, which makes the file of the rows in `content` in the sandbox."""


SUM_OF_A_SHEET = """
import math
import openpyxl
from readcells import plain_text, read_numbers, same_text


def sum_of_a_sheet(path: str, column: str) -> dict:
    sheet = openpyxl.load_workbook(path, data_only=True).active
    header, *rows = sheet.iter_rows(values_only=True)
    at = next(i for i, name in enumerate(header) if same_text(str(name), column))
    places = [f"row {n}" for n in range(2, len(rows) + 2)]
    cells = [cell for row in rows for cell in row]
    numbers = read_numbers([row[at] for row in rows], places=places, others=cells)
    return {"sum": math.fsum(value for value in numbers.checked() if value is not None)}
"""
SUM_OF_RECORDS = """
import json
import math
from readcells import read_numbers


def sum_of_records(path: str, key: str) -> dict:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        records = json.loads(text)
    except ValueError:
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
    others = [value for record in records for value in record.values()]
    numbers = read_numbers([record.get(key) for record in records], others=others)
    return {"sum": math.fsum(value for value in numbers.checked() if value is not None)}
"""
FIRST_DAY = """
from readcells import read_table


def first_day(path: str, column: str) -> str:
    dates = read_table(path).dates(column)
    return str(min(day for day in dates.checked() if day))
"""
SUM_OF_AN_OLD_SHEET = """
import math
import python_calamine
from readcells import read_numbers, same_text


def sum_of_an_old_sheet(path: str, column: str) -> dict:
    book = python_calamine.load_workbook(path)
    rows = [row for row in book.get_sheet_by_index(0).to_python() if all(c != "" for c in row)]
    at = next(i for i, name in enumerate(rows[0]) if same_text(str(name), column))
    numbers = read_numbers([row[at] for row in rows[1:]])
    return {"sum": math.fsum(value for value in numbers.checked() if value is not None)}
"""
SUM_OF_PARQUET = """
import pandas
from readcells import read_numbers


def sum_of_parquet(path: str, column: str) -> dict:
    numbers = read_numbers(pandas.read_parquet(path)[column].tolist())
    return {"sum": sum(value for value in numbers.checked() if value is not None)}
"""
MAKERS = """
def make(name, rows):
    if name.endswith(".parquet"):
        import pandas
        pandas.DataFrame(rows[1:], columns=rows[0]).to_parquet(name)
    elif name.endswith(".docx"):
        import docx
        document = docx.Document()
        document.add_heading(rows[0][0], 1)
        table = document.add_table(len(rows), 2)
        for row, cells in zip(rows, table.rows):
            cells.cells[0].text, cells.cells[1].text = row
        document.save(name)
    elif name.endswith(".pptx"):
        import pptx
        book = pptx.Presentation()
        slide = book.slides.add_slide(book.slide_layouts[5])
        slide.shapes.title.text = rows[0][0]
        frame = slide.shapes.add_table(len(rows), 2, 0, 0, 1000, 1000)
        for n, row in enumerate(rows):
            frame.table.cell(n, 0).text, frame.table.cell(n, 1).text = row
        book.save(name)
"""
IN_BOTH = """
from readcells import read_table, text_key


def in_both(path: str, a: str, b: str) -> int:
    table = read_table(path)
    first, second = ({text_key(cell) for _, cell in table.column(name)} for name in (a, b))
    return len(first & second)
"""
TOOLS = {
    "sum_of_a_sheet": SUM_OF_A_SHEET,
    "sum_of_records": SUM_OF_RECORDS,
    "sum_of_an_old_sheet": SUM_OF_AN_OLD_SHEET,
    "sum_of_parquet": SUM_OF_PARQUET,
    "first_day": FIRST_DAY,
    "in_both": IN_BOTH,
}


@dataclass(frozen=True)
class Habit:
    """How people of a language write a table."""

    language: str
    encoding: str
    delimiter: str
    name: str
    """The heading of the names."""
    amount: str
    """The heading of the numbers."""
    numbers: Mapping[str, str]
    """Numbers by names."""
    total: float
    decimal: str
    """The profile's decimal sign; "" where it has none."""


HABITS = (
    Habit("en", "utf-8", ",", "Shop", "Takings",
          {"North": "$1,204.50", "South": "$88.25", "East": "($12.00)"}, 1280.75, "."),
    Habit("de", "cp1252", ";", "Geschäft", "Umsatz",
          {"Köln": "1.204,50 €", "Ulm": "88,25 €", "Hof": "-12,00 €"}, 1280.75, ","),
    Habit("de_CH", "utf-8-sig", ";", "Größe", "Betrag",
          {"Zürich": "CHF 1’204.50", "Bern": "88.25", "Chur": "12.-"}, 1304.75, "."),
    Habit("fr", "utf-8-sig", ";", "Magasin", "Chiffre d’affaires",
          {"Orléans": "1\u202f204,50 €", "Nîmes": "88,25 €", "Pau": "−12,00 €"}, 1280.75, ","),
    Habit("it", "cp1252", ";", "Città", "Importo",
          {"Forlì": "1.204,50", "Bari": "88", "Como": "12,5-"}, 1280.0, ","),
    Habit("pl", "utf-16", "\t", "Miasto", "Kwota",
          {"Łódź": "1\u00a0204,50 zł", "Gdańsk": "88,25 zł", "Kraków": "12 zł"}, 1304.75, ","),
    Habit("pt_BR", "utf-8", ";", "Loja", "Preço",
          {"São Paulo": "R$ 1.204,50", "Belém": "R$ 88,25", "Natal": "-R$ 12,00"}, 1280.75, ","),
    Habit("tr", "utf-8", ";", "Şehir", "Tutar",
          {"İzmir": "1.204,50 TL", "Muş": "88,25 TL", "Iğdır": "12 TL"}, 1304.75, ","),
    Habit("ru", "cp1251", ";", "Город", "Сумма",
          {"Москва": "1 204,50", "Казань": "88,25", "Пермь": "-12"}, 1280.75, ","),
    Habit("hi", "utf-8", ",", "शहर", "राशि",
          {"दिल्ली": "₹12,04,500.50", "पुणे": "₹१२,३४५", "आगरा": "₹88"}, 1216933.5, "."),
    Habit("fa", "utf-8", "|", "شهر", "مبلغ",
          {"تهران": "۱٬۲۰۴٫۵", "قم": "۸۸٫۲۵", "یزد": "۱۲"}, 1304.75, "٫"),
    Habit("ja", "shift_jis", ",", "支店", "金額",
          {"東京": "￥１，２０４", "大阪": "￥８８，０００", "なら": "￥３"}, 89207, "."),
)  # fmt: skip


def tables_of_languages() -> Iterator[Case]:
    for habit in HABITS:
        rows = [[habit.name, habit.amount], *map(list, habit.numbers.items())]
        yield _sum(
            f"{habit.language}.csv",
            _delimited(rows, habit.delimiter).encode(habit.encoding),
            habit.amount,
            habit.total,
            decimal=habit.decimal,
            encoding=habit.encoding,
        )
        records = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
        yield from _records(habit, records)
        yield Case(
            f"{habit.language}.xlsx",
            workbook(rows),
            "sum_of_a_sheet",
            {"path": f"{habit.language}.xlsx", "column": habit.amount},
            {"sum": habit.total},
            _total(habit.total, habit.amount),
        )


def _records(habit: Habit, records: Sequence[Mapping[str, str]]) -> Iterator[Case]:
    """The same as JSON lines or as JSON."""
    lines = habit.language < "g"
    texts = [json.dumps(record, ensure_ascii=False) for record in records]
    content = "\n".join(texts) if lines else f"[{', '.join(texts)}]"
    name = f"{habit.language}.{'jsonl' if lines else 'json'}"
    kind = {"kind": "JSON lines" if lines else "JSON", "shape": f'"{habit.amount}": text'}
    arguments = {"path": name, "key": habit.amount}
    yield Case(name, content.encode(), "sum_of_records", arguments, {"sum": habit.total}, kind)


def single_columns() -> Iterator[Case]:
    """If a column is ambiguous, the rest of the file decides, or the profile reports it."""
    open_cells = ["1.250", "2.300", "4.175"]
    both = "1250 to 4175 or 1.25 to 4.175"
    yield _column("semicolons.csv", "Stück", open_cells, 7725, ";", decimal=",")
    yield _column("commas.csv", "kg", open_cells, 7.725, ",", decimal=".")
    yield _column("tabs.tsv", "n", open_cells, REFUSED, "\t", **{"n/format": "nothing decides"})
    yield _column("pipes.txt", "n", ["1,250", "2,300", "4,175"], REFUSED, "|", **{"n/range": both})
    yield _column("bare.tsv", "n", ["1.250", "900", "12.000"], 14150, "\t", decimal=",")
    yield _column("quoted.csv", "n", ["1,234", "5,678"], 6912, ",", decimal=".")
    yield _column("zero.tsv", "n", ["0.125", "1.250"], 1.375, "\t", decimal=".")
    yield _column("percent.csv", "Zins", ["2,5 %", "3,75 %", "0,9%"], 7.15, ";", decimal=",")
    yield _column("credit.csv", "net", ["$2,400.00", "($25.00) CR", "5.00 CR"], 2370, ",",
                  **{"net/format": "CR marks negative amounts"})  # fmt: skip
    yield _column("marks.csv", "net", ["100.00 CR", "30.00 DR", "5.50 DR"], 64.5, ",", decimal=".")
    yield _column(
        "mixed.tsv", "n", ["1.5", "2.5", "2,5"], REFUSED, "\t", **{"n/odd": "line 4: 2,5"}
    )
    yield _column("units.csv", "n", ["$5", "€5", "$7"], REFUSED, ",", **{"n/odd": "line 3: €5"})
    yield _column("words.csv", "n", ["5", "k. A.", "7"], REFUSED, ",", **{"n/odd": "line 3: k. A."})
    yield _column("raised.csv", "n", ["5", "5²", "7"], REFUSED, ",", **{"n/odd": "line 3: 5²"})
    other = _delimited([["a", "b"], ["0,5", "1.234"], ["1,25", "5.678"]], "|")
    yield _sum("other.txt", other.encode(), "b", 6912, decimal=",")
    twice = _delimited([["item", "net", "net"], ["Pen", "1", "10"]], ",")
    arguments = {"csv_text": "twice.csv", "column": "net"}
    yield Case("twice.csv", twice.encode(), "summarize_csv_column", arguments, REFUSED,
               {"net/sum": "1"})  # fmt: skip


def dates() -> Iterator[Case]:
    day = "2026-03-04"
    for name, cells, answer, form in (
        ("day_first.csv", ["04/03/2026", "17/03/2026"], day, "DD/MM/YYYY"),
        ("month_first.csv", ["03/04/2026", "03/17/2026"], day, "MM/DD/YYYY"),
        ("points.csv", ["04.03.2026", "05.03.2026"], day, "DD.MM.YYYY"),
        ("iso.csv", ["2026-03-17", "2026-03-04"], day, "YYYY-MM-DD"),
        ("open.csv", ["04/03/2026", "05/03/2026"], REFUSED, "nothing decides"),
        ("orders.csv", ["03/17/2026", "17/03/2026"], REFUSED, "but 1 have the"),
        ("words.tsv", ["4 marzo 2026", "März 17, 2026"], day, "in words"),
        ("figures.csv", ["۰۴/۰۳/۲۰۲۶", "۱۷/۰۳/۲۰۲۶"], day, "date"),
    ):
        rows = [["id", "day"], *([f"A{n}", cell] for n, cell in enumerate(cells))]
        text = _delimited(rows, "\t" if name.endswith("tsv") else ",")
        field = "day/format" if " " in form and form != "in words" else "day/type"
        arguments = {"path": name, "column": "day"}
        yield Case(name, text.encode(), "first_day", arguments, answer, {field: form})
    text = _delimited([["day", "€"], ["04/03/2026", "1,5"], ["05/03/2026", "2,25"]], ";")
    yield Case("comma.csv", text.encode(), "first_day", {"path": "comma.csv", "column": "day"},
               day, {"dates": "day first", "day/format": "decimal comma"})  # fmt: skip


def names() -> Iterator[Case]:
    pairs = [["José", "JOSE\u0301 "], ["Ana\u00a0Gómez", "ana  gómez"], ["Łódź", "Lodz"]]
    text = _delimited([["a", "b"], *pairs], ",")
    arguments = {"path": "names.csv", "a": "a", "b": "b"}
    yield Case("names.csv", text.encode(), "in_both", arguments, 2, {"kind": "table"})
    odd = _delimited([["NAME ", "Pre\u0301cio"], ["x", "1,5"], ["y", "2,5"]], ";")
    yield _sum("heading.csv", odd.encode(), "Précio", 4, heading="Pre\u0301cio", decimal=",")


def _delimited(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def _column(
    name: str, heading: str, cells: Sequence[str], total: float | str, delimiter: str, **more: str
) -> Case:
    rows = [["id", heading], *([f"A{n}", cell] for n, cell in enumerate(cells))]
    return _sum(name, _delimited(rows, delimiter).encode(), heading, total, **more)


def _sum(
    name: str, content: bytes, column: str, total: float | str, *, heading: str = "", **more: str
) -> Case:
    """The sum of a column, by the profile and by the seed tool."""
    profile = dict(more)
    if total != REFUSED:
        profile |= _total(float(total), heading or column)
    arguments = {"csv_text": name, "column": column}
    answer = total if total == REFUSED else {"sum": total}
    return Case(name, content, "summarize_csv_column", arguments, answer, profile)


def _total(total: float, column: str) -> dict[str, str]:
    return {f"{column}/sum": f"{total:.12g}"}


def workbook(rows: Sequence[Sequence[str | float]]) -> bytes:
    """A workbook of one sheet; its texts stand in the cells."""
    lines = "".join(
        f'<row r="{n}">' + "".join(_cell(cell) for cell in row) + "</row>"
        for n, row in enumerate(rows, start=1)
    )
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    package = "http://schemas.openxmlformats.org/package/2006"
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Default Extension="rels" ContentType="{relations}"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{types}.worksheet+xml"/></Types>',
        "_rels/.rels": _relation(f"{office}/officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{office}"><sheets>'
        '<sheet name="Sheet" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relation(f"{office}/worksheet", "sheet1.xml"),
        "xl/sheet1.xml": f'<worksheet xmlns="{space}"><sheetData>{lines}</sheetData></worksheet>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
    return packed.getvalue()


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def _relation(kind: str, target: str) -> str:
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{kind}" Target="{target}"/></Relationships>'
    )


def documents() -> Iterator[Case]:
    """Spreadsheets, Parquet, documents and slides with the tables of the languages."""
    for habit in HABITS:
        rows = [[habit.name, habit.amount], *map(list, habit.numbers.items())]
        total = _total(habit.total, habit.amount)
        for ending, tool in (
            ("ods", "sum_of_an_old_sheet"),
            ("parquet", "sum_of_parquet"),
            ("docx", ""),
            ("pptx", ""),
        ):
            name = f"{habit.language}.{ending}"
            is_made = ending != "ods"
            content = json.dumps(rows).encode() if is_made else open_document(rows)
            arguments = {"path": name, "column": habit.amount}
            answer = {"sum": habit.total}
            yield Case(name, content, tool, arguments, answer, total, "make" * is_made)


def messages() -> Iterator[Case]:
    """Calendars, contacts, e-mails and PDFs."""
    for habit in HABITS:
        name, language = next(iter(habit.numbers)), habit.language
        event = f"SUMMARY:{name}\r\nDTSTART;TZID=Europe/Rome:20260304T100000\r\nRRULE:FREQ=DAILY"
        day = f"SUMMARY:{habit.name}\r\nDTSTART;VALUE=DATE:20260310"
        events = "".join(
            f"BEGIN:VEVENT\r\nUID:{e[:9]}\r\n{e}\r\nEND:VEVENT\r\n" for e in (event, day)
        )
        text = f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n{events}END:VCALENDAR\r\n"
        yield Case(f"{language}.ics", text.encode(), profile={
            "kind": "calendar", "events": 2, "repeating": 1, "all_day": 1,
            "starts": "2026-03-04 to 2026-03-10", "time_zones": "Europe/Rome"})  # fmt: skip
        cards = "".join(
            f"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:{n}\r\nTEL;TYPE=cell:1\r\n 2\r\nEND:VCARD\r\n"
            for n in habit.numbers
        )
        yield Case(f"{language}.vcf", cards.encode(), profile={
            "kind": "contacts", "contacts": len(habit.numbers), "versions": "3.0"})  # fmt: skip
        message = EmailMessage()
        message["From"], message["Subject"] = "a@example.org", f"{habit.amount}: {name}"
        message.set_content(f"{name}\n{habit.amount}\n")
        table = _delimited([[habit.name, "n"], [name, "7"], [name, "8"]], ";").encode()
        message.add_attachment(table, maintype="text", subtype="csv", filename="n.csv")
        yield Case(f"{language}.eml", bytes(message), profile={
            "kind": "e-mail", "subject": f"{habit.amount}: {name}", "begins": name,
            "attachments": "n.csv", "body": "text/plain"})  # fmt: skip
    yield Case("text.pdf", pdf("Gr\xf6\xdfe 12,5", "Seite 2"), profile={
        "kind": "PDF", "pages": 2, "begins": "Größe 12,5", "pages_without_text": ""})  # fmt: skip
    yield Case("scan.pdf", pdf("", ""), profile={
        "kind": "PDF", "pages": 2, "scan": "no page has text"})  # fmt: skip
    yield Case("half.pdf", pdf("uno", ""), profile={"pages_without_text": "page 2", "scan": ""})
    yield Case("old.xls", zlib.decompress(base64.b85decode("".join(XLS.split()))),
               "sum_of_an_old_sheet", {"path": "old.xls", "column": "Betrag"}, {"sum": 1350.5},
               profile={"Betrag/sum": "1350.5", "Betrag/stored_as_text": "row 4: 1.250,00",
                        "merged": "rows 1 to 1", "hidden_sheet": "hidden"})  # fmt: skip


def unusual_tables() -> Iterator[Case]:
    """Several header rows, years as names, and columns of mixed types."""
    rows = [["Region", "2025", "2026"], ["North", "1", "2"], ["South", "3", "5"]]
    yield _sum("years.csv", _delimited(rows, ",").encode(), "2026", 7, header="line 1")
    rows = [["Region", "Plan", "", "Ist", ""], ["", "Q1", "Q2", "Q1", "Q2"],
            *([f"Ort {n}", str(n), str(n + 1), "2", "3"] for n in range(5))]  # fmt: skip
    yield Case("two_headers.csv", _delimited(rows, ";").encode(), profile={
        "header": "line 1", "second_header": "line 2", "rows": 5, "Plan Q2/sum": "15"})  # fmt: skip
    rows = [["id", "code"], *([f"{n}", "17" if n % 3 else "A-1"] for n in range(9))]
    yield Case("mixed_codes.tsv", _delimited(rows, "\t").encode(), profile={
        "code/odd": "line 2: A-1", "second_header": ""})  # fmt: skip
    records = [{"città": "Forlì", "n": 3}, {"città": "Bari", "n": 4.5}]
    lines = "\n".join(map(json.dumps, records))
    yield Case("records.jsonl", lines.encode(), profile={"n/sum": "7.5", "rows": 2})


def open_document(rows: Sequence[Sequence[str | float]]) -> bytes:
    """An OpenDocument spreadsheet of one sheet."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    sheet = "".join(
        f"<table:table-row>{''.join(map(_open_cell, row))}</table:table-row>" for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{space}:office:1.0" '
        f'xmlns:table="{space}:table:1.0" xmlns:text="{space}:text:1.0">'
        f'<office:body><office:spreadsheet><table:table table:name="Sheet">{sheet}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        f'<m:manifest xmlns:m="{space}:manifest:1.0">'
        f'<m:file-entry m:full-path="/" m:media-type="{kind}"/></m:manifest>'
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)
    return packed.getvalue()


def _open_cell(value: str | float) -> str:
    text = f"<text:p>{escape(str(value))}</text:p>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
    number = f'office:value-type="float" office:value="{value}"'
    return f"<table:table-cell {number}>{text}</table:table-cell>"


def pdf(*pages: str) -> bytes:
    """A PDF of these pages of one line; one without text is drawn only."""
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
    kids = b" ".join(b"%d 0 R" % (3 + 2 * n) for n in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(pages), kids),
    ]
    for number, text in enumerate(pages):
        line = f"BT /F 12 Tf 20 100 Td ({text}) Tj ET" if text else "0 0 100 100 re f"
        drawn = line.encode("cp1252")
        box = b"/MediaBox[0 0 300 200]/Resources<</Font<</F %s>>>>" % font
        objects.append(b"<</Type/Page/Parent 2 0 R%s/Contents %d 0 R>>" % (box, 4 + 2 * number))
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(drawn), drawn))
    body, places = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, start=1):
        places.append(b"%010d 00000 n \n" % len(body))
        body += b"%d 0 obj%sendobj\n" % (number, item)
    size = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, b"".join(places))
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, len(body))
    return body + table + end


XLS = r"""
c-rk)OGs2<6#o8u?>zG{K0yN+gse<tG>SGlDV79{*oz(nHR@oZSxmDi7iF2N2!d8c8^MA$R+}CaQM(p_Qi~vnw8yGd
P|-r2&N=s=QX9d68c^;x{OA7vIp@3o>->+o6XOMwBlpUuumFuPF`M+kJx8Y~`BH@d$ev7cHudyUN;+6p@Ofz>-7Y-N
ed*yj<oTY0fxFgolE4Q_hj9{ZC;DT-ETUQ35LMiU24zv~8Mr|y4`tG>LXn*!i$vZL-zOrsisrJ&2J)R$hcF&)tKOpH
_<&I<wmgyw4}|kpG<7J!3y$M+SCsARLQ}ja+PC5j6;=*LK|#<O>yO2`oR6FE11&AJkx1=9!X%0*Kt}OB83ewic7kU?
N1t820_lIw*LxPxdubBW>3xgn{b}@94GS1V@~GnFGK_rOve@FmzT>ApB?e-{ScQOxgULiwUt$_N<e=b`12o6tJ)OrA
!TM1BW)s*O?RHU=#eckyx!IVAN4qH$Bb0X15mHxMzbRA`3Q=(nrPF?Xk?c}|dAn4utlb=vUDP1X7sv_@P?x7~e|;6{
Xb&F|&7ho2_W8AjyMiRnGlR%^VsVM2wxL=W8$@1^x2~3axyWMjq-RxoiOy^v5}%7=t)hB13SNiT&dIN%{P34u4=aX0
hSyVmtaWOjc<fDh1eG*IUBu_#5NcG7x_*uED4cpKz0<uDS@zei=QRSl?MZz|=VOLfEulc<Qz`N2@c6L5O5?A@pQT+&
jiy~PsATHej0NnohF|Z<r4xqu+jGI=Y}=T9smNxVY1pRprd+d4VY_tQrm)?*ZYvGjl6k4nY)jZ4UAHCd4(irt-A9Ij
Mxzk-xzTh|{6RJ%&G>C!u92qFMw(Z9s0AK83wCUA|7F~fZrmL>aNxj!0|(iI(svTRgIW3}?3Sy&{at5<(ya5DWW{1P
PS7twfB3ecpPq4?$tZqG;Zmu0sU>n!-wPT0srEQ}(IM^V%{YGP&Z_42XUW9Czgt3?)<2s`JO6Y2zW@UKC;b
"""
"""A workbook of 1997, packed: a merged title above Tag, Größe, Betrag, and a hidden sheet."""

KINDS: tuple[Callable[[], Iterator[Case]], ...] = (
    tables_of_languages,
    single_columns,
    dates,
    names,
    documents,
    messages,
    unusual_tables,
)


def cases() -> Iterator[Case]:
    """All cases, by kind."""
    for kind in KINDS:
        yield from kind()
