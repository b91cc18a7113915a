def uppercase_text(text: str) -> str:
    """Convert a text to upper case.

    Args:
        text: The text to convert.

    Returns:
        The text in capital letters.
    """
    return text.upper()
