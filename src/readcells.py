"""Reads numbers, dates and text as people write them in tables, and reports what it can't read.

Standard library only. The sandbox offers it to tools, exported tools carry it, and the profiles of
files are made with it, so all of them read a cell in the same way:

    numbers = read_numbers(cells, places=lines, delimiter=";")
    numbers.checked()       # the values; a ValueError that names cells that can't be read
    numbers.format          # decimal sign and thousands separators, with the evidence

    dates = read_dates(cells)
    text_key("Jose\\u0301 ") == text_key("José")

Nothing is guessed. A column of "1,234" alone, or of 01/02/2026 alone, is `ambiguous` and its cells
are unread, unless other cells of the file, its delimiter or the caller decide.
"""

import codecs
import csv
import io
import json
import math
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache, partial
from itertools import chain, islice, repeat
from typing import Any, Generic, NamedTuple, Self, TextIO, TypeVar
from urllib.parse import urlencode, urlsplit

_CODES = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN
    BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS
    GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW
    KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN
    NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
    SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS
    VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL
"""
_SYMBOLS = """
    % ‰ kr kr. Kr zł Kč Ft Ft. лв лв. р р. руб руб. грн грн. lei Fr Fr. SFr SFr. Rs Rs. R$ US$ A$ C$
    AU$ CA$ NZ$ HK$ NT$ S$ Rp RM TL Euro euro euros 元 円 원 圆 ریال ر.س د.إ ج.م د.ك د.م. R
"""
_CURRENCIES = frozenset(_CODES.split())
"""ISO 4217."""
_UNITS = _CURRENCIES | {*_SYMBOLS.split()}
_UNIT_BEFORE = re.compile(r"([^\d\s()+\-.,']{1,4}[.$]?|\S\.\S\.?) ?(?=[\d(+\-.,])")
_UNIT_BEHIND = re.compile(r"(?<=[\d)+\-.,]) ?([^\d\s()+\-,']{1,5})")
_MARK = re.compile(r"(?:(?<=[\d)])| )(CR|DR|DB|Cr|Dr)\.?$")
_LONGEST = 80
"""Characters of a number or a date."""
_BARE = re.compile(r"\d[\d.,]*")
_WORD = re.compile(r"[^\W\d_]{6}")
_MAY_BE_DATE = re.compile(r"\W*(?:\d|[^\W\d_]{3,12}\.?\s+\d{1,2}(?!\d))")
_EXPONENT = r"(?:[eE][+-]?\d{1,3})?"
_CORES = {
    sign: re.compile(
        rf"(?=[.,٫]?\d)(?P<whole>\d*|[1-9]\d{{0,2}}(?P<by>[{others}])\d{{3}}(?:(?P=by)\d{{3}})*|{indian})"
        rf"(?:{re.escape(sign)}(?P<part>\d*))?(?P<power>{_EXPONENT})"
    )
    for sign, others, indian in (
        (".", ",' ٬", r"[1-9]\d?(?:,\d\d)+,\d{3}"),
        (",", ".' ٬", r"(?!)"),
        ("٫", "٬,.' ", r"(?!)"),
    )
}
_SIMPLE = re.compile(r"(-?\d+)([.,])(\d\d?|\d{4,9})|-?\d{1,15}", re.ASCII)
_SIGN_NAMES = {
    ".": "point",
    ",": "comma",
    "٫": "sign ٫",
    "٬": "sign ٬",
    "'": "apostrophe",
    " ": "blank",
}
_WITH_SIGN = {sign: f"a {name}" for sign, name in _SIGN_NAMES.items()}
_DELIMITERS = {",": ".", ";": ","}
"""The decimal sign of programs that separate cells by these."""
_LOOKALIKES = str.maketrans("−‐‑‒–—﹣’ʼ‘´`٪،", "-------'''''%,")
ORDERS = {"YMD": "year first", "DMY": "day first", "MDY": "month first"}
_WITH_ORDER = {order: f"the {name}" for order, name in ORDERS.items()}
_DATE = re.compile(r"(\d{1,4})([-/.]|\. ?)(\d{1,2})\2(\d{1,4})\.?")
_COMPACT = re.compile(r"((?:1[6-9]|20|21)\d\d)(\d\d)(\d\d)")
_CLOCK = re.compile(
    r"[T ,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([AaPp]\.?[Mm]\.?)?"
    r" ?(Z|UTC|[+-]\d{2}:?\d{2})?"
)
_MONTH_NAMES = """
    january januar janvier enero gennaio janeiro januari styczen stycznia leden ledna ocak январь
        января /
    february februar fevrier febrero febbraio fevereiro februari luty lutego unor unora subat
        февраль февраля /
    march marz maerz mars marzo marco maart marzec marca brezen brezna mart март марта /
    april avril abril aprile kwiecien kwietnia duben dubna nisan апрель апреля /
    may mai mayo maggio maio mei maj maja kveten kvetna mayis май мая /
    june juni juin junio giugno junho czerwiec czerwca cerven cervna haziran июнь июня /
    july juli juillet julio luglio julho lipiec lipca cervenec cervence temmuz июль июля /
    august aout agosto augustus augusti sierpien sierpnia srpen srpna agustos август августа /
    september septembre septiembre settembre setembro wrzesien wrzesnia zari eylul сентябрь
        сентября /
    october oktober octobre octubre ottobre outubro pazdziernik pazdziernika rijen rijna ekim
        октябрь октября /
    november novembre noviembre novembro listopad listopada listopadu kasim ноябрь ноября /
    december dezember decembre diciembre dicembre dezembro desember grudzien grudnia prosinec
        prosince aralik декабрь декабря
"""
"""In twelve languages, without accents."""
_BESIDE_DATES = {"de", "del", "do", "of", "the", "th", "st", "nd", "rd", "r", "г"}

V = TypeVar("V")


class Unread(NamedTuple):
    """A cell that can't be read."""

    text: str
    place: object
    """Where it stands: its entry of `places`, else its index."""
    reason: str

    def __str__(self) -> str:
        place = f"item {self.place}" if isinstance(self.place, int) else self.place
        return f"{self.text!r} in {place} {self.reason}"


class NumberFormat(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str = ""
    """".", "," or "٫"; "" where no cell needs one, or nothing decides."""
    thousands: str = ""
    evidence: str = ""
    """One sentence: what decides, or both readings."""
    ambiguous: bool = False
    """Whether cells such as "1,234" can't be read."""
    negative: str = ""
    """The mark of negative amounts, "CR" or "DR"; "" where there is none."""


class DateFormat(NamedTuple):
    """How the dates of a column are written."""

    order: str = ""
    """"YMD", "DMY" or "MDY"; "" where no date is in figures, or nothing decides."""
    evidence: str = ""
    ambiguous: bool = False

    @property
    def day_first(self) -> bool | None:
        return None if self.ambiguous or self.order not in ("DMY", "MDY") else self.order == "DMY"


Format = TypeVar("Format", bound=NumberFormat | DateFormat)


class Column(NamedTuple, Generic[V, Format]):
    """The cells of a column: one value for each, None where it is blank or unread."""

    values: list[V | None]
    unread: list[Unread]
    format: Format
    units: dict[str, int]
    """Cells by unit, such as "%", "$" or "EUR"; "" for none. 2.5 % is 2.5, with the unit "%"."""

    def checked(self) -> list[V | None]:
        """The values. Raises: ValueError: names the first cells that can't be read."""
        _check(self.unread, len(self.unread), self.units)
        return self.values


def _check(unread: Sequence[Unread], number: int, units: Mapping[str, int]) -> None:
    """Raises: ValueError: names the first of so many cells that can't be read, or the units."""
    if unread:
        more = f" (and {number - 3} more)" if number > 3 else ""
        raise ValueError("; ".join(map(str, unread[:3])) + more)
    names = [unit for unit in units if unit]
    if len(names) > 1 or ("%" in names and "" in units):
        counts = ", ".join(f"{n} with {unit or 'none'}" for unit, n in units.items())
        raise ValueError(f"the numbers have several units: {counts}; choose one of them")


# ----- text


@lru_cache(20_000)
def plain_text(text: str) -> str:
    """The text in composed form (NFC), without invisible characters, and with single ordinary
    blanks between words and none around.
    """
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    visible = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cf", "Cc"))
    return " ".join(unicodedata.normalize("NFC", visible).split())


def text_key(text: str) -> str:
    """The common key of texts that differ only in Unicode form, width, blanks, case, or in the kind
    of apostrophe or hyphen; accents stay.
    """
    folded = unicodedata.normalize("NFKC", plain_text(text)).casefold()
    return plain_text(unicodedata.normalize("NFKC", folded).translate(_LOOKALIKES))


def same_text(a: str, b: str) -> bool:
    """Whether two texts have the same `text_key`."""
    return text_key(a) == text_key(b)


def is_blank(cell: object) -> bool:
    """Whether a cell is None, or a text of blanks and invisible characters."""
    return cell is None or (isinstance(cell, str) and not plain_text(cell))


def _ascii(text: str) -> str:
    """The text with ASCII digits, signs and blanks; "" if digits of two scripts are mixed, or some
    are raised, lowered or circled.
    """
    if text.isascii():
        return plain_text(text)
    zeros = {ord(c) - int(unicodedata.decimal(c)) for c in text if c.isdecimal()}
    if len(zeros) > 1 or any(c.isnumeric() and not c.isdecimal() for c in text):
        return ""
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return plain_text(unicodedata.normalize("NFKC", digits).translate(_LOOKALIKES))


# ----- columns


class _Evidence:
    """The evidence of a column's cells about their format; they are added one by one."""

    def __init__(self) -> None:
        self.cells, self.decisive = 0, Counter[str]()
        """All cells, and those that can be read in one way, by that way."""
        self._open = 0
        self._examples: dict[str, str] = {}

    def add(self, text: str, reading: Any, times: int = 1) -> None:
        """Add cells of this text, read in all ways."""
        raise NotImplementedError

    def include(self, other: Self) -> None:
        """Take over what the cells of another column decide."""
        self.decisive += other.decisive
        self._examples |= other._examples

    def _decide(self, way: str, text: str, times: int) -> None:
        self.decisive[way] += times
        self._examples.setdefault(way, text)

    def _voted(self, votes: Counter[str], names: Mapping[str, str]) -> tuple[str, str]:
        """The way of most cells, and one sentence on them and those that contradict it."""
        (way, most), *rarer = votes.most_common()
        evidence = f"{most} of {self.cells} cells allow no other reading, such as "
        evidence += repr(self._examples[way])
        for other, number in rarer:
            evidence += f", but {number} have {names[other]}, such as {self._examples[other]!r}"
        return way, evidence


E = TypeVar("E", bound=_Evidence)


def _evidence(evidence: E, texts: Iterable[object], read: Callable[[str], Any]) -> E:
    """The evidence, with the evidence of the texts that can be read."""
    for text, times in Counter(text for text in texts if isinstance(text, str)).items():
        if reading := read(text):
            evidence.add(text, reading, times)
    return evidence


def _column(
    cells: Iterable[object],
    places: Sequence[object],
    format: Format,
    read: Callable[[Any], V | str],
) -> Column[V, Format]:
    """The cells by what `read` makes of those that are not blank: a value, or why there is none."""
    column = Column[V, Format]([], [], format, {})
    for index, cell in enumerate(cells):
        value = None if is_blank(cell) else read(cell)
        if isinstance(value, str):
            column.unread.append(Unread(str(cell), places[index] if places else index, value))
            value = None
        column.values.append(value)
    return column


# ----- numbers


class NumberReading(NamedTuple):
    """A text as a number, in each way in which it can be read."""

    values: dict[str, int | float]
    """By decimal sign."""
    thousands: dict[str, str]
    """The separators, by decimal sign."""
    unit: str = ""
    mark: str = ""
    """"CR", "DR" or ""; it has no effect on the values."""
    negative: bool = False
    """Whether it has a minus sign or parentheses."""

    @property
    def is_open(self) -> bool:
        """Whether the ways give different numbers."""
        return len(set(self.values.values())) > 1


@lru_cache(20_000)
def number_reading(text: str) -> NumberReading | None:
    """Every way to read the text; None if it is not a number."""
    if simple := _SIMPLE.fullmatch(text):  # what most numbers look like
        value = float(f"{simple[1]}.{simple[3]}") if simple[2] else int(text)
        return NumberReading(
            dict.fromkeys(simple[2] or ".,", value),
            dict.fromkeys(simple[2] or ".,", ""),
            negative=text[0] == "-",
        )
    if len(text) > _LONGEST or not any(map(str.isdecimal, text)):
        return None
    core, mark = _ascii(text), ""
    if _WORD.search(core):
        return None
    if found := _MARK.search(core):
        core, mark = core[: found.start()], "CR" if found[1].upper() == "CR" else "DR"
    core = re.sub(r"(?<=\d)[.,]-+(?=\s|$)", "", core)  # 5.- is 5.00
    signs, units, before = list[str](), list[str](), ""
    while core != before and not _BARE.fullmatch(core):
        before = core
        core = _peeled(core.strip(), signs, units)
    if len(signs) > 1 or not _fit(units):
        return None
    negative = signs[:1] in (["-"], ["("])
    values, thousands = dict[str, int | float](), dict[str, str]()
    for sign in ("٫",) if "٫" in core else (".", ","):
        if match := _CORES[sign].fullmatch(core):
            value = _value(match)
            if math.isfinite(value):
                values[sign] = -value if negative else value
                thousands[sign] = match["by"] or ("," if "," in match["whole"] else "")
    return NumberReading(values, thousands, " ".join(units), mark, negative) if values else None


def _peeled(core: str, signs: list[str], units: list[str]) -> str:
    """The text without one of its parentheses, signs or units, which are noted."""
    if core[:1] == "(" and core[-1:] == ")":
        signs.append("(")
        return core[1:-1]
    if core[:1] and core[0] in "+-":
        signs.append(core[0])
        return core[1:]
    if core[-1:] and core[-1] in "+-":
        signs.append(core[-1])
        return core[:-1]
    before = _UNIT_BEFORE.match(core)
    if before and _is_unit(before[1]):
        units.append(before[1])
        return core[before.end() :]
    for behind in _UNIT_BEHIND.finditer(core):
        if behind.end() == len(core) and _is_unit(behind[1]):
            units.append(behind[1])
            return core[: behind.start()]
    return core


def _is_unit(text: str) -> bool:
    return text in _UNITS or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _fit(units: Sequence[str]) -> bool:
    """Whether these units may stand together: one, or a symbol and the code of a currency."""
    pair = len(units) == 2 and "%" not in units and sum(u in _CURRENCIES for u in units) == 1
    return len(units) < 2 or pair


def _value(match: re.Match[str]) -> int | float:
    whole = re.sub(r"\D", "", match["whole"])
    if match["part"] or match["power"]:
        return float(f"{whole or 0}.{match['part'] or 0}{match['power']}")
    return int(whole) if len(whole) < 4000 else math.inf


class NumberEvidence(_Evidence):
    """The evidence of a column's cells about the form of their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.bare = 0
        """Numbers below 1000 without separators."""
        self._rounded = 0
        self._thousands = {sign: Counter[str]() for sign in _CORES}
        self._marks: Counter[str] = Counter()
        self._contrary = Counter[str]()

    def add(self, text: str, reading: NumberReading, times: int = 1) -> None:
        self.cells += times
        self._marks[reading.mark] += times
        self._contrary[reading.mark] += reading.negative * times
        for sign, by in reading.thousands.items():
            self._thousands[sign][by] += times
        if reading.is_open:
            self._open += times
            self._rounded += times * (max(map(abs, reading.values.values())) % 10 == 0)
            self._examples.setdefault("open", text)
        elif len(reading.values) == 1:
            self._decide(next(iter(reading.values)), text, times)
        elif 0 < abs(next(iter(reading.values.values()))) < 1000:
            self.bare += times

    def format(
        self, decimal: str = "", others: "NumberEvidence | None" = None, delimiter: str = ""
    ) -> NumberFormat:
        """The format by the cells alone, then by the `others` of the file, then by its delimiter;
        `decimal` is the caller's own choice.
        """
        sign, evidence, ambiguous = decimal, "the caller's choice" * bool(decimal), False
        if not sign and self.decisive:
            sign, evidence = self._voted(self.decisive, _WITH_SIGN)
            ambiguous = len(self.decisive) > 1
        elif not sign and self._open:
            sign, evidence = self._decided(others, delimiter)
            ambiguous = not sign
        thousands = self._thousands[sign or "."].copy()
        del thousands[""]
        by = max(thousands, key=lambda key: thousands[key], default="")
        if sign and evidence:
            evidence = f"decimal {_SIGN_NAMES[sign]}: {evidence}"
        if negative := self._negative_mark():
            evidence = "; ".join(filter(None, [evidence, f"{negative} marks negative amounts"]))
        return NumberFormat(sign, by, evidence, ambiguous, negative)

    def _decided(self, others: "NumberEvidence | None", delimiter: str) -> tuple[str, str]:
        """Decimal sign, "" if nothing decides, and evidence, where every cell with a separator has
        three digits behind it.
        """
        example = self._examples["open"]
        reading = number_reading(example)
        assert reading
        if self.bare and self._rounded and not self._mixed():
            by = next(filter(None, reading.thousands.values()))
            evidence = f"{self._open} of {self.cells} cells have three digits after the "
            evidence += f"{_SIGN_NAMES[by]}, and the others none, so it separates thousands"
            return "," if by == "." else ".", evidence
        if others and len(others.decisive) == 1:
            (sign,) = others.decisive
            return sign, f"other cells have one, such as {others._examples[sign]!r}"
        if sign := _DELIMITERS.get(delimiter, ""):
            return sign, f"programs that separate cells by {delimiter!r} write one"
        return "", f"{example!r} {_both(reading)}: nothing decides"

    def _mixed(self) -> bool:
        return bool(self._thousands["."][","] and self._thousands[","]["."])

    def _negative_mark(self) -> str:
        """The mark of negative amounts: where some cells have none, the mark that stands out; of
        two marks DR, as on bank statements. "" where nothing decides.
        """
        marks = [mark for mark in ("CR", "DR") if self._marks[mark]]
        if len(marks) == 2:
            return "" if self._marks[""] else "DR"
        return marks[0] if marks and (self._marks[""] or self._contrary[marks[0]]) else ""


def _both(reading: NumberReading) -> str:
    return f"can be {' or '.join(f'{value:.15g}' for value in reading.values.values())}"


def number_format(
    texts: Iterable[object],
    *,
    decimal: str | None = None,
    others: Iterable[object] = (),
    delimiter: str = "",
) -> NumberFormat:
    """How the numbers of a column are written. If its cells are ambiguous, the file's `others`
    decide, then its delimiter; `decimal`, if not None, decides at once.

    Raises:
        ValueError: `decimal` is not a decimal sign.
    """
    if decimal and decimal not in _CORES:
        raise ValueError(f"decimal must be '.' or ',', not {decimal!r}")
    evidence = _evidence(NumberEvidence(), texts, number_reading)
    return evidence.format(
        decimal or "", _evidence(NumberEvidence(), others, number_reading), delimiter
    )


def read_number(text: str, format: NumberFormat | None = None) -> int | float:
    """The number, an integer where it is written as one. "(5)", "5-" and the mark of the format are
    negative; a percentage stays as it is written: "2.5 %" is 2.5.

    Raises:
        ValueError: it is not a number, or can be read in two ways.
    """
    value = number_or_reason(text, format)
    if isinstance(value, str):
        raise ValueError(f"{text!r} {value}")
    return value


def number_or_reason(text: str, format: NumberFormat | None = None) -> int | float | str:
    """The same, or why it can't be read."""
    if (reading := number_reading(text)) is None:
        return "is not a number"
    format = format or number_format([text])
    if reading.is_open and (format.ambiguous or format.decimal not in reading.values):
        return f"{_both(reading)}; state the decimal sign"
    if format.decimal and format.decimal not in reading.values and len(reading.values) == 1:
        return f"is not a number with a decimal {_SIGN_NAMES[format.decimal]}"
    value = reading.values.get(format.decimal, next(iter(reading.values.values())))
    if not reading.mark or (reading.negative and reading.mark == format.negative):
        return value
    if not format.negative or reading.negative:
        return f"has the mark {reading.mark}, and nothing decides whether that is negative"
    return -value if reading.mark == format.negative else value


def read_numbers(
    texts: Iterable[object],
    format: NumberFormat | None = None,
    *,
    places: Sequence[object] = (),
    decimal: str | None = None,
    others: Iterable[object] = (),
    delimiter: str = "",
) -> Column[int | float, NumberFormat]:
    """A column of numbers; cells that are numbers already stay. `places` say where the cells stand,
    such as "line 7"; the rest is as for `number_format`.
    """
    cells = list(texts)
    format = format or number_format(cells, decimal=decimal, others=others, delimiter=delimiter)

    def read(cell: object) -> int | float | str:
        if isinstance(cell, str):
            return number_or_reason(cell, format)
        if not isinstance(cell, int | float) or isinstance(cell, bool):
            return "is not a number"
        return cell if math.isfinite(cell) else "is not finite"

    column = _column(cells, places, format, read)
    for cell, value in zip(cells, column.values, strict=True):
        if value is not None:
            reading = number_reading(cell) if isinstance(cell, str) else None
            unit = reading.unit if reading else ""
            column.units[unit] = column.units.get(unit, 0) + 1
    return column


# ----- dates


@lru_cache(20_000)
def date_reading(text: str) -> dict[str, date | datetime]:
    """Every way to read the text as a date, perhaps with a time, by the order of its parts; {} if
    it is none. Two-digit years are those from 1969 to 2068, as in POSIX.
    """
    if len(text) > _LONGEST or not _MAY_BE_DATE.match(text):
        return {}
    plain = _ascii(text)
    clock, end = None, len(plain)
    if (found := _CLOCK.search(plain)) and found.end() == len(plain):
        clock, end = found, found.start()
    day = plain[:end].rstrip(", ")
    if match := _DATE.fullmatch(day):
        dates = _orders(match[1], match[3], match[4])
    elif match := _COMPACT.fullmatch(day) or re.fullmatch(
        r"(\d{4}) ?年 ?(\d+) ?月 ?(\d+) ?日", day
    ):
        dates = _dated(YMD=match.groups())
    else:
        dates = _named(day)
    if clock:
        return {order: moment for order, d in dates.items() if (moment := _moment(d, clock))}
    return dict(dates)


def _orders(first: str, second: str, third: str) -> dict[str, date]:
    if len(first) == 4:
        return _dated(YMD=(first, second, third))
    if len(first) > 2 or len(third) not in (2, 4):
        return {}
    dates = _dated(DMY=(third, second, first), MDY=(third, first, second))
    return dates or (_dated(YMD=(first, second, third)) if len(third) == 2 else {})


def _dated(**parts: tuple[str, ...]) -> dict[str, date]:
    """The dates that exist, by order, of their years, months and days."""
    dates = dict[str, date]()
    for order, (year, month, day) in parts.items():
        century = 0 if len(year) > 2 else 1900 if int(year) >= 69 else 2000
        try:
            dates[order] = date(century + int(year), int(month), int(day))
        except ValueError:
            continue
    return dates


def _named(text: str) -> dict[str, date]:
    """A date with the name of its month, whole or shortened to three letters or more."""
    letters = _base_letters(text)
    words = [w for w in re.findall(r"[^\W\d_]+", letters) if w not in _BESIDE_DATES]
    figures = re.findall(r"\d+", letters)
    months = {m for w in words for name, m in _months() if name.startswith(w)}
    if len(words) != 1 or len(words[0]) < 3 or len(months) != 1 or len(figures) != 2:
        return {}
    day, year = figures if len(figures[0]) < 3 else figures[::-1]
    dates = _dated(DMY=(year, str(*months), day)) if len(year) in (2, 4) else {}
    return dict.fromkeys(ORDERS, dates["DMY"]) if dates else {}


def _base_letters(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.casefold()).translate(str.maketrans("łı", "li"))
    return "".join(c for c in letters if not unicodedata.combining(c))


@lru_cache
def _months() -> tuple[tuple[str, int], ...]:
    rows = _base_letters(_MONTH_NAMES).split("/")
    return tuple((name, n) for n, row in enumerate(rows, start=1) for name in row.split())


def _moment(day: date, clock: re.Match[str]) -> datetime | None:
    hour, minute, second, part, half, zone = clock.groups()
    if half and not 1 <= int(hour) <= 12:
        return None
    hours = int(hour) % 12 + 12 * (half[0] in "pP") if half else int(hour)
    offset = None if not zone else UTC
    if zone and zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[-2:])
        offset = timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
    try:
        micro = int((part or "").ljust(6, "0")[:6])
        return datetime(
            day.year, day.month, day.day, hours, int(minute), int(second or 0), micro, offset
        )
    except ValueError:
        return None


class DateEvidence(_Evidence):
    """The evidence of a column's cells about the order of their dates."""

    def __init__(self) -> None:
        super().__init__()
        self._points = 0

    def add(self, text: str, dates: dict[str, date | datetime], times: int = 1) -> None:
        self.cells += times
        if len(dates) == 1:
            self._decide(next(iter(dates)), text, times)
        elif len(set(dates.values())) > 1:
            self._open += times
            self._points += times * ("." in text.split(" ", maxsplit=1)[0])
            self._examples.setdefault("open", text)

    def format(
        self, order: str = "", others: "DateEvidence | None" = None, decimal: str = ""
    ) -> DateFormat:
        """The format by the cells alone, then by the `others` of the file, then by the decimal sign
        of its numbers; `order` is the caller's own choice.
        """
        evidence, ambiguous = "the caller's choice" * bool(order), False
        votes = Counter({o: n for o, n in self.decisive.items() if o != "YMD" or not self._open})
        if not order and votes:
            order, evidence = self._voted(votes, _WITH_ORDER)
            ambiguous = {"DMY", "MDY"} <= {*votes}
        elif not order and self._open:
            order, evidence, ambiguous = self._decided(others, decimal)
        evidence = f"{ORDERS[order]}: {evidence}" if order and evidence else evidence
        return DateFormat(order, evidence, ambiguous)

    def _decided(self, others: "DateEvidence | None", decimal: str) -> tuple[str, str, bool]:
        if self._points == self._open:
            return "DMY", "nobody writes points between a month and a day behind it", False
        orders = {"DMY", "MDY"} & {*others.decisive} if others else set[str]()
        if others and len(orders) == 1:
            (order,) = orders
            return order, f"as in other cells, such as {others._examples[order]!r}", False
        if decimal == ",":
            return "DMY", "the numbers have a decimal comma", False
        example = self._examples["open"]
        both = " or ".join(str(day) for day in dict.fromkeys(date_reading(example).values()))
        return "", f"{example!r} can be {both}: nothing decides", True


def date_format(
    texts: Iterable[object],
    *,
    day_first: bool | None = None,
    others: Iterable[object] = (),
    decimal: str = "",
) -> DateFormat:
    """How the dates of a column are written. If its cells are ambiguous, the file's `others`
    decide, then the decimal sign of its numbers; `day_first`, if not None, decides at once.
    """
    order = "" if day_first is None else "DMY" if day_first else "MDY"
    evidence = _evidence(DateEvidence(), texts, date_reading)
    return evidence.format(order, _evidence(DateEvidence(), others, date_reading), decimal)


def read_date(text: str, format: DateFormat | None = None) -> date | datetime:
    """The date, a `datetime` where the text has a time.

    Raises:
        ValueError: it is not a date, or can be read in two ways.
    """
    day = date_or_reason(text, format)
    if isinstance(day, str):
        raise ValueError(f"{text!r} {day}")
    return day


def date_or_reason(text: str, format: DateFormat | None = None) -> date | datetime | str:
    """The same, or why it can't be read."""
    dates = date_reading(text)
    if not dates:
        return "is not a date"
    format = format or date_format([text])
    if len(set(dates.values())) == 1:
        contrary = format.order in ("DMY", "MDY") and not {"YMD", format.order} & {*dates}
        if contrary:
            return f"is not a date with the {ORDERS[format.order]}"
        return next(iter(dates.values()))
    if format.ambiguous or format.order not in dates:
        return f"can be {' or '.join(map(str, dates.values()))}; state whether the day is first"
    return dates[format.order]


def read_dates(
    texts: Iterable[object],
    format: DateFormat | None = None,
    *,
    places: Sequence[object] = (),
    day_first: bool | None = None,
    others: Iterable[object] = (),
    decimal: str = "",
) -> Column[date | datetime, DateFormat]:
    """A column of dates; cells that are dates already stay. The rest is as for `read_numbers` and
    `date_format`.
    """
    cells = list(texts)
    format = format or date_format(cells, day_first=day_first, others=others, decimal=decimal)

    def read(cell: object) -> date | datetime | str:
        if isinstance(cell, str):
            return date_or_reason(cell, format)
        return cell if isinstance(cell, date) else "is not a date"

    return _column(cells, places, format, read)


def workbook_date(serial: float, since_1904: bool = False) -> date | datetime:
    """The date of a workbook's number of days, counted from 1900 or 1904; a `datetime` where the
    number has a fraction.

    Raises:
        ValueError: it is negative, or the 60th day of 1900, which Excel has and the calendar lacks.
    """
    days = int(serial)
    if serial < 0 or (days == 60 and not since_1904):
        raise ValueError(f"{serial!r} is not a date of a workbook")
    begin = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 31 if days < 60 else 30)
    moment = begin + timedelta(days=days, seconds=round((serial - days) * 86_400))
    return moment if serial != days else moment.date()


# ----- tables in text


ONE_COLUMN = "\x1f"
"""The delimiter of a table of one column: no text has it."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SCRIPTS = (
    ("shift_jis", "HIRAGANA KATAKANA CJK FULLWIDTH IDEOGRAPHIC"),
    ("cp1251", "CYRILLIC"),
    ("cp1253", "GREEK"),
    ("euc_kr", "HANGUL"),
    ("gb18030", "CJK FULLWIDTH IDEOGRAPHIC"),
)
"""Encodings other than Western European ones, with the first words of their letters' names."""


class Table(NamedTuple):
    """A table in a text."""

    header: list[str]
    """Names of the columns, without blanks around."""
    rows: list[tuple[int, list[str]]]
    """The rows below that are not blank, each with the line in which it begins."""
    delimiter: str

    def column(self, name: str) -> list[tuple[int, str]]:
        """The cells of a column, with their lines: of that very name, else of the only one that has
        the same `text_key`.

        Raises:
            ValueError: there is no such column, or there are several.
        """
        at = _place(self.header, name)
        return [(line, plain_text("".join(row[at : at + 1]))) for line, row in self.rows]

    def numbers(self, name: str, decimal: str | None = None) -> Column[int | float, NumberFormat]:
        """A column as numbers; `decimal` as for `number_format`. Raises: ValueError, as
        `column`.
        """
        cells, places = self._placed(name)
        return read_numbers(
            cells, places=places, decimal=decimal, others=self.cells(), delimiter=self.delimiter
        )

    def dates(
        self, name: str, day_first: bool | None = None
    ) -> Column[date | datetime, DateFormat]:
        """A column as dates; `day_first` as for `date_format`. Raises: ValueError, as `column`."""
        cells, places = self._placed(name)
        decimal = number_format(self.cells(), delimiter=self.delimiter).decimal
        return read_dates(
            cells, places=places, day_first=day_first, others=self.cells(), decimal=decimal
        )

    def cells(self) -> Iterator[str]:
        """All cells below the header, such as for the `others` of `read_numbers`."""
        return chain.from_iterable(row for _, row in self.rows)

    def _placed(self, name: str) -> tuple[list[str], list[str]]:
        """The cells of a column, and where they stand."""
        column = self.column(name)
        places = [f"line {line}, column {name!r}," for line, _ in column]
        return [cell for _, cell in column], places


class _OpenTable(NamedTuple):
    """A table in a text or a file, which is read row by row."""

    header: list[str]
    begins: int
    """The line of the header."""
    delimiter: str
    open: Callable[[], TextIO]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """As those of a `Table`."""
        with self.open() as lines:
            for number, row in _csv_rows(lines, self.delimiter):
                if number > self.begins and not all(map(is_blank, row)):
                    yield number, row

    def cells_of(self, place: int, texts: Mapping[str, object]) -> Iterator[tuple[int, str]]:
        """The cells of a column that have one of the texts, with their lines."""
        for line, row in self.rows() if texts else ():
            if (cell := "".join(row[place : place + 1])) in texts:
                yield line, cell

    def counts(self, place: int) -> Iterator[Counter[str]]:
        """The cells of a column with their numbers, in parts of a million rows at most that have
        few different cells.
        """
        counts = Counter[str]()
        for number, (_, row) in enumerate(self.rows(), 1):
            counts["".join(row[place : place + 1])] += 1
            if number % 100_000 == 0 and len(counts) > _MOST_DIFFERENT:
                yield counts
                counts = Counter()
        yield counts


_MOST_DIFFERENT = 300_000
_AT_ONCE = 8_000_000
"""Bytes of a file that decide about its encoding and delimiter."""


def _open_table(text: str) -> _OpenTable:
    """Raises: ValueError: as `read_table`."""
    if os.path.isfile(text):
        encoding, begin = _beginning(text)
        lines: Callable[[], TextIO] = partial(open, text, encoding=encoding, newline="")
    elif re.fullmatch(r"[^\n{}\[\]\"',;]+\.(csv|tsv|txt)", text.strip(), re.IGNORECASE):
        raise ValueError(f"there is no file {text!r}")
    else:
        begin = text.lstrip("\ufeff")
        lines = partial(io.StringIO, begin, newline="")
    delimiter, filled = delimiter_of(begin, "text.csv"), list[tuple[int, list[str]]]()
    for number, row in text_rows(begin, delimiter):
        if not all(map(is_blank, row)):
            filled.append((number, row))
        if len(filled) == 60:
            break
    if not filled:
        raise ValueError("the table is empty; its first line must name the columns")
    line, names = filled[titles_above([row for _, row in filled])]
    return _OpenTable([plain_text(name) for name in names], line, delimiter, lines)


def _beginning(path: str) -> tuple[str, str]:
    """The encoding of a file, and its beginning as text. Raises: ValueError: it is not text."""
    with open(path, "rb") as file:
        content = file.read(_AT_ONCE)
        if len(content) == _AT_ONCE:
            content = content[: content.rfind(b"\n") + 1]
        text = decoded(content)
        encoding = encoding_of(content) or "utf-8"
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            file.seek(0)
            while encoding == "utf-8" and (piece := file.read(_AT_ONCE)):
                decoder.decode(piece)
        except UnicodeDecodeError:
            encoding = encoding_of(piece)
    return encoding, text.lstrip("\ufeff")


def read_table(text: str) -> Table:
    """The table in a text such as CSV, or in the file of that name.

    Raises:
        ValueError: there is no such file, it is not text, or it is empty.
    """
    table = _open_table(text)
    return Table(table.header, list(table.rows()), table.delimiter)


class NumberSummary(NamedTuple):
    """The figures of a column of numbers."""

    values: int
    """Cells that are numbers."""
    missing: int
    """Cells that are blank."""
    total: int | float
    minimum: int | float | None
    maximum: int | float | None
    unread: list[Unread]
    """The first three cells that can't be read."""
    unread_count: int
    format: NumberFormat
    units: dict[str, int]

    def check(self) -> None:
        """Raises: ValueError: names the first cells that can't be read, or several units."""
        _check(self.unread, self.unread_count, self.units)


def summarize_numbers(text: str, column: str, *, decimal: str = "") -> NumberSummary:
    """The figures of a column of the table in a text, or in the file of that name, which may be
    larger than the memory; they are read as by `read_numbers`.

    Raises:
        ValueError: as `read_table` and `Table.column`, or `decimal` is not a decimal sign.
    """
    if decimal and decimal not in _CORES:
        raise ValueError(f"decimal must be '.' or ',', not {decimal!r}")
    table = _open_table(text)
    place = _place(table.header, column)
    evidence, parts, counts = NumberEvidence(), 0, Counter[str]()
    for parts, counts in enumerate(table.counts(place), 1):  # noqa: B007
        _add_all(evidence, counts)
    others = NumberEvidence()
    if evidence._open and not evidence.decisive and not decimal:
        for cells in chain.from_iterable(map(table.counts, range(len(table.header)))):
            _add_all(others, cells)
    format = evidence.format(decimal, others, table.delimiter)
    figures = _Figures(format)
    all_counts = [counts] if parts == 1 else table.counts(place)
    numbers = chain.from_iterable(map(figures.fractions, all_counts))
    total = math.fsum(chain(numbers, (figures.integers for _ in range(1))))
    unread = [
        Unread(plain_text(cell), f"line {line}, column {column!r},", figures.reasons[cell])
        for line, cell in islice(table.cells_of(place, figures.reasons), 3)
    ]
    return NumberSummary(
        figures.units.total(),
        figures.blank,
        total if figures.has_fractions else figures.integers,
        *figures.bounds,
        unread,
        figures.unread,
        format,
        dict(figures.units),
    )


class _Figures:
    """Those of a column, while its cells are read in a format."""

    def __init__(self, format: NumberFormat) -> None:
        self._format = format
        self.blank = self.unread = self.integers = 0
        self.has_fractions = False
        self.bounds: tuple[float | None, float | None] = (None, None)
        self.units, self.reasons = Counter[str](), dict[str, str]()

    def fractions(self, counts: Mapping[str, int]) -> Iterator[float]:
        """The numbers among so many cells of each text, except whole ones, which are added up."""
        for text, times in counts.items():
            if not (cell := plain_text(text)):
                self.blank += times
                continue
            number = number_or_reason(cell, self._format)
            if isinstance(number, str):
                self.unread += times
                self.reasons[text] = number
                continue
            reading, (low, high) = number_reading(cell), self.bounds
            self.units[reading.unit if reading else ""] += times
            self.bounds = (
                number if low is None else min(low, number),
                number if high is None else max(high, number),
            )
            if isinstance(number, int):
                self.integers += number * times
            else:
                self.has_fractions = True
                yield from repeat(number, times)


def _add_all(evidence: NumberEvidence, counts: Mapping[str, int]) -> None:
    """Add so many cells of each text that is a number."""
    for text, times in counts.items():
        if reading := number_reading(cell := plain_text(text)):
            evidence.add(cell, reading, times)


def _place(header: Sequence[str], name: str) -> int:
    """Where the column of that very name is, else the only one that has the same `text_key`.

    Raises:
        ValueError: there is no such column, or there are several.
    """
    places = [i for i, other in enumerate(header) if other == plain_text(name)]
    places = places or [i for i, other in enumerate(header) if same_text(other, name)]
    if len(places) != 1:
        there = f"there are {len(places)} columns" if places else "there is no column"
        raise ValueError(f"{there} {name!r}; the columns are {', '.join(header)}")
    return places[0]


def titles_above(rows: Sequence[Sequence[object]]) -> int:
    """How many of the first rows are titles above the table: at most half of their cells are
    filled.
    """
    width, at = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0, 0
    while at + 1 < len(rows) and 2 * sum(not is_blank(cell) for cell in rows[at]) <= width > 1:
        at += 1
    return at


def decoded(content: bytes) -> str:
    """The text of a file, in the likeliest encoding. Raises: ValueError: it is not text."""
    if content and not (encoding := encoding_of(content)):
        raise ValueError("the file is not text")
    return content.decode(encoding) if content else ""


def encoding_of(content: bytes) -> str:
    """The encoding of a text; "" if it is none. Of before Unicode it is the likeliest: Western
    European, unless most letters of its words would be accented ones.
    """
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding if content == mark or _decoded(content, encoding) else ""
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if 2 * content[first:200:2].count(0) > len(content[first:200:2]):
            return encoding if _decoded(content, encoding) else ""
    if not content or re.search(rb"[\0-\x06\x0e-\x1a\x1c-\x1f]", content):
        return ""
    if _decoded(content, "utf-8"):
        return "utf-8"
    words = re.findall(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*", content[:50_000])
    accented = 2 * sum(byte > 0x7F for word in words for byte in word) > sum(map(len, words))
    scripts = _SCRIPTS if accented else ()
    foreign = (name for name, script in scripts if _fits(_decoded(content, name), script))
    return next(foreign, "cp1252" if _decoded(content, "cp1252") else "latin-1")


def _fits(text: str, scripts: str) -> bool:
    """Whether nearly all characters beyond ASCII are of these scripts, some of the first."""
    characters = [character for character in text[:20_000] if ord(character) > 0x7F]
    names = Counter(re.split("[ -]", unicodedata.name(c, "?"))[0] for c in characters)
    first, *_ = script_names = scripts.split()
    return names[first] > 0 and sum(names[script] for script in script_names) >= 0.85 * len(
        characters
    )


def _decoded(content: bytes, encoding: str) -> str:
    """The text; "" if it can't be decoded so, or holds zeros."""
    try:
        return "" if "\0" in (text := content.decode(encoding)) else text
    except UnicodeDecodeError:
        return ""


def text_rows(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table in a text, each with the line in which it begins."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return _csv_rows(io.StringIO(text.replace("\0", ""), newline=""), delimiter)


def _csv_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    one_column = delimiter == ONE_COLUMN
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if one_column else csv.QUOTE_MINIMAL,
    )
    begins = 1
    for row in reader:
        yield begins, row
        begins = reader.line_num + 1


def delimiter_of(text: str, path: str) -> str:
    """The separator of a table's cells: the sign that gives most of the first rows one width; ""
    for a text that is not a table.
    """
    head = "".join(text[:200_000].splitlines(keepends=True)[:200])
    best, rows = (0.0, 0, ""), 0
    for delimiter in ",|\t;":
        widths = [len(r) for _, r in text_rows(head, delimiter) if any(map(str.strip, r))]
        if wide := [width for width in widths if width > 1]:
            width, times = Counter(wide).most_common(1)[0]
            share = round(times / len(widths), 1)
            if (candidate := (share, width, delimiter)) > best:
                best, rows = candidate, len(widths)
    share, _, delimiter = best
    if os.path.splitext(path)[1].lower() in (".csv", ".tsv", ".tab"):
        return delimiter if share >= 0.4 else ONE_COLUMN
    prose = 2 * head.count(f"{delimiter} ") > head.count(delimiter)
    return delimiter if share >= 0.9 and rows > 1 and not prose else ""


# ----- tables in databases


def read_query(
    url: str, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
) -> list[dict[str, Any]]:
    """The rows of a SELECT from a PostgreSQL database, with the values by column: numbers, text,
    True, False, None, lists and dicts; days and moments are ISO text, bytes hexadecimal.

    `url` is `postgresql://USER@HOST/DATABASE`; `parameters` take the places of `%s`, or by name of
    `%(name)s`. In the sandbox the host sends the query, and adds the password.

    Raises:
        ValueError: the URL is not one of a database, or the database refuses the query.
        ConnectionError: nothing answers it; the message names the host and the reason.
    """
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    if parts.scheme.partition("+")[0] not in ("postgresql", "postgres") or not host:
        raise ValueError(f"{host or url[:80]!r} is not postgresql://USER@HOST/DATABASE")
    if (sandbox := sys.modules.get("sandbox_worker.http_transport")) is None:
        import psycopg  # where an exported tool runs

        with psycopg.connect(url) as connection:
            select = f"SELECT row_to_json(selected) FROM (\n{sql}\n) AS selected"  # noqa: S608 - it is the person's own SQL
            return [row for (row,) in connection.execute(select, parameters or None)]
    texts = json.dumps(parameters, default=str) if parameters else ""
    fields = {"user": user.partition(":")[0], "sql": sql, "parameters": texts}
    query = urlencode({name: value for name, value in fields.items() if value})
    address = f"postgresql://{host}{parts.path}?{query}"
    answer = sandbox.TRANSPORT.send("GET", address, [], b"", None)
    value = json.loads(answer.body)
    if answer.status != 200:
        raise ValueError(f"{host}: {value['error']}")
    rows: list[dict[str, Any]] = value
    return rows
