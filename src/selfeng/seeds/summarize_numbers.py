"""The usual statistics of some numbers."""

import math
import statistics


def summarize_numbers(numbers: list[int | float]) -> dict[str, float | None]:
    """Summarize numbers by their count, sum, mean, median, minimum, maximum and sample standard deviation.

    Returns:
        The statistics by name; the standard deviation of a single number is null.

    Raises:
        TypeError: one of the values is not a number.
        ValueError: there are no numbers, or one is not finite.
    """
    if not numbers:
        raise ValueError("numbers is empty; a summary needs at least one number")
    for value in numbers:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{value!r} is not a number")
        if not math.isfinite(value):
            raise ValueError(f"{value!r} is not finite")
    whole = all(isinstance(value, int) for value in numbers)
    return {
        "count": len(numbers),
        "sum": sum(numbers) if whole else math.fsum(numbers),
        "mean": statistics.mean(numbers),
        "median": statistics.median(numbers),
        "minimum": min(numbers),
        "maximum": max(numbers),
        "standard_deviation": statistics.stdev(numbers) if len(numbers) > 1 else None,
    }
