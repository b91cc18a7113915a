def list_primes(limit: int) -> list[int]:
    """List all prime numbers up to a limit.

    Args:
        limit: The greatest number that may be in the list, up to 1000000.

    Returns:
        The primes in ascending order, the limit included where it is prime.

    Raises:
        ValueError: The limit is greater than 1000000.
    """
    if limit > 1_000_000:
        raise ValueError(f"limit must not be greater than 1000000, not {limit}")
    if limit < 2:
        return []
    sieve = bytearray([0, 0]) + bytearray([1]) * (limit - 1)
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = bytes(len(range(number * number, limit + 1, number)))
    return [number for number, prime in enumerate(sieve) if prime]
