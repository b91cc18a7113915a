import statistics


def calculate_mean(numbers: list[int | float]) -> float:
    """Calculate the arithmetic mean, the average, of some numbers.

    Args:
        numbers: At least one number.

    Returns:
        The mean.

    Raises:
        ValueError: There are no numbers.
    """
    if not numbers:
        raise ValueError("numbers is empty; a mean needs at least one number")
    return statistics.mean(numbers)
