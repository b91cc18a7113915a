"""Prime numbers, told by the Miller-Rabin test."""

_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_PROVEN_BELOW = 3_317_044_064_679_887_385_961_981
"""Below this, the test with these witnesses is exact (Sorenson and Webster, 2015)."""


def is_prime(number: int) -> bool:
    """Tell whether a whole number is prime.

    Returns:
        True for a prime number; False for all others, so also for 1, 0 and negative numbers.

    Raises:
        TypeError: the argument is not a whole number.
        ValueError: the number has more than 24 digits, where the test is no longer exact.
    """
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"number must be a whole number, not {number!r}")
    if number >= _PROVEN_BELOW:
        raise ValueError(f"{number} is too large; the largest number that can be told is {_PROVEN_BELOW - 1}")
    if number < 2:
        return False
    for prime in _WITNESSES:
        if number % prime == 0:
            return number == prime
    return all(_passes(number, witness) for witness in _WITNESSES)


def _passes(number: int, witness: int) -> bool:
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    power = pow(witness, odd, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False
