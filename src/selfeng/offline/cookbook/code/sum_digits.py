def sum_digits(number: int) -> int:
    """Add up the decimal digits of a whole number.

    Args:
        number: A whole number; its sign does not matter.

    Returns:
        The sum of its digits.
    """
    return sum(int(digit) for digit in str(abs(number)))
