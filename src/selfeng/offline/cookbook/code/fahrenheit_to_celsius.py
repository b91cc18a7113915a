from fractions import Fraction


def fahrenheit_to_celsius(fahrenheit: float) -> float:
    """Convert a temperature from degrees Fahrenheit to degrees Celsius.

    Args:
        fahrenheit: The temperature in degrees Fahrenheit.

    Returns:
        The temperature in degrees Celsius; an integer where it is whole.

    Raises:
        ValueError: The temperature lies below absolute zero, -459.67 degrees Fahrenheit.
    """
    if fahrenheit < -459.67:
        raise ValueError(f"{fahrenheit} degrees Fahrenheit lie below absolute zero")
    celsius = (Fraction(str(fahrenheit)) - 32) * 5 / 9
    return int(celsius) if celsius.denominator == 1 else float(celsius)
