"""Lengths in metric and imperial units."""

import math
from fractions import Fraction

_METERS = {
    "mm": Fraction(1, 1000),
    "cm": Fraction(1, 100),
    "m": Fraction(1),
    "km": Fraction(1000),
    "in": Fraction(254, 10_000),
    "ft": Fraction(3048, 10_000),
    "yd": Fraction(9144, 10_000),
    "mi": Fraction(1_609_344, 1000),
    "nmi": Fraction(1852),
}
_NAMES = {
    "mm": ("millimeter", "millimetre"),
    "cm": ("centimeter", "centimetre"),
    "m": ("meter", "metre"),
    "km": ("kilometer", "kilometre"),
    "in": ("inch",),
    "ft": ("foot", "feet"),
    "yd": ("yard",),
    "mi": ("mile",),
    "nmi": ("nautical mile",),
}
_UNITS = {name: unit for unit, names in _NAMES.items() for n in names for name in (unit, n, n + "s", n + "es")}


def convert_length(value: float, from_unit: str, to_unit: str) -> float:
    """Convert a length between millimeters, centimeters, meters, kilometers, inches, feet, yards, miles and nautical miles.

    Returns:
        The length in the wanted unit; an integer where it is whole.

    Raises:
        TypeError: the value is not a number.
        ValueError: a unit is not known, or the value is not finite.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"value must be a number, not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"value must be finite, not {value!r}")
    length = Fraction(str(value)) * _meters(from_unit) / _meters(to_unit)
    return length.numerator if length.denominator == 1 else float(length)


def _meters(unit: str) -> Fraction:
    known = _UNITS.get(unit.strip().lower())
    if known is None:
        raise ValueError(f"unknown unit of length {unit!r}; known are {', '.join(_METERS)}")
    return _METERS[known]
