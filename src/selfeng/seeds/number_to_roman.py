"""Roman numerals, writing."""

_NUMERALS = (
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
)


def number_to_roman(number: int) -> str:
    """Write a whole number from 1 to 3999 as a Roman numeral.

    Returns:
        The numeral in capital letters.

    Raises:
        TypeError: the argument is not a whole number.
        ValueError: the number is not between 1 and 3999.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"number must be a whole number, not {number!r}")
    if not 1 <= number <= 3999:
        raise ValueError(f"only numbers from 1 to 3999 have a Roman numeral, not {number}")
    numeral = ""
    for value, letters in _NUMERALS:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral
