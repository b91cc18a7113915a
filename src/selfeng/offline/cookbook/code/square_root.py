import math


def square_root(number: float) -> float:
    """Calculate the square root of a number.

    Args:
        number: A number that is not negative.

    Returns:
        The root that is not negative; an integer for perfect squares.

    Raises:
        ValueError: The number is negative.
    """
    if number < 0:
        raise ValueError(f"{number} is negative and has no real square root")
    root = math.sqrt(number)
    return int(root) if root.is_integer() and int(root) ** 2 == number else root
