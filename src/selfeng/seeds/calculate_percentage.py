"""A percentage of a number."""

import math
from fractions import Fraction


def calculate_percentage(percentage: float, number: float) -> float:
    """Calculate a percentage of a number, such as 15 percent of 300.

    Returns:
        The part of the number; an integer where it is whole.

    Raises:
        TypeError: an argument is not a number.
        ValueError: an argument is infinite or not a number (NaN).
    """
    part = _exact("percentage", percentage) * _exact("number", number) / 100
    return part.numerator if part.denominator == 1 else float(part)


def _exact(name: str, value: float) -> Fraction:
    """The value as it is written: 0.07 is seven hundredths, so that 7 percent of 100 is 7 and not 7.000000000000001."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return Fraction(str(value))
