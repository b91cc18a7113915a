from fractions import Fraction


def pounds_to_kilograms(pounds: float) -> float:
    """Convert a weight from pounds to kilograms.

    Args:
        pounds: The weight in international pounds of 0.45359237 kilograms.

    Returns:
        The weight in kilograms.

    Raises:
        ValueError: The weight is negative.
    """
    if pounds < 0:
        raise ValueError(f"a weight is not negative, but {pounds} is")
    return float(Fraction(str(pounds)) * Fraction("0.45359237"))
