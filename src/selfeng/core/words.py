"""Words and numbers for people."""

import math
import re

_PRECISION = 6
_WHOLE = 1e6
_MONEY = re.compile(
    r"[$€£¥₹]|\b(?:usd|eur|gbp|chf|euros?|dollars?|cents?|price|cost|invoice|salary|tax|tip|loan|"
    r"payment|interest)s?\b",
    re.IGNORECASE,
)


def shortened(text: str, limit: int) -> str:
    """The text; of a longer one the beginning and the end, `limit` characters in all, with the
    number of characters left out between them.
    """
    if len(text) <= limit:
        return text
    tail = limit // 4
    return (
        f"{text[: limit - tail]}\n… ({len(text) - limit} of {len(text)} characters are left "
        f"out) …\n{text[len(text) - tail :]}"
    )


def count(number: int, noun: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def significant(value: float, digits: int = 2) -> str:
    """`2.5`, `420` or `4,200`: a measured value with its significant digits."""
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def for_people(value: float, *, money: bool = False) -> str:
    """A number as a sentence says it: whole numbers as they are, money with two places, anything
    else with six significant digits at most; `about` before what was rounded.
    """
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    size = abs(value)
    form = (
        ".2f" if money and size >= 0.005 else ".0f" if _WHOLE <= size < 1e15 else f".{_PRECISION}g"
    )
    rounded = f"{value:{form}}"
    close = math.isclose(float(rounded), value, rel_tol=1e-12, abs_tol=0.0)
    return rounded if close else f"about {rounded}"


def is_about_money(text: str) -> bool:
    """Whether words or signs of a request speak of money."""
    return _MONEY.search(text) is not None
