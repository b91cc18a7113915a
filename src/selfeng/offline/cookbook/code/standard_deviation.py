import statistics


def standard_deviation(numbers: list[int | float], population: bool = False) -> float:
    """Calculate the standard deviation of some numbers, as of a sample or of a whole population.

    Args:
        numbers: At least two numbers, or at least one of a population.
        population: Whether the numbers are the whole population, so that the sum of squares is divided by n and not n - 1.

    Returns:
        The standard deviation.

    Raises:
        ValueError: There are too few numbers.
    """
    if len(numbers) < (1 if population else 2):
        raise ValueError(f"there are too few numbers for a standard deviation: {numbers}")
    return statistics.pstdev(numbers) if population else statistics.stdev(numbers)
