def fibonacci_sequence(count: int) -> list[int]:
    """List the first numbers of the Fibonacci sequence, which begins with 0 and 1.

    Args:
        count: How many numbers to list, from 0 to 1000.

    Returns:
        The numbers in order.

    Raises:
        ValueError: The count is negative or greater than 1000.
    """
    if not 0 <= count <= 1000:
        raise ValueError(f"count must be between 0 and 1000, not {count}")
    numbers = []
    current, following = 0, 1
    for _ in range(count):
        numbers.append(current)
        current, following = following, current + following
    return numbers
