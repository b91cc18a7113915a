"""Literals: values as people write them in a request, and what they read as. Each reader raises `Unreadable`."""

import ast
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

Place = Literal["verbatim", "plain", "quoted"]
"""How freely text may stand: verbatim after a colon; plain without quotation marks, with doubts; quoted only with them."""


class Unreadable(ValueError):
    """The literal is not one of its kind, or may as well be an ordinary part of the sentence."""


_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»", "„": "“"}
OPENING = "".join(_PAIRS)
QUOTED = "|".join(rf"{re.escape(a)}[\s\S]*?{re.escape(b)}" for a, b in _PAIRS.items())
_FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<body>[\s\S]*?)\n?(?P=fence)")
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        re.findall(
            r"\w+",
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
            "nineteen twenty",
        )
    )
}
DIGITS = r"(?:\d{1,3}(?:[,_'’]\d{3})+|\d+)"
_PLAIN_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
MONTH = "|".join(rf"{m[:3]}(?:{m[3:]})?\.?" if m != "september" else r"sept?(?:ember)?\.?" for m in _MONTHS)
DATE = re.compile(
    rf"(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})|(?P<dots>\d{{1,2}}\.\d{{1,2}}\.\d{{4}})|"
    rf"(?P<m1>{MONTH})\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y1>\d{{4}})|"
    rf"(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<m2>{MONTH}),?\s+(?P<y2>\d{{4}})",
    re.IGNORECASE,
)
_NOUNS = re.findall(r"\w+", "string text word phrase sentence title name list number csv json message line paragraph input value code")
_VAGUE_FIRST = frozenset(
    re.findall(
        r"\w+",
        "of that which about from for my your our his her their this these those all every each any some it its them by with how what "
        "why when who where if and or to in on at is are as following engineering",
    )
)
_VAGUE = re.compile(
    r"\b(?:it|its|them|my|your|our|this|these|those|then)\b|\band\s+(?:also|count|convert|reverse|sort|remove|encode|decode|make|"
    rf"calculate|compute|tell|give|show|find|replace|explain|write|add)\b|\b(?:{'|'.join(_NOUNS)})s?\s*:|(?:^|\s)[{re.escape(OPENING)}]",
    re.IGNORECASE,
)


def unquoted(raw: str) -> str | None:
    """What stands between quotation marks or fences, None where there are none around the whole."""
    fenced = _FENCED.fullmatch(raw.strip())
    if fenced:
        return fenced["body"]
    if len(raw) < 2 or _PAIRS.get(raw[0]) != raw[-1]:
        return None
    inner = raw[1:-1]
    # An apostrophe inside a word is fine; a quotation mark next to white space belongs to another quotation.
    stray = rf"(?:^|[\s,]){re.escape(raw[0])}|{re.escape(raw[-1])}(?:$|[\s,])"
    return None if (raw[0] != "'" and (raw[0] in inner or raw[-1] in inner)) or re.search(stray, inner) else inner


def read_text(raw: str, place: Place) -> str:
    inner = unquoted(raw)
    if inner is not None:
        return inner
    if place == "verbatim":
        return raw
    words = raw.split()
    vague = not words or words[0].lower() in _VAGUE_FIRST or (words[0].lower() in ("the", "a", "an") and len(words) < 4)
    noun = len(words) == 1 and raw.lower().removesuffix("s") in _NOUNS
    if place == "quoted" or vague or noun or raw[0] in "[{" or _VAGUE.search(raw):
        raise Unreadable(raw)
    return raw


def read_quoted_text(raw: str, place: Place) -> str:
    return read_text(raw, "quoted")


def read_number(raw: str, place: Place = "plain") -> int | float:
    text = re.sub(r"minus\s+", "-", raw.strip().lower())
    if text in NUMBER_WORDS:
        return NUMBER_WORDS[text]
    text = re.sub(r"dollars?|euros?|[$€£_'’,\s]", "", text.replace("−", "-"))
    if not _PLAIN_NUMBER.fullmatch(text):
        raise Unreadable(raw)
    value = int(text) if re.fullmatch(r"[-+]?\d{1,1000}", text) else float(text)
    if not math.isfinite(value):
        raise Unreadable(raw)
    return value


def read_integer(raw: str, place: Place) -> int:
    value = read_number(re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", raw.strip(), flags=re.IGNORECASE), place)
    if not isinstance(value, int):
        raise Unreadable(raw)
    return value


def read_numbers(raw: str, place: Place) -> list[int | float]:
    pieces = re.split(r"\s*,?\s*\band\s+|,\s+|;\s*|\s+", raw.strip().removeprefix("[").removesuffix("]").strip())
    thousands = len(pieces) > 1
    if not thousands or not all(re.fullmatch(rf"[-−+]?[$€£]?{DIGITS}(?:\.\d+)?", p) for p in pieces):
        pieces = [p for piece in pieces for p in piece.split(",")]
    return [read_number(piece, place) for piece in pieces if piece]


def read_integers(raw: str, place: Place) -> list[int]:
    values = read_numbers(raw, place)
    if not all(isinstance(v, int) for v in values):
        raise Unreadable(raw)
    return [int(v) for v in values]


def read_bracketed(raw: str, place: Place = "plain") -> list[Any]:
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


def read_items(raw: str, place: Place) -> list[Any]:
    text = raw.strip()
    inner = unquoted(text)
    if text.startswith("["):
        return read_bracketed(text, place)
    if inner is not None and "," in inner:
        text = inner
    pieces = re.findall(rf"\s*((?:{QUOTED})|[^,;\n]+?)\s*(?:,\s*and\s+|[,;\n]|\s+and\s+(?=\S+(?:\s\S+)?$)|$)", text)
    if len(pieces) < 2 and re.fullmatch(r"[-\d.\s]+", text):
        pieces = text.split()
    if len(pieces) < 2 or (place != "verbatim" and any(_is_doubtful(piece) for piece in pieces)):
        raise Unreadable(raw)
    return _typed(pieces)


def _is_doubtful(piece: str) -> bool:
    if unquoted(piece) is not None:
        return False
    first = piece.lower().split()[0] if piece.split() else ""
    return first in _VAGUE_FIRST or len(piece.split()) > 3 or bool(re.search(r"\b(?:order|descending|ascending|by)\b|[:\[\]]", piece))


def _typed(pieces: list[str]) -> list[Any]:
    """Numbers where all are numbers, else texts without their quotation marks."""
    if pieces and all(_PLAIN_NUMBER.fullmatch(piece) for piece in pieces):
        return [read_number(piece, "plain") for piece in pieces]
    return [piece if (inner := unquoted(piece)) is None else inner for piece in pieces]


def read_date(raw: str, place: Place) -> str:
    match = DATE.fullmatch(unquoted(raw.strip()) or raw.strip())
    if match is None:
        raise Unreadable(raw)
    if match["iso"]:
        return match["iso"]
    if match["dots"]:
        day, month, year = match["dots"].split(".")
        return f"{year}-{int(month):02}-{int(day):02}"
    name, day, year = (match["m1"], match["d1"], match["y1"]) if match["m1"] else (match["m2"], match["d2"], match["y2"])
    return f"{year}-{read_month(name, place):02}-{int(day):02}"


def read_month(raw: str, place: Place) -> int:
    return next(i for i, name in enumerate(_MONTHS, start=1) if name.startswith(raw.lower()[:3]))


def read_json(raw: str, place: Place) -> str:
    text = read_block(raw, place).strip()
    if not text.startswith(("{", "[")):
        raise Unreadable(raw)
    return text


def read_csv(raw: str, place: Place) -> str:
    text = read_block(raw, place)
    text = text if "\n" in text else text.replace("\\n", "\n")
    if "\n" not in text.strip():
        raise Unreadable(raw)
    return text


def read_block(raw: str, place: Place) -> str:
    inner = unquoted(raw.strip())
    return raw if inner is None else inner


def read_arithmetic(raw: str, place: Place) -> str:
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", raw.strip())
    for words, sign in (("plus", "+"), ("minus", "-"), ("times|multiplied by", "*"), ("divided by|over", "/"), ("to the power of", "**")):
        text = re.sub(rf"\b(?:{words})\b", sign, text, flags=re.IGNORECASE)
    if "," in text or DATE.fullmatch(text) or not re.search(r"[\d)]\s*[-+*/%^×÷−x]+\s*[-+(]*\s*[\d.]", text):
        raise Unreadable(raw)
    return re.sub(r"(?<=[\d)\s])x(?=[\d(\s])", "*", text)


def one_of(choices: Mapping[str, str | int]) -> Callable[[str, Place], Any]:
    """A reader of closed vocabulary: the value of the regular expression that fits."""

    def read(raw: str, place: Place) -> Any:
        return next(value for pattern, value in choices.items() if re.fullmatch(pattern, raw.strip(), re.IGNORECASE))

    return read


def read_base(raw: str, place: Place) -> int:
    named = {"bin": 2, "oct": 8, "dec": 10, "hex": 16}
    return named.get(raw.lower()[:3]) or int(re.sub(r"\D", "", raw))


def read_digits(raw: str, place: Place) -> str:
    text = read_unquoted_word(raw, place)
    if not re.search(r"\d|^[a-f]+$", text, re.IGNORECASE):
        raise Unreadable(raw)
    return text


def read_unquoted_word(raw: str, place: Place) -> str:
    inner = unquoted(raw)
    return raw if inner is None else inner
