"""How a table is profiled: what separates its cells, what its columns hold, and which cells differ.

Runs in the sandbox, together with inspected_file.py.
"""

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from statistics import mode
from typing import Any

CELLS = 1_500_000
"""Cells of a table that are examined."""
SHOWN = 100
"""Characters of a cell or line that are shown."""
FEW = 5
"""Odd cells, and values, of a column that are shown."""
COLUMNS = 40
ONE_COLUMN = "\x1f"
"""The delimiter of a table of one column: no text has it."""

_UNIT = r"[€$£¥₹₽₺₩₪฿%‰]|[A-Z]{3}|zł|kr|Kč|Ft"
_NUMBERS = {
    decimal: re.compile(
        rf"(?P<before>{_UNIT})?\s?(?P<whole>[+\-−]?\s?(?:\d{{1,3}}(?P<groups>(?:{thousands}\d{{3}})+)"
        rf"|\d+))(?P<rest>{re.escape(decimal)}\d+)?(?P<power>[eE][+-]?\d+)?\s?(?P<behind>{_UNIT})?"
    )
    for decimal, thousands in ((".", r"[,'’ \u00a0\u202f]"), (",", r"[.'’ \u00a0\u202f]"))
}
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm]|Z|[+-]\d{2}:?\d{2})?"
_DATE = re.compile(rf"(\d{{1,4}})([-./])(\d{{1,2}})\2(\d{{1,4}})([T ]{_CLOCK})?")
_TIME = re.compile(_CLOCK)
_YES_NO = frozenset(["true", "false", "yes", "no"])


def short(value: object, limit: int = SHOWN) -> str:
    """A value as one line of at most `limit` characters."""
    text = str(value).replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= limit else f"{text[: limit - 2]} …"


def text_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table in a text, each with the line in which it begins."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    lines = io.StringIO(text.replace("\0", ""), newline="")
    reader, begins = (
        csv.reader(
            lines,
            delimiter=delimiter,
            quoting=csv.QUOTE_NONE if delimiter == ONE_COLUMN else csv.QUOTE_MINIMAL,
        ),
        1,
    )
    for row in reader:
        yield begins, row
        begins = reader.line_num + 1


def delimiter_of(text: str, path: str) -> str:
    """What separates the cells of a table: the sign that gives most of the first rows one width;
    "" for a text that is no table.
    """
    head = "".join(text[:200_000].splitlines(keepends=True)[:200])
    best, rows = (0.0, 0, ""), 0
    for delimiter in ",|\t;":
        widths = [len(r) for _, r in text_rows(head, delimiter) if any(map(str.strip, r))]
        if wide := [width for width in widths if width > 1]:
            share = round(wide.count(mode(wide)) / len(widths), 1)
            if (candidate := (share, mode(wide), delimiter)) > best:
                best, rows = candidate, len(widths)
    share, _, delimiter = best
    if os.path.splitext(path)[1].lower() in (".csv", ".tsv", ".tab"):
        return delimiter if share >= 0.4 else ONE_COLUMN
    prose = 2 * head.count(f"{delimiter} ") > head.count(delimiter)
    return delimiter if share >= 0.9 and rows > 1 and not prose else ""


def decimal_of(text: str, delimiter: str) -> str:
    """The decimal sign of the cells that can be read in one way only; "" if there are none."""
    votes: Counter[str] = Counter()
    for cell in chain.from_iterable(row for _, row in text_rows(text[:500_000], delimiter)):
        matches = {sign: form.fullmatch(cell.strip()) for sign, form in _NUMBERS.items()}
        readings = {sign: match for sign, match in matches.items() if match}
        if len(readings) == 1 or not any(match["groups"] for match in readings.values()):
            votes.update(sign for sign, match in readings.items() if match["rest"])
    return max(votes, key=lambda sign: votes[sign], default="")


def profile_table(
    rows: Iterable[tuple[int, list[Any]]], decimal: str, cells: int, unit: str
) -> dict[str, Any]:
    """What the rows, with their numbers, hold; `unit` is `line` of a text or `row` of a sheet.
    Columns are examined on the first `cells` cells.
    """
    filled = ((number, row) for number, row in rows if any(not _is_empty(cell) for cell in row))
    first = list(islice(filled, 60))
    width = mode(len(row) for _, row in first) if first else 0
    while len(first) > 1 and 2 * sum(not _is_empty(cell) for cell in first[0][1]) <= width > 1:
        first.pop(0)  # a title above the table
    begins, top = first[0] if first else (1, [])
    names = [] if any(_kind(cell, decimal)[0] not in ("text", "") for cell in top) else top
    columns = [_Column(decimal, unit) for _ in range(max(width, len(top)))]
    count, read_to, ragged = 0, 0, []
    for number, row in chain(first[bool(names) :], filled):
        count += 1
        if count * len(columns) > cells:
            continue
        read_to = number
        if unit == "line" and len(row) != len(columns):
            ragged.append(f"{unit} {number}: {len(row)} cells instead of {len(columns)}")
        for column, cell in zip(columns, chain(row, [None] * len(columns)), strict=False):
            column.add(number, cell)
    column_profiles = [
        {"name": short(names[i] or "", 60).strip() if i < len(names) else i + 1} | column.profile()
        for i, column in enumerate(columns)
    ]
    return {
        "header": f"{unit} {begins}" if names else "none",
        "rows": count,
        "columns": column_profiles[:COLUMNS],
        "more_columns": max(0, len(column_profiles) - COLUMNS),
        "examined_to": f"{unit} {read_to}" if count * len(columns) > cells else "",
        "ragged": _first(ragged, len(ragged)),
    }


class _Column:
    """A column while its cells are read."""

    def __init__(self, decimal: str, unit: str) -> None:
        self._decimal, self._unit = decimal, unit
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._firsts: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self._kinds_by_cell: dict[str, tuple[str, str]] = {}
        self._values: list[str] = []
        self._traits: Counter[str] = Counter()
        self._range, self._dates = [float("inf"), float("-inf")], [0, 0]

    def add(self, number: int, cell: Any) -> None:
        kind = self._kinds_by_cell.get(cell) if isinstance(cell, str) else None
        if kind is None:
            kind = self._examined(cell)
            if isinstance(cell, str) and len(self._kinds_by_cell) < 20_000:
                self._kinds_by_cell[cell] = kind
        self._kinds[kind] += 1
        firsts = self._firsts.setdefault(kind, [])
        if len(firsts) < FEW:
            firsts.append((number, f"{self._unit} {number}: {short(cell)}"))

    def _examined(self, cell: Any) -> tuple[str, str]:
        """The kind of a cell that differs from those before, and what it says of the column."""
        text = str(cell).strip()
        if text.isdecimal() and text[0] != "0":  # the usual number, and many of them
            self._range = [min(self._range[0], float(text)), max(self._range[1], float(text))]
            return "number", ""
        kind = _kind(cell, self._decimal)
        if kind[0] and text not in self._values and len(self._values) <= FEW:
            self._values.append(short(text))
        if kind[0] == "number":
            match = _NUMBERS[self._decimal if isinstance(cell, str) else "."].fullmatch(text)
            signs = match.groupdict() if match else {"whole": "0", "rest": "."}
            self._traits.update(trait for trait in ("groups", "rest", "power") if signs.get(trait))
            integer_part = re.sub(r"[^\d-]", "", signs["whole"].replace("−", "-"))
            self._traits["zeros"] += (
                integer_part.lstrip("-")[:1] == "0" and len(integer_part.lstrip("-")) > 1
            )
            fraction_part = (signs["rest"] or "").replace(",", ".") + (signs.get("power") or "")
            value = float(integer_part + fraction_part)
            self._range = [min(self._range[0], value), max(self._range[1], value)]
        elif kind[0] == "date" and (date := _DATE.fullmatch(text)) and len(date[1]) < 3:
            self._dates = [max(self._dates[0], int(date[1])), max(self._dates[1], int(date[3]))]
        return kind

    def profile(self) -> dict[str, Any]:
        empty = [text.split(":")[0] for _, text in self._firsts.get(("", ""), ())]
        blank = self._kinds.pop(("", ""), 0)
        kind, most = self._kinds.most_common(1)[0] if self._kinds else (("empty", ""), 0)
        kind = kind if 2 * most >= self._kinds.total() else ("text", "")
        odd_kinds = [k for k in self._kinds if k != kind] if kind[0] != "text" else []
        odd = [text for _, text in sorted(chain.from_iterable(self._firsts[k] for k in odd_kinds))]
        number = kind[0] == "number"
        return {
            "type": self._type_text(kind),
            "empty": _first(empty, blank),
            "range": "{:.12g} to {:.12g}".format(*self._range) if number else "",
            "values": [] if number else self._values[:FEW] + ["…"] * (len(self._values) > FEW),
            "odd": _first(odd, sum(self._kinds[k] for k in odd_kinds)),
        }

    def _type_text(self, kind: tuple[str, str]) -> str:
        name, form = kind
        if name == "number":
            name = "number" if self._traits["rest"] or self._traits["power"] else "integer"
            name += " with thousands separators" * bool(self._traits["groups"])
            name += " with leading zeros" * bool(self._traits["zeros"])
        if "?" in form:
            day, month = ("MM", "DD") if self._dates[1] > 12 else ("DD", "MM")
            form = form.replace("?", day, 1).replace("?", month)
            form += " or month first" if max(self._dates) <= 12 else ""
            form += ", mixed with month first" if min(self._dates) > 12 else ""
        return f"{name} {form}".strip()


def _first(items: list[str], number: int) -> list[str]:
    """The first of so many items."""
    return items[:FEW] + ([f"… {number} in all"] if number > FEW else [])


def _is_empty(cell: Any) -> bool:
    return cell is None or not str(cell).strip()


def _kind(cell: Any, decimal: str) -> tuple[str, str]:
    """A cell's kind, "" if it is empty, and its unit or form."""
    text = "" if cell is None else str(cell).strip()
    if not isinstance(cell, str):
        kinds = {"NoneType": "", "bool": "yes or no", "int": "number", "float": "number"}
        return kinds.get(type(cell).__name__, "date or time"), ""
    if number := _NUMBERS[decimal].fullmatch(text):
        return "number", number["before"] or number["behind"] or ""
    if (date := _DATE.fullmatch(text)) and (len(date[1]) < 3 or int(date[3]) <= 12):
        first, sign, _, last, time = date.groups()
        form = f"YYYY{sign}MM{sign}DD" if len(first) == 4 else f"?{sign}?{sign}{'Y' * len(last)}"
        return "date", form + " with time" * bool(time)
    kind = "time" if _TIME.fullmatch(text) else "yes or no" if text.lower() in _YES_NO else "text"
    return (kind if text else ""), ""
