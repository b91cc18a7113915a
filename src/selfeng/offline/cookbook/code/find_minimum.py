def find_minimum(numbers: list[int | float]) -> float:
    """Find the smallest of some numbers.

    Args:
        numbers: At least one number.

    Returns:
        The smallest number.

    Raises:
        ValueError: There are no numbers.
    """
    if not numbers:
        raise ValueError("numbers is empty; there is no smallest one")
    return min(numbers)
