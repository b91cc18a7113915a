"""Words and numbers for people."""

import math
import re

_WHOLE, _SCIENTIFIC = 1e6, 1e15
_CURRENCY = re.compile(
    r"(?!.*\b(?:rate|per)\b)"
    r".*(?:[$£¥\u20a0-\u20cf]|\b(?:eur|usd|gbp|chf|jpy|euros?|dollars?|money)\b)",
    re.IGNORECASE | re.DOTALL,
)


LEFT_OUT = "characters are left out) …"
"""The words in place of the part that `shortened` left out."""


def shortened(text: str, limit: int) -> str:
    """The text; of a longer one the beginning and the end, `limit` characters in all, with the
    number of characters left out between them.
    """
    if len(text) <= limit:
        return text
    tail = limit // 4
    return (
        f"{text[: limit - tail]}\n… ({len(text) - limit} of {len(text)} {LEFT_OUT}\n"
        f"{text[len(text) - tail :]}"
    )


def request_key(request: str) -> str:
    """Equal for requests that count as the same: without case and extra white space."""
    return " ".join(request.split()).casefold()


def count(number: int, noun: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def significant(value: float, digits: int = 2) -> str:
    """`2.5`, `420` or `4,200`: a measured value with its significant digits."""
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def for_people(value: float, *, money: bool = False, digits: int = 4) -> str:
    """A number as a sentence says it: whole numbers as they are, anything else with so many
    significant digits, but from 1 on with at least two places, and an amount of money with two;
    `about` before what was rounded.
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    rounded = f"{value:{_form(value, money, digits)}}"
    close = math.isclose(float(rounded), value, rel_tol=1e-12, abs_tol=0.0)
    return rounded if close else f"about {rounded}"


def _form(value: float, money: bool, digits: int) -> str:
    """The format of a number in a sentence."""
    size = abs(value)
    has_cents = 1 <= size < _SCIENTIFIC or value == round(value, 2)
    if money and has_cents and not value.is_integer():
        return ".2f"
    if _WHOLE <= size < _SCIENTIFIC:
        return ".0f"
    return f".{max(digits, len(str(int(size))) + 2) if size < _WHOLE else digits}g"


def is_in_currency(text: str) -> bool:
    """Whether the name or the description of a number gives a currency, but no price of a unit and
    no exchange rate.
    """
    return _CURRENCY.match(text.replace("_", " ")) is not None
