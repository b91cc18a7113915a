from fractions import Fraction


def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature from degrees Celsius to degrees Fahrenheit.

    Args:
        celsius: The temperature in degrees Celsius.

    Returns:
        The temperature in degrees Fahrenheit; an integer where it is whole.

    Raises:
        ValueError: The temperature lies below absolute zero, -273.15 degrees Celsius.
    """
    if celsius < -273.15:
        raise ValueError(f"{celsius} degrees Celsius lie below absolute zero")
    fahrenheit = Fraction(str(celsius)) * 9 / 5 + 32
    return int(fahrenheit) if fahrenheit.denominator == 1 else float(fahrenheit)
