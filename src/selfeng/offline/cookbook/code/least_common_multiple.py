import math


def least_common_multiple(numbers: list[int]) -> int:
    """Find the least common multiple of two or more whole numbers.

    Args:
        numbers: At least two whole numbers.

    Returns:
        The smallest positive number that all of them divide; 0 where one of them is 0.

    Raises:
        ValueError: There are fewer than two numbers.
    """
    if len(numbers) < 2:
        raise ValueError(f"a common multiple needs at least two numbers, not {numbers}")
    return math.lcm(*numbers)
