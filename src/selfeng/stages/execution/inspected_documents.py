"""The sandbox's profiles of documents: PDF, Office and OpenDocument files, Parquet, calendars,
contacts and e-mail.

Runs in the sandbox, together with inspected_file.py.
"""

import importlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from email import message_from_bytes
from email.policy import default
from itertools import chain, islice
from typing import Any

from selfeng.stages.execution.inspected_packed import SEEN
from selfeng.stages.execution.inspected_table import CELLS, few, profile_table, short

PAGES = 50
"""Pages of a PDF whose text is looked for."""
SCANS = 4
"""Pages without text that a model is shown at once."""
TABLES = 5
"""Tables of a document that are profiled."""
_FIELD = re.compile(r"^(?:[\w-]+\.)?([A-Za-z-]+)[;:]", re.MULTILINE)


def pdf(content: bytes) -> dict[str, Any]:
    """Pages of a PDF, which of them have no text, and its form."""
    pypdf = importlib.import_module("pypdf")
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"kind": "PDF", "problem": "it needs a password"}
        texts = [page.extract_text().strip() for page in reader.pages[:PAGES]]
        scans = [f"page {n}" for n, text in enumerate(texts, start=1) if not text]
        return {
            "kind": "PDF",
            "pages": len(reader.pages),
            "pages_without_text": few(scans),
            "scan": "no page has text: pictures only, which code can't read" * (not any(texts)),
            "form_fields": few(list(reader.get_form_text_fields() or ())),
            "begins": _first_lines("\n".join(texts)),
        }
    except pypdf.errors.PyPdfError as error:
        return {"kind": "PDF", "problem": f"it can't be read: {error}"}


def scans(content: bytes) -> list[Any]:
    """Pictures of the first pages without text."""
    document = importlib.import_module("pypdfium2").PdfDocument(content)
    pages = (document[number] for number in range(min(len(document), PAGES)))
    scanned = (page for page in pages if not page.get_textpage().get_text_bounded().strip())
    return [
        page.render(scale=SEEN / max(page.get_size())).to_pil() for page in islice(scanned, SCANS)
    ]


def office(content: bytes) -> dict[str, Any]:
    """The sheets of an .xls, .xlsb or .ods; {} for another file."""
    calamine = importlib.import_module("python_calamine")
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except calamine.PasswordError:
        return {"kind": "workbook", "problem": "it needs a password"}
    except calamine.CalamineError:
        return {}
    kind = calamine.SheetTypeEnum.WorkSheet
    sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == kind][:20]
    tables = []
    for sheet in sheets:
        cells = book.get_sheet_by_name(sheet.name)
        rows = cells.to_python(skip_empty_area=False)
        hidden = "hidden" * (sheet.visible != calamine.SheetVisibleEnum.Visible)
        tables.append(
            {"sheet": short(sheet.name), "hidden_sheet": hidden}
            | {"merged": few([_range(*corners) for corners in cells.merged_cell_ranges or ()])}
            | profile_table(_whole(rows), "", CELLS // len(sheets), "row")
        )
    return {"kind": "workbook", "read_with": "python_calamine", "tables": tables}


def _whole(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, list[Any]]]:
    """The rows with their numbers from 1, and whole numbers as integers."""
    for number, row in enumerate(rows, start=1):
        yield number, [int(c) if isinstance(c, float) and c.is_integer() else c for c in row]


def _range(first: tuple[int, int], last: tuple[int, int]) -> str:
    return f"rows {first[0] + 1} to {last[0] + 1}, columns {first[1] + 1} to {last[1] + 1}"


def parquet(content: bytes) -> dict[str, Any]:
    """The table of a Parquet file; its columns are examined on the first CELLS cells."""
    file = importlib.import_module("fastparquet").ParquetFile(io.BytesIO(content))
    frame = file.head(max(1, CELLS // max(1, len(file.columns))))
    frame = frame.astype(object).where(frame.notna(), None)
    rows = chain([list(frame.columns)], frame.to_numpy().tolist())
    table = profile_table(enumerate(rows), "", CELLS, "row")
    table |= {"header": "", "rows": file.count()}
    if len(frame) < file.count():
        table["examined_to"] = f"row {len(frame)}"
    return {"kind": "Parquet", "tables": [table]}


def word(content: bytes, archive: zipfile.ZipFile) -> dict[str, Any]:
    """Headings, tables and unusual parts of a Word document."""
    document = importlib.import_module("docx").Document(io.BytesIO(content))
    texts = [(p.style.name if p.style else "", p.text.strip()) for p in document.paragraphs]
    xml = archive.read("word/document.xml")
    return {
        "kind": "Word document",
        "paragraphs": sum(bool(text) for _, text in texts),
        "headings": few([short(t) for s, t in texts if s.startswith(("Heading", "Title")) and t]),
        "tracked_changes": "there are some" * bool(re.search(rb"<w:(?:ins|del) ", xml)),
        "comments": "there are some" * ("word/comments.xml" in archive.namelist()),
        "pictures": len(document.inline_shapes),
        "tables": _tables([[c.text for c in row.cells] for row in t.rows] for t in document.tables),
        "begins": _first_lines("\n".join(text for _, text in texts)),
    }


def slides(content: bytes) -> dict[str, Any]:
    """Titles and tables of a presentation."""
    deck = list(importlib.import_module("pptx").Presentation(io.BytesIO(content)).slides)
    titles = [slide.shapes.title for slide in deck]
    tables = (s.table for slide in deck for s in slide.shapes if s.has_table)
    hidden = [f"slide {n}" for n, s in enumerate(deck, start=1) if s.element.get("show") == "0"]
    notes = [f"slide {n}" for n, s in enumerate(deck, start=1) if s.has_notes_slide]
    return {
        "kind": "presentation",
        "slides": len(deck),
        "titles": few([short(title.text) for title in titles if title is not None]),
        "hidden_slides": few(hidden),
        "slides_with_notes": few(notes),
        "tables": _tables([[c.text for c in row.cells] for row in t.rows] for t in tables),
    }


def _tables(tables: Iterable[list[list[str]]]) -> list[dict[str, Any]]:
    first = [table for table, _ in zip(tables, range(TABLES), strict=False)]
    return [profile_table(enumerate(rows, start=1), "", CELLS, "table row") for rows in first]


def calendar(text: str) -> dict[str, Any]:
    """The events and tasks of an iCalendar text."""
    calendars = importlib.import_module("icalendar").Calendar.from_ical(text, multiple=True)
    events = [event for part in calendars for event in part.walk("VEVENT")]
    starts = [event["DTSTART"].dt for event in events if "DTSTART" in event]
    timed = [start for start in starts if isinstance(start, datetime)]
    zones = {str(start.tzinfo) for start in timed if start.tzinfo}
    days = sorted(start.isoformat()[:10] for start in starts)
    return {
        "kind": "calendar",
        "events": len(events),
        "tasks": sum(len(part.walk("VTODO")) for part in calendars),
        "starts": f"{days[0]} to {days[-1]}" if days else "",
        "time_zones": few(sorted(zones)),
        "all_day": len(starts) - len(timed),
        "without_time_zone": sum(start.tzinfo is None for start in timed),
        "repeating": sum("RRULE" in event or "RDATE" in event for event in events),
        "cancelled": sum(event.get("STATUS") == "CANCELLED" for event in events),
    }


def contacts(text: str) -> dict[str, Any]:
    """The contacts of vCards, and how many fields of each name they have."""
    fields = Counter(name.upper() for name in _FIELD.findall(text))
    contact_count = fields.pop("BEGIN", 0)
    versions = sorted(set(re.findall(r"^VERSION:(.+?)\s*$", text, re.MULTILINE)))
    coded = len(re.findall(r"QUOTED-PRINTABLE", text, re.IGNORECASE))
    return {
        "kind": "contacts",
        "contacts": contact_count,
        "versions": versions,
        "fields": {n: k for n, k in fields.items() if n not in ("END", "VERSION")},
        "quoted_printable": coded,
        "folded_lines": len(re.findall(r"\n[ \t]", text)),
    }


def mail(content: bytes) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
    """Headers and text of an e-mail, and its attachments with their names."""
    message: Any = message_from_bytes(content, policy=default)
    body = message.get_body(("plain", "html"))
    parts = list(message.iter_attachments())
    files = [(p.get_filename() or p.get_content_type(), p.get_content()) for p in parts]
    profile = {
        "kind": "e-mail",
        **{key: short(message[key] or "") for key in ("from", "to", "date", "subject")},
        "body": body.get_content_type() if body else "",
        "attachments": few([short(name) for name, _ in files]),
        "begins": _first_lines(body.get_content()) if body else [],
    }
    return profile, [(name, c if isinstance(c, bytes) else str(c).encode()) for name, c in files]


def _first_lines(text: str) -> list[str]:
    return [short(line) for line in text[:20_000].splitlines() if line.strip()][:5]
