"""The relative change between two numbers."""

import math
from fractions import Fraction


def percentage_change(old: float, new: float) -> float:
    """Calculate by how many percent a value changed from an old to a new one; a decrease is negative.

    Returns:
        The change in percent of the old value's size; an integer where it is whole.

    Raises:
        TypeError: an argument is not a number.
        ValueError: the old value is 0, or an argument is not finite.
    """
    before, after = _exact("old", old), _exact("new", new)
    if before == 0:
        raise ValueError(f"old must not be 0: there is no percentage change from 0 to {new!r}")
    change = (after - before) / abs(before) * 100
    return change.numerator if change.denominator == 1 else float(change)


def _exact(name: str, value: float) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value!r}")
    return Fraction(str(value))
