def find_maximum(numbers: list[int | float]) -> float:
    """Find the greatest of some numbers.

    Args:
        numbers: At least one number.

    Returns:
        The greatest number.

    Raises:
        ValueError: There are no numbers.
    """
    if not numbers:
        raise ValueError("numbers is empty; there is no greatest one")
    return max(numbers)
