import math


def is_perfect_square(number: int) -> bool:
    """Tell whether a whole number is a perfect square, the product of a whole number with itself.

    Args:
        number: The number to look at.

    Returns:
        True for a perfect square; False for all others, so also for negative numbers.
    """
    return number >= 0 and math.isqrt(number) ** 2 == number
