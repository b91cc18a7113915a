"""Whole numbers as products of primes."""

_LARGEST = 10**13


def prime_factors(number: int) -> list[int]:
    """Factorize a whole number from 1 up into its prime factors.

    Returns:
        The factors in ascending order, each as often as it divides the number; nothing for 1.

    Raises:
        TypeError: the argument is not a whole number.
        ValueError: the number is below 1 or above ten trillion.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"number must be a whole number, not {number!r}")
    if not 1 <= number <= _LARGEST:
        raise ValueError(f"number must be between 1 and {_LARGEST}, not {number}")
    factors, rest, divisor = [], number, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1 if divisor == 2 else 2
    return [*factors, rest] if rest > 1 else factors
