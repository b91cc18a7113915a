def second_largest(numbers: list[int | float]) -> float:
    """Find the second largest of some numbers; equal numbers count once.

    Args:
        numbers: Numbers with at least two different values.

    Returns:
        The greatest number below the maximum.

    Raises:
        ValueError: There are fewer than two different values.
    """
    values = sorted(set(numbers))
    if len(values) < 2:
        raise ValueError(f"{numbers} has fewer than two different values")
    return values[-2]
