from fractions import Fraction


def kilograms_to_pounds(kilograms: float) -> float:
    """Convert a weight from kilograms to pounds.

    Args:
        kilograms: The weight in kilograms.

    Returns:
        The weight in international pounds of 0.45359237 kilograms.

    Raises:
        ValueError: The weight is negative.
    """
    if kilograms < 0:
        raise ValueError(f"a weight is not negative, but {kilograms} is")
    return float(Fraction(str(kilograms)) / Fraction("0.45359237"))
