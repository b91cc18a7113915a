from decimal import ROUND_HALF_UP, Decimal


def round_number(number: float, decimals: int = 0) -> float:
    """Round a number to some decimal places; halves are rounded away from zero.

    Args:
        number: The number to round.
        decimals: How many decimal places remain, from 0 to 15.

    Returns:
        The rounded number; an integer for 0 decimal places.

    Raises:
        ValueError: The decimal places are not between 0 and 15.
    """
    if not 0 <= decimals <= 15:
        raise ValueError(f"decimals must be between 0 and 15, not {decimals}")
    rounded = Decimal(str(number)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return float(rounded) if decimals else int(rounded)
