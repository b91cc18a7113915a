"""How a table is profiled: what separates its cells, what its columns hold, and which cells differ.

Runs in the sandbox, together with inspected_file.py.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import chain, compress, islice, zip_longest
from statistics import mode
from types import MappingProxyType
from typing import Any, NamedTuple

from readcells import (
    ORDERS,
    DateEvidence,
    DateFormat,
    NumberEvidence,
    NumberFormat,
    NumberReading,
    date_or_reason,
    date_reading,
    is_blank,
    number_or_reason,
    number_reading,
    plain_text,
    titles_above,
)

CELLS = 1_500_000
"""Cells of a table that are examined."""
SHOWN = 100
"""Characters of a cell or line that are shown."""
FEW = 5
"""Odd cells, and values, of a column that are shown."""
COLUMNS = 40

_DATE = re.compile(r"(\d{1,4})(\. |[-./])\d{1,2}\2(\d{1,4})\.?")
_TIME = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm]|Z|[+-]\d{2}:?\d{2})?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CODE = re.compile(r"R\d+")
"""Texts that may be codes, or amounts in rand."""
_YES_NO = frozenset(["true", "false", "yes", "no"])
_TYPED = {"NoneType": "", "bool": "yes or no"}
_REMARKABLE = {",", "٫", "٬", "'", " ", "CR", "DR"}
"""Signs and marks of numbers for which a profile shows the evidence."""
_ORDERS = {"DMY": ("DD", "MM"), "MDY": ("MM", "DD")}


def short(value: object, limit: int = SHOWN) -> str:
    """A value as one line of at most `limit` characters."""
    text = str(value).replace("\r", "\\r").replace("\n", "\\n")
    return text if len(text) <= limit else f"{text[: limit - 2]} …"


def profile_table(
    rows: Iterable[tuple[int, list[Any]]], delimiter: str, cells: int, unit: str
) -> dict[str, Any]:
    """The profile of a table's rows, which come with their numbers; `unit` is `line` of a text or
    `row` of a sheet. Columns are examined on the first `cells` cells. The `delimiter` of a text
    decides where its numbers leave open how they are written.
    """
    filled = ((number, row) for number, row in rows if not all(map(is_blank, row)))
    first = list(islice(filled, 60))
    width = mode(len(row) for _, row in first) if first else 0
    first = first[titles_above([row for _, row in first]) :]
    begins, top = first[0] if first else (1, [])
    names = top if _is_named(top, [row for _, row in first[1:]]) else []
    columns = [_Column(unit) for _ in range(max(width, len(top)))]
    second = first[1] if names and _is_header([row for _, row in first[1:]]) else None
    if second:
        first, names = first[1:], _both(names, second[1])
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
    formats = _decided(columns, delimiter)
    column_profiles = [
        {"name": short(names[i] or "", 60).strip() or i + 1 if i < len(names) else i + 1}
        | column.profile(*formats[i])
        for i, column in enumerate(columns)
    ]
    return {
        "header": f"{unit} {begins}" if names else "none",
        "second_header": f"{unit} {second[0]}" if second else "",
        "rows": count,
        "decimal": _agreed(numbers.decimal for numbers, _ in formats),
        "thousands": _agreed(numbers.thousands for numbers, _ in formats),
        "dates": _agreed(ORDERS.get(dates.order, "") for _, dates in formats),
        "columns_of_one_name": _same_names(names),
        "columns": column_profiles[:COLUMNS],
        "more_columns": max(0, len(column_profiles) - COLUMNS),
        "examined_to": f"{unit} {read_to}" if count * len(columns) > cells else "",
        "ragged": few(ragged),
    }


def _is_named(top: Sequence[Any], below: Sequence[Sequence[Any]]) -> bool:
    """Whether the top row names the columns: by texts, or years that none stands below."""
    others = [i for i, cell in enumerate(top) if _examined(cell).kind[0] not in ("text", "")]
    years = {str(top[i]).strip() for i in others if _YEAR.fullmatch(str(top[i]).strip())}
    lower = {str(row[i]).strip() for row in below for i in others if i < len(row)}
    return len(years) == len(others) < len(top) and not any(map(_YEAR.fullmatch, lower))


def _is_header(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether the first of the rows below a header is one as well: all columns of numbers, at least
    two, have texts there that differ.
    """
    top, below = rows[:1], rows[1:]
    texts = list[str]()
    for cell, *column in zip(*top, *below, strict=False) if below else ():
        kinds = Counter(kind for value in column if (kind := _examined(value).kind[0]))
        if kinds["number"] > kinds.total() / 2:
            texts.append(plain_text(cell) if _examined(cell).kind[0] == "text" else "")
    return len(texts) > 1 and all(texts) and len(set(texts)) > 1


def _both(top: Sequence[Any], second: Sequence[Any]) -> list[str]:
    """The names of columns below two rows; a name of the first stands for the blanks behind it."""
    names, group = list[str](), ""
    for upper, lower in zip_longest(top, second):
        group = plain_text(str(upper or "")) or group
        names.append(f"{group} {plain_text(str(lower or ''))}".strip())
    return names


class _Cell(NamedTuple):
    """A cell by itself."""

    kind: tuple[str, ...]
    """number, date, text …, "" if it is empty; then what else it must have in common with another
    one to be read as that."""
    values: Mapping[str, float | str] = MappingProxyType({})
    """Numbers by decimal sign, or ISO dates by their order; "" for one that has no form."""
    reading: NumberReading | dict[str, date | datetime] | None = None


class _Kind:
    """The cells of one kind in a column."""

    def __init__(self) -> None:
        self.count, self.example = 0, ""
        self.firsts: list[tuple[int, str]] = []
        self.figures: dict[str, list[Any]] = {}
        """Minimum, maximum and sum by decimal sign or order; dates have no sum."""

    def add(self, values: Mapping[str, float | str]) -> None:
        self.count += 1
        for key, value in values.items():
            if (figures := self.figures.get(key)) is None:
                self.figures[key] = [value, value, value]
                continue
            if value < figures[0]:
                figures[0] = value
            elif value > figures[1]:
                figures[1] = value
            if not isinstance(value, str):
                figures[2] += value


class _Column:
    """A column while its cells are read."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._kinds: dict[tuple[str, ...], _Kind] = {}
        self._cells: dict[str, _Cell] = {}
        self._values: list[str] = []
        self._zeros, self._codes = False, 0
        self._as_text = _Kind()
        """Numbers in cells of text in a workbook."""
        self.numbers, self.dates = NumberEvidence(), DateEvidence()

    def add(self, number: int, cell: Any) -> None:
        examined = self._cells.get(cell) if isinstance(cell, str) else None
        if examined is None:
            examined = _examined(cell)
            self._note(cell, examined)
            if isinstance(cell, str) and len(self._cells) < 20_000:
                self._cells[cell] = examined
        if (kind := self._kinds.get(examined.kind)) is None:
            kind = self._kinds[examined.kind] = _Kind()
            kind.example = str(cell)
        kind.add(examined.values)
        if isinstance(examined.reading, NumberReading):
            self.numbers.add(cell, examined.reading)
        elif examined.values and isinstance(cell, str) and not examined.reading:
            self.numbers.cells += 1
            self.numbers.bare += len(cell) < 4
        elif examined.reading:
            self.dates.add(cell, examined.reading)
        self._codes += isinstance(cell, str) and bool(_CODE.fullmatch(cell.strip()))
        if len(kind.firsts) < FEW:
            kind.firsts.append((number, f"{self._unit} {number}: {short(cell)}"))
        if self._unit == "row" and examined.kind[0] == "number" and isinstance(cell, str):
            self._as_text.count += 1
            if len(self._as_text.firsts) < FEW:
                self._as_text.firsts.append((number, f"{self._unit} {number}: {short(cell)}"))

    def _note(self, cell: Any, examined: _Cell) -> None:
        """Record the facts that a cell shows about the column, if it differs from those before."""
        text = str(cell).strip()
        if examined.kind[0] == "number" and not _CODE.fullmatch(text):
            self._zeros |= isinstance(cell, str) and text[:1] == "0" and text[1:2].isdigit()
        elif examined.kind[0] and text not in self._values and len(self._values) <= FEW:
            self._values.append(short(text))

    def is_mostly(self, name: str) -> bool:
        counts = Counter[str]()
        for kind, cells in self._kinds.items():
            counts[kind[0]] += cells.count
        del counts[""]
        return bool(counts) and 2 * counts[name] >= counts.total()

    def profile(self, numbers: NumberFormat, dates: DateFormat) -> dict[str, Any]:
        empty = self._kinds.pop(("",), _Kind())
        names = [name for name in ("number", "date", "time", "yes or no") if self.is_mostly(name)]
        fields = {"type": self._most_common(), "empty": _places(empty)}
        fields |= {"stored_as_text": _first_of([self._as_text]), "mixed": self._mixed()}
        numeric = sum(kind.count for name, kind in self._kinds.items() if name[0] == "number")
        if self._codes and self._codes == numeric:
            return fields | {"type": "text", "values": self._shown_values()}
        if names[:1] == ["number"]:
            return fields | self._number_profile(numbers)
        if names[:1] == ["date"]:
            return fields | self._date_profile(dates)
        odd = [k for name, k in self._kinds.items() if names and name[0] != names[0]]
        return fields | {"values": self._shown_values(), "odd": _first_of(odd)}

    def _most_common(self) -> str:
        kinds = sorted(self._kinds, key=lambda name: -self._kinds[name].count)
        total = sum(kind.count for kind in self._kinds.values())
        if not kinds:
            return "empty"
        return kinds[0][0] if 2 * self._kinds[kinds[0]].count >= total else "text"

    def _mixed(self) -> str:
        """How many cells of a column of text are something else, where it is a tenth or more."""
        counts = Counter[str]()
        for name, kind in self._kinds.items():
            counts[name[0]] += kind.count
        others = counts.total() - counts["text"]
        if self._most_common() != "text" or 10 * others < counts.total():
            return ""
        return ", ".join(f"{count} {name}" for name, count in counts.most_common())

    def _shown_values(self) -> list[str]:
        return self._values[:FEW] + ["…"] * (len(self._values) > FEW)

    def _number_profile(self, form: NumberFormat) -> dict[str, Any]:
        """The numbers that have the column's most usual unit, read in its format."""
        units = Counter[str]()
        for name, kind in self._kinds.items():
            if name[0] == "number":
                units[name[1]] += kind.count
        currencies = [unit for unit in units if unit not in ("", "%", "‰")]
        unit = max(units, key=lambda key: units[key])
        unit = unit or (currencies[0] if len(currencies) == 1 else "")
        units_read = {unit, "" if unit in currencies else unit}
        readable = [n for n in self._kinds if n[0] == "number" and n[1] in units_read]
        open_kinds = form.ambiguous and not form.decimal
        if not open_kinds:
            readable = [n for n in readable if self._is_read(n, form)]
        signs = [".", ","] if open_kinds else [form.decimal]
        figures = [self._figures(readable, sign, form.negative) for sign in signs]
        whole = all(isinstance(total, int) for *_, total in figures)
        type_name = "integer" if whole else "number"
        type_name += " with thousands separators" * bool(form.thousands and not open_kinds)
        type_name += " with leading zeros" * self._zeros
        odd = [kind for name, kind in self._kinds.items() if name not in readable]
        return {
            "type": f"{type_name} {unit}".strip(),
            "format": form.evidence if form.ambiguous or set(form) & _REMARKABLE else "",
            "range": " or ".join(f"{low:.12g} to {high:.12g}" for low, high, _ in figures),
            "sum": " or ".join(f"{total:.12g}" for _, _, total in figures),
            "odd": _first_of(odd),
        }

    def _is_read(self, name: tuple[str, ...], form: NumberFormat) -> bool:
        kind = self._kinds[name]
        return "" in kind.figures or not isinstance(number_or_reason(kind.example, form), str)

    def _figures(
        self, names: Iterable[tuple[str, ...]], sign: str, negative: str
    ) -> tuple[float, float, float]:
        """Minimum, maximum and sum of these kinds of numbers."""
        lows, highs, total = [float("inf")], [float("-inf")], 0
        for name in names:
            by_sign = self._kinds[name].figures
            low, high, sums = by_sign.get(sign) or next(iter(by_sign.values()))
            if name[3:] == (negative, "") and negative:  # marked, without a sign of its own
                low, high, sums = -high, -low, -sums
            lows.append(low)
            highs.append(high)
            total += sums
        return min(lows), max(highs), total

    def _date_profile(self, form: DateFormat) -> dict[str, Any]:
        dates = {name: kind for name, kind in self._kinds.items() if name[0] == "date"}
        usual = max(dates, key=lambda name: dates[name].count)
        read = [
            name
            for name, kind in dates.items()
            if form.ambiguous or not isinstance(date_or_reason(kind.example, form), str)
        ]
        day, month = _ORDERS["MDY" if form.order == "MDY" else "DMY"]
        text = usual[1].replace("?", day, 1).replace("?", month)
        text += " or month first" if form.ambiguous and "?" in usual[1] else ""
        figures = [
            dates[n].figures.get(form.order) or next(iter(dates[n].figures.values())) for n in read
        ]
        span = f"{min(f[0] for f in figures)} to {max(f[1] for f in figures)}" if figures else ""
        usual_form = {name for name in read if name[1] == usual[1]}
        odd = [kind for name, kind in self._kinds.items() if name not in usual_form]
        return {
            "type": f"date {text}".strip(),
            "format": form.evidence if "?" in usual[1] else "",
            "range": "" if form.ambiguous else span,
            "values": self._shown_values(),
            "odd": _first_of(odd),
        }


def _decided(columns: list[_Column], delimiter: str) -> list[tuple[NumberFormat, DateFormat]]:
    """How the numbers and dates of each column are written, with what the other columns decide."""
    numbers, dates = NumberEvidence(), DateEvidence()
    of_numbers = [column.is_mostly("number") for column in columns]
    of_dates = [column.is_mostly("date") for column in columns]
    for column in compress(columns, of_numbers):
        numbers.include(column.numbers)
    for column in compress(columns, of_dates):
        dates.include(column.dates)
    number_formats = [
        column.numbers.format("", numbers, delimiter) if of_number else NumberFormat()
        for column, of_number in zip(columns, of_numbers, strict=True)
    ]
    decimal = _agreed(form.decimal for form in number_formats)
    date_formats = [
        column.dates.format("", dates, decimal) if of_date else DateFormat()
        for column, of_date in zip(columns, of_dates, strict=True)
    ]
    return list(zip(number_formats, date_formats, strict=True))


def _same_names(names: list[Any]) -> list[str]:
    """The names that several columns have, with the columns' numbers from 1."""
    places: dict[str, list[str]] = {}
    for number, name in enumerate(names, start=1):
        places.setdefault(plain_text(str(name or "")), []).append(str(number))
    several = [(name, at) for name, at in places.items() if name and len(at) > 1]
    return [f"{short(name, 60)}: columns {', '.join(at[:FEW])}" for name, at in several[:FEW]]


def _agreed(values: Iterable[str]) -> str:
    """The only value other than ""; "" if there are several."""
    several = {*values} - {""}
    return several.pop() if len(several) == 1 else ""


def _first_of(kinds: Iterable[_Kind]) -> list[str]:
    """The first cells of these kinds."""
    several = list(kinds)
    cells = sorted(chain.from_iterable(kind.firsts for kind in several))
    return few([text for _, text in cells], sum(kind.count for kind in several))


def _places(kind: _Kind) -> list[str]:
    return few([text.split(":")[0] for _, text in kind.firsts], kind.count)


def few(items: list[str], number: int = 0) -> list[str]:
    """The first few items, with their number if there are more, or that of which they are some."""
    number = number or len(items)
    return items[:FEW] + ([f"… {number} in all"] if number > FEW else [])


def _examined(cell: Any) -> _Cell:
    """A cell by itself."""
    if not isinstance(cell, str):
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            return _Cell(("number", "", "", "", ""), {"": cell})
        return _Cell((_TYPED.get(type(cell).__name__, "date or time"),))
    text = plain_text(cell)
    if text.isascii() and text.isdigit() and text[0] != "0":  # the usual number, and many of them
        return _Cell(("number", "", "", "", ""), {"": int(text)})
    if reading := number_reading(text):
        signs = "".join(reading.values) + "?" * reading.is_open
        sign = "-" if reading.negative and reading.mark else ""
        return _Cell(
            ("number", reading.unit, signs, reading.mark, sign), {**reading.values}, reading
        )
    if dates := date_reading(text):
        orders = "" if len(set(dates.values())) == 1 and len(dates) > 1 else "".join(dates)
        values = {order: str(day) for order, day in dates.items()}
        return _Cell(("date", _date_form(text), orders), {**values}, dates)
    kind = "time" if _TIME.fullmatch(text) else "yes or no" if text.lower() in _YES_NO else "text"
    return _Cell((kind if text else "",))


def _date_form(text: str) -> str:
    """The form of a date, with ? where the order decides what is there."""
    match = _DATE.match(text)
    form = "in words or figures"
    if match:
        first, sign, last = match.groups()
        year_first = len(first) == 4
        form = f"YYYY{sign}MM{sign}DD" if year_first else f"?{sign}?{sign}{'Y' * len(last)}"
    return form + " with time" * (":" in text)
