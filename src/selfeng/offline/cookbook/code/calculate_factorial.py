import math


def calculate_factorial(number: int) -> int:
    """Calculate the factorial of a whole number, the product of all numbers from 1 to it.

    Args:
        number: A whole number from 0 to 1000.

    Returns:
        The factorial; 1 for 0.

    Raises:
        ValueError: The number is negative or greater than 1000.
    """
    if not 0 <= number <= 1000:
        raise ValueError(f"number must be between 0 and 1000, not {number}")
    return math.factorial(number)
