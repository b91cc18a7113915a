_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def convert_base(number: str, from_base: int, to_base: int) -> str:
    """Convert a whole number from one base to another, such as from binary to decimal.

    Args:
        number: The number as it is written in the first base; a prefix such as 0x or 0b may stand before it.
        from_base: The base in which it is written, from 2 to 36.
        to_base: The base in which to write it, from 2 to 36.

    Returns:
        The number in the other base, in small letters and without a prefix.

    Raises:
        ValueError: A base is not between 2 and 36, or the number is not written in its base.
    """
    for base in (from_base, to_base):
        if not 2 <= base <= 36:
            raise ValueError(f"a base must be between 2 and 36, not {base}")
    try:
        value = int(number, from_base)
    except ValueError as error:
        raise ValueError(f"{number!r} is not a number in base {from_base}") from error
    digits = ""
    rest = abs(value)
    while rest:
        rest, digit = divmod(rest, to_base)
        digits = _DIGITS[digit] + digits
    return ("-" if value < 0 else "") + (digits or "0")
