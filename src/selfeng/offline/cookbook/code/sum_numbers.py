import math


def sum_numbers(numbers: list[int | float]) -> float:
    """Add up all the numbers of a list.

    Args:
        numbers: The numbers to add.

    Returns:
        Their sum; 0 where there are none.
    """
    return sum(numbers) if all(isinstance(number, int) for number in numbers) else math.fsum(numbers)
