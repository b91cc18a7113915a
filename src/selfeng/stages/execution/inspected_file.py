"""Profiles of files in the sandbox: plain functions over the standard library and the sandbox's
packages, sent there as source.

They read hostile content: what they raise, and what memory or time they use up, is the sandbox's to
bear.
"""

import importlib
import io
import json
import os
import re
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from readcells import ONE_COLUMN, delimiter_of, encoding_of, text_rows
from selfeng.stages.execution import inspected_documents as documents
from selfeng.stages.execution import inspected_packed as packed
from selfeng.stages.execution import inspected_table as tables

SAMPLE = 8_000_000
"""Bytes of a large text that are read."""
WHOLE = 64_000_000
"""Bytes of the largest file that is opened and is not text."""
UNPACKED = 150_000_000
"""Bytes that a workbook may have when unpacked."""
LONGEST = 6_000
"""Characters of a profile; a longer one loses the least important parts."""
ITEMS = 20_000
"""Items of all lists at one place of JSON, and JSON lines, that are examined."""
KEYS = 40
"""Keys of an object that are shown."""

_LEAST = ("values", "range", "begins", "columns")
"""Parts of a profile, the least important first."""
_ZIP = b"PK\3\4"
_JSON_KINDS = {
    bool: "true or false",
    int: "integer",
    float: "number",
    str: "text",
    dict: "object",
    list: "list",
}
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."
_MAIL = re.compile(
    rb"(?:Return-Path|Received|Delivered-To|From|Date|Subject|Message-ID|MIME-Version): ", re.I
)


def profile_file(path: str) -> dict[str, Any]:
    """The profile of the file, as plain JSON without empty values."""
    size = os.path.getsize(path)
    profile = _sample_profile(path, size) if size > SAMPLE else {}
    if not profile:
        with open(path, "rb") as file:
            profile = _profile(file.read(), path)
    for number in range(len(_LEAST) + 1):
        short_profile: dict[str, Any] = _prune(profile, _LEAST[:number])
        if len(json.dumps(short_profile, ensure_ascii=False)) <= LONGEST:
            break
    return short_profile


def _sample_profile(path: str, size: int) -> dict[str, Any]:
    """The profile of the beginning of a large text, without what only the whole file says; {} for a
    file that must be read whole.
    """
    with open(path, "rb") as file:
        begin = file.read(SAMPLE)
    content = begin[: begin.rfind(b"\n") + 1]
    if not content or not encoding_of(content):
        problem = f"it has {size / 1e6:,.0f} MB and is not lines of text, so it was not opened"
        return {"kind": "binary", "problem": problem} if size > WHOLE else {}
    profile = _profile(content, path)
    for table in profile.get("tables", []):
        count = table.pop("rows", 0)
        table["examined_to"] = table["examined_to"] or f"row {count}"
        for column in table["columns"]:
            column.pop("sum", None)
    profile.pop("lines", None)
    sample = f"from the first {len(content) / 1e6:.0f} MB of {size / 1e6:,.0f} MB"
    return {"kind": profile.pop("kind"), "sample": sample, **profile}


def _profile(content: bytes, path: str, depth: int = 0) -> dict[str, Any]:
    """The whole profile; an archive inside an archive is named only."""
    profile = _picture(content) or _packed(content, path, depth) or _mail(content, path, depth)
    if not profile and (encoding := encoding_of(content)):
        text = content.decode(encoding)
        begins = [tables.short(line) for line in text[:20_000].splitlines()[:5]]
        profile = _cards(text) or _json(text) or _table_or_text(text, path)
        profile["encoding"] = encoding
        if not unicodedata.is_normalized("NFC", text):
            profile["unicode"] = "some accents are decomposed; normalize to NFC before comparing"
        profile["begins"] = begins
    return profile or {"kind": "binary" if content else "empty"}


def _prune(value: Any, dropped: tuple[str, ...]) -> Any:
    """A value without empty parts, and without those that are dropped."""
    if isinstance(value, dict):
        entries = {key: item for key, item in value.items() if item and key not in dropped}
        return {key: _prune(item, dropped) for key, item in entries.items()}
    return [_prune(item, dropped) for item in value] if isinstance(value, list) else value


def show_pictures(path: str) -> None:
    """Write what a model may see of a picture or of a PDF's pages without text, as JPEG files."""
    with open(path, "rb") as file:
        content = file.read()
    is_pdf = content.startswith(b"%PDF-")
    for number, image in enumerate(documents.scans(content) if is_pdf else [packed.seen(content)]):
        image.save(f"shown-{number}.jpg", "JPEG", quality=85)


def lines_about(path: str, message: str) -> list[str]:
    """The lines or rows of a file, with their numbers, that an error's message quotes or names; at
    most 3.
    """
    quoted = [piece.strip() for _, piece in re.findall(r"(['\"“`])(.*?)['\"”`]", message)]
    numbers = set(map(int, re.findall(r"(?:line|row|record)s? (\d{1,9})", message)))
    lines_by_rank: list[list[str]] = [[], [], []]
    for number, cells, raw in _rows_of(path):
        at = min((i for piece in quoted if piece and (i := raw.find(piece)) >= 0), default=-1)
        exact = any(piece in cells for piece in quoted)
        rank = 0 if exact else 1 if number in numbers else 2 if at >= 0 else 3
        if rank < 3 and len(lines_by_rank[rank]) < 3:
            begins = max(0, at - 150) if len(raw) > 400 else 0
            lines_by_rank[rank].append(f"{number}: {tables.short(raw[begins : begins + 400], 400)}")
    return [line for lines in lines_by_rank for line in lines][:3]


def _rows_of(path: str) -> Iterator[tuple[int, list[str], str]]:
    """Number, stripped cells and text of each row of a table, or line of a text."""
    with open(path, "rb") as file:
        content = file.read(SAMPLE)
    if content.startswith(_ZIP):
        for sheet in _workbook(path):
            for number, row in _sheet_rows(sheet):
                cells = ["" if cell is None else str(cell).strip() for cell in row]
                yield number, cells, f"{sheet.title}: {' | '.join(cells)}"
    elif encoding := encoding_of(content):
        text = content.decode(encoding)
        delimiter, lines = delimiter_of(text, path), text.splitlines()
        for number, row in text_rows(text, delimiter or ONE_COLUMN):
            yield number, [cell.strip() for cell in row], "".join(lines[number - 1 : number])


def _picture(content: bytes) -> dict[str, Any]:
    """A picture's header and EXIF; {} if it is none."""
    is_picture = content.startswith(_PICTURES) or content[8:12] == b"WEBP"
    return packed.picture(content) if is_picture else {}


def _mail(content: bytes, path: str, depth: int) -> dict[str, Any]:
    """An e-mail, with profiles of its attachments; {} for anything else."""
    if not (path.lower().endswith(".eml") and _MAIL.match(content.lstrip())):
        return {}
    profile, files = documents.mail(content)
    return profile | {"contents": _contents(files[: packed.MEMBERS]) if not depth else []}


def _cards(text: str) -> dict[str, Any]:
    """A calendar or contacts; {} for anything else."""
    begin = text.lstrip("\ufeff \r\n")[:15].upper()
    if begin == "BEGIN:VCALENDAR":
        return documents.calendar(text.lstrip("\ufeff"))
    return documents.contacts(text) if begin.startswith("BEGIN:VCARD") else {}


def _packed(content: bytes, path: str, depth: int) -> dict[str, Any]:
    """A workbook, document, database or archive; {} for anything else."""
    if content.startswith(b"%PDF-"):
        return documents.pdf(content)
    if content.startswith(_OLD_OFFICE):
        return documents.office(content) or {"kind": "old Office file, such as .doc or .msg"}
    if content.startswith(b"PAR1"):
        return documents.parquet(content)
    if content.startswith(b"SQLite format 3\0"):
        return packed.database(content)
    if content.startswith(b"\x1f\x8b"):
        inner = [(path.removesuffix(".gz"), packed.gunzipped(content))] if not depth else []
        return {"kind": "gzip archive", "contents": _contents(inner)}
    if not content.startswith(_ZIP):
        return {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [member.filename for member in archive.infolist()]
        if "xl/workbook.xml" in names:
            return _workbook_profile(archive, content)
        if document := _document(archive, content):
            return document
        return {
            "kind": "zip archive",
            "members": [tables.short(name) for name in names[:20]],
            "encoding_of_names": packed.name_encoding(archive),
            "contents": _contents(packed.members(archive)) if not depth else [],
        }


def _document(archive: zipfile.ZipFile, content: bytes) -> dict[str, Any]:
    """Another document that is a zip archive; {} if it is none."""
    names = archive.namelist()
    open_kind = archive.read("mimetype")[:100] if "mimetype" in names else b""
    is_sheet = "xl/workbook.bin" in names or open_kind.startswith(_OPEN_DOCUMENT + b"spreadsheet")
    kinds = {"word/document.xml": "Word document", "ppt/presentation.xml": "presentation"}
    kind = next((kinds[name] for name in names if name in kinds), "")
    if not (is_sheet or kind or open_kind.startswith(_OPEN_DOCUMENT)):
        return {}
    if problem := _too_large(archive):
        return {"kind": "workbook" if is_sheet else kind or "OpenDocument", "problem": problem}
    if is_sheet:
        return documents.office(content)
    if kind:
        is_word = kind == "Word document"
        return documents.word(content, archive) if is_word else documents.slides(content)
    return {"kind": f"OpenDocument {open_kind.removeprefix(_OPEN_DOCUMENT).decode()}"}


def _too_large(archive: zipfile.ZipFile) -> str:
    unpacked = sum(member.file_size for member in archive.infolist())
    too_large = f"unpacked it has {unpacked / 1e6:,.0f} MB, so it was not opened"
    return too_large if unpacked > UNPACKED else ""


def _contents(files: Iterable[tuple[str, bytes]]) -> list[dict[str, Any]]:
    return [{"name": tables.short(n)} | _profile(content, n, 1) for n, content in files]


def _workbook_profile(archive: zipfile.ZipFile, content: bytes) -> dict[str, Any]:
    if problem := _too_large(archive):
        return {"kind": "workbook", "problem": problem}
    excel = importlib.import_module("openpyxl.reader.excel")
    reader = excel.ExcelReader(io.BytesIO(content), read_only=True, data_only=True)
    reader.read()
    sheets = reader.wb.worksheets[:20]
    paths = {sheet.name: relation.target for sheet, relation in reader.parser.find_sheets()}
    from_1904 = bool(sheets) and sheets[0].parent.epoch.year == 1904
    sheet_tables = [
        {"sheet": tables.short(sheet.title)}
        | packed.sheet_facts(archive, paths[sheet.title], sheet.sheet_state)
        | tables.profile_table(_sheet_rows(sheet), "", tables.CELLS // len(sheets), "row")
        for sheet in sheets
    ]
    dates = "1904: day 0 is 1904-01-01; openpyxl's dates are right, raw day numbers need it"
    system = dates if from_1904 else ""
    return {"kind": "workbook", "date_system": system, "tables": sheet_tables}


def _workbook(path: str) -> list[Any]:
    """The sheets with cells of a workbook, values instead of formulas."""
    openpyxl = importlib.import_module("openpyxl")
    return list(openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets)


def _sheet_rows(sheet: Any) -> Iterator[tuple[int, list[Any]]]:
    yield from (
        (number, list(row)) for number, row in enumerate(sheet.iter_rows(values_only=True), start=1)
    )


def _json(text: str) -> dict[str, Any]:
    """The shape of JSON, or of JSON lines; {} if it is neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return {}
    try:
        return {"kind": "JSON", "shape": tables.short(_shape([("$", json.loads(text))]), 3000)}
    except ValueError:
        pass
    except RecursionError:
        return {"kind": "JSON", "problem": "it is nested too deeply to be read"}
    lines = text.splitlines()
    try:
        filled = ((f"line {n}", line) for n, line in enumerate(lines, start=1) if line.strip())
        values = [(where, json.loads(line)) for where, line in islice(filled, ITEMS)]
    except (ValueError, RecursionError):
        return {}
    shape = tables.short(_shape(values), 3000)
    return {"kind": "JSON lines", "lines": len(lines), "shape": shape, "tables": _records(values)}


def _records(values: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """The records of JSON lines as a table; none where they are not objects."""
    if not all(isinstance(value, dict) for _, value in values):
        return []
    keys = list(dict.fromkeys(chain.from_iterable(value for _, value in values)))[: tables.COLUMNS]
    rows = ((int(where.split()[1]), [_plain(v.get(k)) for k in keys]) for where, v in values)
    table = tables.profile_table(chain([(0, keys)], rows), "", tables.CELLS, "line")
    more = len(values) == ITEMS
    return [table | {"header": "", "examined_to": f"line {ITEMS}" if more else ""}]


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _shape(located_values: list[tuple[str, Any]], depth: int = 0) -> str:
    """The values found at one place of a structure, with where each stands, as one description."""
    kinds: dict[str, list[tuple[str, Any]]] = {}
    for where, value in located_values:
        kinds.setdefault(_JSON_KINDS.get(type(value), "null"), []).append((where, value))
    most, *rarer = sorted(kinds.items(), key=lambda item: -len(item[1]))
    rare_shapes = [f"{_kind_shape(k, values, depth)} ({_places(values)})" for k, values in rarer]
    return " or ".join([_kind_shape(*most, depth), *rare_shapes])


def _places(values: list[tuple[str, Any]]) -> str:
    """How many values there are, and where the first of them stand."""
    examples = [f"{tables.short(w, 60)}: {tables.short(json.dumps(v), 40)}" for w, v in values[:3]]
    return f"{len(values)}: {', '.join(examples)}{', …' if len(values) > 3 else ''}"


def _kind_shape(kind: str, values: list[tuple[str, Any]], depth: int) -> str:
    if kind == "list":
        lengths = sorted({len(v) for _, v in values})
        items = ((f"{w}[{i}]", item) for w, v in values for i, item in enumerate(v))
        inner = list(islice(items, ITEMS))
        many = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
        return f"list of {many}" + (f" × {_shape(inner, depth + 1)}" if inner and depth < 6 else "")
    if kind != "object" or depth >= 6:
        return kind
    by_key: dict[str, list[tuple[str, Any]]] = {}
    for where, value in values:
        for key, item in value.items():
            by_key.setdefault(key, []).append((f"{where}.{key}", item))
    parts = [
        json.dumps(tables.short(key, 60), ensure_ascii=False)
        + (f" (in {len(items)} of {len(values)})" if len(items) < len(values) else "")
        + f": {_shape(items, depth + 1)}"
        for key, items in list(by_key.items())[:KEYS]
    ]
    more = f", … {len(by_key) - KEYS} more keys" if len(by_key) > KEYS else ""
    return "{" + ", ".join(parts) + more + "}"


def _table_or_text(text: str, path: str) -> dict[str, Any]:
    delimiter, lines = delimiter_of(text, path), len(text.splitlines())
    if not delimiter:
        return {"kind": "text", "lines": lines}
    table = tables.profile_table(text_rows(text, delimiter), delimiter, tables.CELLS, "line")
    delimiter_name = {"\t": "tab", ONE_COLUMN: ""}.get(delimiter, delimiter)
    profile = {
        "kind": "table",
        "delimiter": delimiter_name,
        "decimal": table.pop("decimal"),
        "lines": lines,
    }
    return profile | {"tables": [table]}
