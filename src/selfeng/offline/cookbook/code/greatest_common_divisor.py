import math


def greatest_common_divisor(numbers: list[int]) -> int:
    """Find the greatest common divisor of two or more whole numbers.

    Args:
        numbers: At least two whole numbers.

    Returns:
        The greatest whole number that divides all of them; 0 where all are 0.

    Raises:
        ValueError: There are fewer than two numbers.
    """
    if len(numbers) < 2:
        raise ValueError(f"a common divisor needs at least two numbers, not {numbers}")
    return math.gcd(*numbers)
