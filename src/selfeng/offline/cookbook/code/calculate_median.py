import statistics


def calculate_median(numbers: list[int | float]) -> float:
    """Calculate the median, the middle value, of some numbers.

    Args:
        numbers: At least one number, in any order.

    Returns:
        The middle number, or the mean of the two middle ones.

    Raises:
        ValueError: There are no numbers.
    """
    if not numbers:
        raise ValueError("numbers is empty; a median needs at least one number")
    return statistics.median(numbers)
