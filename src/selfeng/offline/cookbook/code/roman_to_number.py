import re

_NUMERAL = re.compile(r"M{0,3}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def roman_to_number(numeral: str) -> int:
    """Read a Roman numeral as a whole number.

    Args:
        numeral: A Roman numeral from I to MMMCMXCIX, in capital or small letters.

    Returns:
        The number.

    Raises:
        ValueError: The text is not a well-formed Roman numeral.
    """
    letters = numeral.strip().upper()
    if not letters or not _NUMERAL.fullmatch(letters):
        raise ValueError(f"{numeral!r} is not a Roman numeral")
    values = [_VALUES[letter] for letter in letters]
    return sum(-value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True))
