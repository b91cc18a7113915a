import re


def hex_to_rgb(color: str) -> list[int]:
    """Convert a hexadecimal color to its red, green and blue parts.

    Args:
        color: The color with 3 or 6 hexadecimal digits, such as #ff8800 or f80.

    Returns:
        Red, green and blue, each from 0 to 255.

    Raises:
        ValueError: The text is not a hexadecimal color.
    """
    digits = color.strip().removeprefix("#")
    if not re.fullmatch(r"(?:[0-9a-fA-F]{3}){1,2}", digits):
        raise ValueError(f"{color!r} is not a hexadecimal color such as #ff8800")
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    return [int(digits[start : start + 2], 16) for start in (0, 2, 4)]
