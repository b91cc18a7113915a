"""Literals: how a request may write the values of a slot, and how they are read.

A reader gets the text and how freely it may appear, and raises `Unreadable`.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Quoting = Literal["verbatim", "plain", "quoted"]
"""How freely text may appear: verbatim after a colon; plain without quotation marks, with doubts;
quoted only with them.
"""


class Unreadable(ValueError):
    """The literal is not of its kind, or may be an ordinary part of the sentence."""


_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»", "„": "“"}
_OPENING = "".join(_PAIRS)
_QUOTED = "|".join(rf"{re.escape(a)}[\s\S]*?{re.escape(b)}" for a, b in _PAIRS.items())
_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<body>[\s\S]*?)\n?(?P=fence)")
_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",  # noqa: E501
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_DIGITS = r"(?:\d{1,3}(?:[,_'’]\d{3})+|\d+)"
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = "|".join(
    rf"{m[:3]}(?:{m[3:]})?\.?" if m != "september" else r"sept?(?:ember)?\.?" for m in _MONTHS
)
_DATE = re.compile(
    rf"(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})|(?P<dots>\d{{1,2}}\.\d{{1,2}}\.\d{{4}})|"
    rf"(?P<m1>{_MONTH})\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y1>\d{{4}})|"
    rf"(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m2>{_MONTH}),?\s+(?P<y2>\d{{4}})",
    re.IGNORECASE,
)
_NOUNS = re.findall(
    r"\w+",
    "string text word phrase sentence title name list number csv json message line paragraph "
    "input value code",
)
_VAGUE_FIRST = re.findall(
    r"\w+",
    "of that which about from for my your our his her their this these those all every each any "
    "some it its them by with how what "
    "why when who where if and or to in on at is are as following engineering",
)
_VAGUE = re.compile(
    r"\b(?:it|its|them|my|your|our|this|these|those|then)\b|\band\s+(?:also|count|convert|reverse|sort|remove|encode|decode|make|"
    rf"calculate|compute|tell|give|show|find|replace|explain|write|add)\b|\b(?:{'|'.join(_NOUNS)})s?\s*:|(?:^|\s)[{re.escape(_OPENING)}]",
    re.IGNORECASE,
)


def unquoted(raw: str) -> str | None:
    """The text inside quotation marks or fences; None if they do not enclose the whole."""
    if fenced := _FENCED.fullmatch(raw.strip()):
        return fenced["body"]
    if len(raw) < 2 or _PAIRS.get(raw[0]) != raw[-1]:
        return None
    inner = raw[1:-1]
    # An apostrophe inside a word is fine; a quotation mark next to white space belongs to another
    # quotation.
    stray = rf"(?:^|[\s,]){re.escape(raw[0])}|{re.escape(raw[-1])}(?:$|[\s,])"
    return (
        None
        if (raw[0] != "'" and (raw[0] in inner or raw[-1] in inner)) or re.search(stray, inner)
        else inner
    )


def _read_text(raw: str, quoting: Quoting) -> str:
    if (inner := unquoted(raw)) is not None:
        return inner
    if quoting == "verbatim":
        return raw
    words = raw.split()
    vague = (
        not words
        or words[0].lower() in _VAGUE_FIRST
        or (words[0].lower() in ("the", "a", "an") and len(words) < 4)
    )
    noun = len(words) == 1 and raw.lower().removesuffix("s") in _NOUNS
    if quoting == "quoted" or vague or noun or raw[0] in "[{" or _VAGUE.search(raw):
        raise Unreadable(raw)
    return raw


def read_number(raw: str, quoting: Quoting = "plain") -> int | float:
    text = re.sub(r"minus\s+", "-", raw.strip().lower())
    if text in _NUMBER_WORDS:
        return _NUMBER_WORDS.index(text)
    text = re.sub(r"dollars?|euros?|[$€£_'’,\s]", "", text.replace("−", "-"))
    if not _PLAIN_NUMBER.fullmatch(text):
        raise Unreadable(raw)
    value = int(text) if re.fullmatch(r"[-+]?\d{1,1000}", text) else float(text)
    if not math.isfinite(value):
        raise Unreadable(raw)
    return value


def _read_integer(raw: str, quoting: Quoting) -> int:
    value = read_number(
        re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", raw.strip(), flags=re.IGNORECASE), quoting
    )
    if not isinstance(value, int):
        raise Unreadable(raw)
    return value


def _read_numbers(raw: str, quoting: Quoting) -> list[int | float]:
    pieces = re.split(
        r"\s*,?\s*\band\s+|,\s+|;\s*|\s+", raw.strip().removeprefix("[").removesuffix("]").strip()
    )
    if len(pieces) == 1 or not all(
        re.fullmatch(rf"[-−+]?[$€£]?{_DIGITS}(?:\.\d+)?", p) for p in pieces
    ):
        pieces = [p for piece in pieces for p in piece.split(",")]
    return [read_number(piece, quoting) for piece in pieces if piece]


def _read_integers(raw: str, quoting: Quoting) -> list[int]:
    values = _read_numbers(raw, quoting)
    if not all(isinstance(v, int) for v in values):
        raise Unreadable(raw)
    return [int(v) for v in values]


def read_bracketed(raw: str, quoting: Quoting = "plain") -> list[Any]:
    text = raw.strip()
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) and _is_json(value):
            return value
    inner = text.removeprefix("[").removesuffix("]")
    if text == inner or "[" in inner or not inner.strip():
        raise Unreadable(raw)
    return _typed([piece.strip() for piece in inner.split(",")])


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _read_items(raw: str, quoting: Quoting) -> list[Any]:
    text = raw.strip()
    inner = unquoted(text)
    if text.startswith("["):
        return read_bracketed(text, quoting)
    if inner is not None and "," in inner:
        text = inner
    pieces = re.findall(
        rf"\s*((?:{_QUOTED})|[^,;\n]+?)\s*(?:,\s*and\s+|[,;\n]|\s+and\s+(?=\S+(?:\s\S+)?$)|$)", text
    )
    if len(pieces) < 2 and re.fullmatch(r"[-\d.\s]+", text):
        pieces = text.split()
    if len(pieces) < 2 or (quoting != "verbatim" and any(_is_doubtful(piece) for piece in pieces)):
        raise Unreadable(raw)
    return _typed(pieces)


def _is_doubtful(piece: str) -> bool:
    if unquoted(piece) is not None:
        return False
    first = piece.lower().split()[0] if piece.split() else ""
    return (
        first in _VAGUE_FIRST
        or len(piece.split()) > 3
        or bool(re.search(r"\b(?:order|descending|ascending|by)\b|[:\[\]]", piece))
    )


def _typed(pieces: list[str]) -> list[Any]:
    """Numbers if all are numbers, otherwise texts without their quotation marks."""
    if pieces and all(_PLAIN_NUMBER.fullmatch(piece) for piece in pieces):
        return [read_number(piece, "plain") for piece in pieces]
    return [piece if (inner := unquoted(piece)) is None else inner for piece in pieces]


def _read_date(raw: str, quoting: Quoting) -> str:
    if (match := _DATE.fullmatch(unquoted(raw.strip()) or raw.strip())) is None:
        raise Unreadable(raw)
    if match["iso"]:
        return match["iso"]
    day, month, year = (
        match["dots"].split(".")
        if match["dots"]
        else (match["d1"] or match["d2"], None, match["y1"] or match["y2"])
    )
    return (
        f"{year}-{int(month or _read_month(match['m1'] or match['m2'], quoting)):02}-{int(day):02}"
    )


def _read_month(raw: str, quoting: Quoting) -> int:
    return next(i for i, name in enumerate(_MONTHS, start=1) if name.startswith(raw.lower()[:3]))


def _read_json(raw: str, quoting: Quoting) -> str:
    text = _read_bare(raw, quoting).strip()
    if not text.startswith(("{", "[")) and not text.lower().endswith(".json"):
        raise Unreadable(raw)
    return text


def _read_csv(raw: str, quoting: Quoting) -> str:
    text = _read_bare(raw, quoting)
    text = text if "\n" in text else text.replace("\\n", "\n")
    if "\n" not in text.strip():
        raise Unreadable(raw)
    return text


def _read_bare(raw: str, quoting: Quoting) -> str:
    inner = unquoted(raw.strip())
    return raw if inner is None else inner


def _read_arithmetic(raw: str, quoting: Quoting) -> str:
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", raw.strip())
    for words, sign in (
        ("plus", "+"),
        ("minus", "-"),
        ("times|multiplied by", "*"),
        ("divided by|over", "/"),
        ("to the power of", "**"),
    ):
        text = re.sub(rf"\b(?:{words})\b", sign, text, flags=re.IGNORECASE)
    if (
        "," in text
        or _DATE.fullmatch(text)
        or not re.search(r"[\d)]\s*[-+*/%^×÷−x]+\s*[-+(]*\s*[\d.]", text)
    ):
        raise Unreadable(raw)
    return re.sub(r"(?<=[\d)\s])x(?=[\d(\s])", "*", text)


def _one_of(choices: Mapping[str, str | int]) -> Callable[[str, Quoting], Any]:
    """A reader for a closed vocabulary: the value of the regular expression that fits."""

    def read(raw: str, quoting: Quoting) -> Any:
        return next(
            value
            for pattern, value in choices.items()
            if re.fullmatch(pattern, raw.strip(), re.IGNORECASE)
        )

    return read


def _read_base(raw: str, quoting: Quoting) -> int:
    bases = {"bin": 2, "oct": 8, "dec": 10, "hex": 16}
    return bases.get(raw.lower()[:3]) or int(re.sub(r"\D", "", raw))


def _read_digits(raw: str, quoting: Quoting) -> str:
    text = _read_bare(raw, quoting)
    if not re.search(r"\d|^[a-f]+$", text, re.IGNORECASE):
        raise Unreadable(raw)
    return text


@dataclass(frozen=True)
class LiteralKind:
    """One kind of literal."""

    written: str
    """Regular expression without capturing groups; matched regardless of case."""
    read: Callable[[str, Quoting], Any]
    """Raises: Unreadable."""
    after_colon: str = ""
    """Additional form if a colon introduces it."""


_NUMBER = (
    rf"(?:minus\s+|[-−+]\s?)?[$€£]?(?:{_DIGITS}(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?:\s?(?:dollars?|euros?|[€$£]))?|"
    rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b"
)
_LENGTHS = {
    "mm|millimet(?:er|re)s?": "mm", "cms?|centimet(?:er|re)s?": "cm", "m|met(?:er|re)s?": "m", "kms?|kilomet(?:er|re)s?": "km",  # noqa: E501
    'in|inch(?:es)?|"': "in", "ft|foot|feet": "ft", "yds?|yards?": "yd", "mi|miles?": "mi", r"nmi|nautical\s+miles?": "nmi",  # noqa: E501
}  # fmt: skip
_FREQUENCIES = {
    "yearly|annually|once a year": 1, "half-yearly|semi-?annually|twice a year": 2, "quarterly": 4, "monthly": 12, "daily": 365,  # noqa: E501
}  # fmt: skip
_WORD = rf"{_QUOTED}|[^\s{re.escape(_OPENING)}]\S{{0,199}}?"
_TEXT = rf"{_QUOTED}|[^\s{re.escape(_OPENING)}][^\n]{{0,299}}?"
_LIST = r"\[[\s\S]*?\]"
_NUMBER_LIST = r"\[[^\]]*\]|[-−+$\d.](?:[-−+$\d.,;\s]|\band\b)*?"
_ORDINAL = rf"(?:{_NUMBER})(?:st|nd|rd|th)?"
_ANY = r"[\s\S]+?"

KINDS: dict[str, LiteralKind] = {
    "text": LiteralKind(_TEXT, _read_text, _ANY),
    "word": LiteralKind(_WORD, _read_text, _ANY),
    "quoted": LiteralKind(_QUOTED, lambda raw, _: _read_text(raw, "quoted")),
    "token": LiteralKind(_WORD, _read_bare),
    "letter": LiteralKind(rf"{_QUOTED}|[a-z]", _read_bare),
    "block": LiteralKind(_ANY, _read_bare),
    "number": LiteralKind(_NUMBER, read_number),
    "int": LiteralKind(_ORDINAL, _read_integer),
    "negated": LiteralKind(_ORDINAL, lambda raw, quoting: -_read_integer(raw, quoting)),
    "exclusive": LiteralKind(_ORDINAL, lambda raw, quoting: _read_integer(raw, quoting) - 1),
    "numbers": LiteralKind(_NUMBER_LIST, _read_numbers),
    "ints": LiteralKind(_NUMBER_LIST, _read_integers),
    "items": LiteralKind(rf"{_LIST}|[^\n\[\]]+?", _read_items, _ANY),
    "bracketed": LiteralKind(_LIST, read_bracketed),
    "date": LiteralKind(rf"(?:{re.sub('[?]P<[^>]+>', '?:', _DATE.pattern)})", _read_date),
    "month": LiteralKind(_MONTH, _read_month),
    "csv": LiteralKind(_ANY, _read_csv),
    "json": LiteralKind(rf"{_QUOTED}|[{{\[]{_ANY}|```{_ANY}|[^\s/]+\.json", _read_json),
    "path": LiteralKind(r"[\w$.\[\]'\"-]+", _read_bare),
    "filename": LiteralKind(
        rf"{_QUOTED}|[^\s/{re.escape(_OPENING)}]+\.[a-z0-9]{{1,5}}", _read_bare
    ),
    "url": LiteralKind(
        rf"{_QUOTED}|https?://[^\s{re.escape(_OPENING)}]+?|(?:[\w-]+\.)+[a-z]{{2,}}/\S+?",
        _read_bare,
    ),
    "database": LiteralKind(rf"{_QUOTED}|postgres(?:ql)?://\S+?", _read_bare),
    "sql": LiteralKind(rf"{_QUOTED}|(?:select|with){_ANY}", _read_bare),
    "arithmetic": LiteralKind(
        r"[-+(√.\d](?:[-+*/%^().,\d\sx×÷−]|\b(?:plus|minus|times|multiplied by|divided by|to the "
        r"power of)\b)*",
        _read_arithmetic,
    ),
    "length": LiteralKind("|".join(_LENGTHS), _one_of(_LENGTHS)),
    "frequency": LiteralKind("|".join(_FREQUENCIES), _one_of(_FREQUENCIES)),
    "base": LiteralKind(r"binary|octal|decimal|hex(?:adecimal)?|base[- ]?\d{1,2}", _read_base),
    "other_base": LiteralKind(r"binary|octal|hex(?:adecimal)?|base[- ]?\d{1,2}", _read_base),
    "digits": LiteralKind(rf"{_QUOTED}|-?[0-9a-z]+", _read_digits),
    "whole": LiteralKind(r"-?\d+", _read_bare),
    "hex_digits": LiteralKind(r"0x[0-9a-f]+", _read_bare),
    "bits": LiteralKind(r"0b[01]+", _read_bare),
    "roman": LiteralKind(rf"{_QUOTED}|[ivxlcdm]+", _read_bare),
    "morse": LiteralKind(r"['\"`]?[-.−·][-.−·/\s]*['\"`]?", _read_bare),
    "color": LiteralKind(r"['\"`]?#?(?:[0-9a-f]{6}|[0-9a-f]{3})['\"`]?", _read_bare),
}

OF_ANNOTATION = {
    "str": "text", "int": "int", "float": "number", "list[int]": "ints", "list[int | float]": "numbers",  # noqa: E501
    "list[Any]": "items", "list[int | float | str]": "items",
}  # fmt: skip
"""The kind of a parameter if a pattern names none."""
