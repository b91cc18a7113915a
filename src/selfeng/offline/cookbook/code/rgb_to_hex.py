def rgb_to_hex(red: int, green: int, blue: int) -> str:
    """Convert red, green and blue parts of a color to its hexadecimal notation.

    Args:
        red: The red part from 0 to 255.
        green: The green part from 0 to 255.
        blue: The blue part from 0 to 255.

    Returns:
        The color as # and six digits in small letters.

    Raises:
        ValueError: A part is not between 0 and 255.
    """
    for part in (red, green, blue):
        if not 0 <= part <= 255:
            raise ValueError(f"parts of a color must be between 0 and 255, not {part}")
    return f"#{red:02x}{green:02x}{blue:02x}"
