"""The sandbox's profiles of files that are not text: unusual facts of workbooks, databases,
archives' members and pictures' EXIF.

Runs in the sandbox, together with inspected_file.py.
"""

import importlib
import io
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from xml.etree import ElementTree

from readcells import encoding_of
from selfeng.stages.execution.inspected_table import few, short

MEMBERS = 5
"""Members of an archive that are profiled."""
MEMBER_BYTES = 20_000_000
"""Bytes that such a member, and the content of a gzip file, may have when unpacked."""
PIXELS = 50_000_000
"""Pixels of the largest picture that is decoded."""
SEEN = 1568
"""Pixels of the longer side of a picture as models see it; more is scaled down by their servers."""


def sheet_facts(archive: zipfile.ZipFile, path: str, state: str) -> dict[str, Any]:
    """Unusual facts of the sheet at this path of a workbook; `state` says if it is hidden."""
    facts: dict[str, list[str]] = {"formulas": [], "rows": [], "columns": [], "merged": []}
    filtered = ""
    with archive.open(path) as xml:
        for _, element in ElementTree.iterparse(xml):  # noqa: S314 - in the sandbox, which bears it
            tag = element.tag.rpartition("}")[2]
            if tag == "row":
                facts["rows"] += [element.get("r", "?")] * _is_hidden(element)
                facts["formulas"] += _without_values(element)
                element.clear()
            elif tag == "col" and _is_hidden(element):
                facts["columns"].append(f"{element.get('min')} to {element.get('max')}")
            elif tag == "mergeCell":
                facts["merged"].append(element.get("ref", ""))
            elif tag == "autoFilter":
                filtered = element.get("ref", "")
    hidden_rows = "rows_hidden_by_filter" if filtered else "hidden_rows"
    return {
        "hidden_sheet": "" if state == "visible" else state,
        "formulas_without_stored_values": few(facts["formulas"]),
        hidden_rows: few(facts["rows"]),
        "hidden_columns": few(facts["columns"]),
        "merged": few(facts["merged"]),
    }


def _is_hidden(element: ElementTree.Element) -> bool:
    return element.get("hidden") in ("1", "true")


def _without_values(row: ElementTree.Element) -> Iterator[str]:
    for cell in row:
        parts = {part.tag.rpartition("}")[2]: part.text for part in cell}
        if "f" in parts and not parts.get("v") and cell.get("t") != "str":
            yield cell.get("r", "?")


def database(content: bytes) -> dict[str, Any]:
    """The tables of an SQLite database, with their columns and numbers of rows."""
    with closing(sqlite3.connect(":memory:")) as connection:
        # bytes 18 and 19 ask for a write-ahead log, which a database in memory can't have
        connection.deserialize(content[:18] + b"\1\1" + content[20:])
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 30")
        tables = []
        for (name,) in names.fetchall():
            quoted = '"' + name.replace('"', '""') + '"'
            columns = connection.execute(f"PRAGMA table_info({quoted})").fetchmany(40)
            rows = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()[0]  # noqa: S608
            fields = [f"{column[1]} {column[2]}".strip() for column in columns]
            tables.append({"table": name, "rows": rows, "columns": fields})
    return {"kind": "SQLite database", "tables": tables}


def members(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the first members of an archive that are small enough."""
    files = [member for member in archive.infolist() if not member.is_dir()]
    for member in files[:MEMBERS]:
        if member.file_size <= MEMBER_BYTES and not member.flag_bits & 1:  # 1: encrypted
            with archive.open(member) as file:
                yield member.filename, file.read(MEMBER_BYTES)


def name_encoding(archive: zipfile.ZipFile) -> str:
    """How the members' names are encoded, where they don't say UTF-8 and need it."""
    odd = [m for m in archive.infolist() if not m.flag_bits & 0x800 and not m.filename.isascii()]
    if not odd:
        return ""
    raw = b" ".join(member.filename.encode("cp437", "replace") for member in odd)
    likely = encoding_of(raw)
    if likely in ("utf-8", "shift_jis", "gb18030", "euc_kr"):
        likely_names = short(raw.decode(likely))
        return f"not stated; in {likely} they are {likely_names}; zipfile shows them garbled"
    return (
        "not stated; read as DOS code page 437, so names may be garbled; cp850 and cp866 are usual"
    )


def gunzipped(content: bytes) -> bytes:
    """The content of a gzip file, up to MEMBER_BYTES."""
    return zlib.decompressobj(wbits=31).decompress(content, MEMBER_BYTES)


def seen(content: bytes) -> Any:
    """A picture as people see it, on white where it is clear; of several frames the first."""
    image: Any = importlib.import_module("PIL.Image")
    image.MAX_IMAGE_PIXELS = PIXELS // 2  # twice as many raise an error
    opened = image.open(io.BytesIO(content))
    opened.draft("RGB", (SEEN, SEEN))
    turned = importlib.import_module("PIL.ImageOps").exif_transpose(opened)
    if turned.mode.startswith("I"):
        turned = turned.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    turned.thumbnail((SEEN, SEEN))
    layer = turned.convert("RGBA")
    return image.alpha_composite(image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def picture(content: bytes) -> dict[str, Any]:
    """Size as displayed, format and time of a picture, from its header and EXIF."""
    image: Any = importlib.import_module("PIL.Image")
    image.MAX_IMAGE_PIXELS = None  # only the header is read
    opened = image.open(io.BytesIO(content))
    exif = image.Image.getexif(opened)  # that of PNG would decode the pixels
    details, turned = exif.get_ifd(0x8769), exif.get(0x0112, 1) in (5, 6, 7, 8)
    width, height = (opened.size[1], opened.size[0]) if turned else opened.size
    taken = details.get(0x9003) or exif.get(0x0132) or ""
    return {
        "kind": "picture",
        "format": opened.format,
        "size": f"{width} x {height} pixels",
        "stored_turned": f"EXIF orientation {exif[0x0112]}; the size is as displayed"
        if turned
        else "",
        "taken": f"{taken} {details.get(0x9011, '')}".strip(),
        "mode": opened.mode,
    }
