"""Kinds of literals: how a request may write the values of a slot, and which reader they go to."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from selfeng.offline.cookbook.literals import (
    DATE,
    DIGITS,
    MONTH,
    NUMBER_WORDS,
    OPENING,
    QUOTED,
    Place,
    one_of,
    read_arithmetic,
    read_base,
    read_block,
    read_bracketed,
    read_csv,
    read_date,
    read_digits,
    read_integer,
    read_integers,
    read_items,
    read_json,
    read_month,
    read_number,
    read_numbers,
    read_quoted_text,
    read_text,
    read_unquoted_word,
)


@dataclass(frozen=True)
class Kind:
    """One kind of literal."""

    written: str
    """Regular expression without groups that capture; matched without regard to capitals."""
    read: Callable[[str, Place], Any]
    """Raises: Unreadable."""
    after_colon: str = ""
    """Further way to write it where a colon announces it."""


_NUMBER = (
    rf"(?:minus\s+|[-−+]\s?)?[$€£]?(?:{DIGITS}(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?:\s?(?:dollars?|euros?|[€$£]))?|"
    rf"\b(?:{'|'.join(NUMBER_WORDS)})\b"
)
_LENGTHS = {
    r"mm|millimet(?:er|re)s?": "mm",
    r"cms?|centimet(?:er|re)s?": "cm",
    r"m|met(?:er|re)s?": "m",
    r"kms?|kilomet(?:er|re)s?": "km",
    r"in|inch(?:es)?|\"": "in",
    r"ft|foot|feet": "ft",
    r"yds?|yards?": "yd",
    r"mi|miles?": "mi",
    r"nmi|nautical\s+miles?": "nmi",
}
_FREQUENCIES = {
    r"yearly|annually|once a year": 1,
    "half-yearly|semi-?annually|twice a year": 2,
    "quarterly": 4,
    "monthly": 12,
    "daily": 365,
}
_WORD = rf"{QUOTED}|[^\s{re.escape(OPENING)}]\S{{0,199}}?"
_TEXT = rf"{QUOTED}|[^\s{re.escape(OPENING)}][^\n]{{0,299}}?"
_LIST = r"\[[\s\S]*?\]"
_NUMBER_LIST = r"\[[^\]]*\]|[-−+$\d.](?:[-−+$\d.,;\s]|\band\b)*?"
_ORDINAL = rf"(?:{_NUMBER})(?:st|nd|rd|th)?"
_ANY = r"[\s\S]+?"

KINDS: dict[str, Kind] = {
    "text": Kind(_TEXT, read_text, _ANY),
    "word": Kind(_WORD, read_text, _ANY),
    "quoted": Kind(QUOTED, read_quoted_text),
    "token": Kind(_WORD, read_unquoted_word),
    "letter": Kind(rf"{QUOTED}|[a-z]", read_unquoted_word),
    "block": Kind(_ANY, read_block),
    "number": Kind(_NUMBER, read_number),
    "int": Kind(_ORDINAL, read_integer),
    "negated": Kind(_ORDINAL, lambda raw, place: -read_integer(raw, place)),
    "exclusive": Kind(_ORDINAL, lambda raw, place: read_integer(raw, place) - 1),
    "numbers": Kind(_NUMBER_LIST, read_numbers),
    "ints": Kind(_NUMBER_LIST, read_integers),
    "items": Kind(rf"{_LIST}|[^\n\[\]]+?", read_items, _ANY),
    "bracketed": Kind(_LIST, read_bracketed),
    "date": Kind(rf"(?:{re.sub('[?]P<[^>]+>', '?:', DATE.pattern)})", read_date),
    "month": Kind(MONTH, read_month),
    "csv": Kind(_ANY, read_csv),
    "json": Kind(rf"{QUOTED}|[{{\[]{_ANY}|```{_ANY}", read_json),
    "path": Kind(r"[\w$.\[\]'\"-]+", read_unquoted_word),
    "filename": Kind(rf"{QUOTED}|[^\s/{re.escape(OPENING)}]+\.[a-z0-9]{{1,5}}", read_unquoted_word),
    "arithmetic": Kind(
        r"[-+(√.\d](?:[-+*/%^().,\d\sx×÷−]|\b(?:plus|minus|times|multiplied by|divided by|to the power of)\b)*", read_arithmetic
    ),
    "length": Kind("|".join(_LENGTHS), one_of(_LENGTHS)),
    "frequency": Kind("|".join(_FREQUENCIES), one_of(_FREQUENCIES)),
    "base": Kind(r"binary|octal|decimal|hex(?:adecimal)?|base[- ]?\d{1,2}", read_base),
    "other_base": Kind(r"binary|octal|hex(?:adecimal)?|base[- ]?\d{1,2}", read_base),
    "digits": Kind(rf"{QUOTED}|-?[0-9a-z]+", read_digits),
    "whole": Kind(r"-?\d+", read_unquoted_word),
    "hex_digits": Kind(r"0x[0-9a-f]+", read_unquoted_word),
    "bits": Kind(r"0b[01]+", read_unquoted_word),
    "roman": Kind(rf"{QUOTED}|[ivxlcdm]+", read_unquoted_word),
    "morse": Kind(r"['\"`]?[-.−·][-.−·/\s]*['\"`]?", read_unquoted_word),
    "color": Kind(r"['\"`]?#?(?:[0-9a-f]{6}|[0-9a-f]{3})['\"`]?", read_unquoted_word),
}

OF_ANNOTATION = {
    "str": "text",
    "int": "int",
    "float": "number",
    "list[int | float]": "numbers",
    "list[int]": "ints",
    "list[Any]": "items",
    "list[int | float | str]": "items",
}
"""The kind of a parameter where a pattern names none."""
