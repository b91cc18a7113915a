def lowercase_text(text: str) -> str:
    """Convert a text to lower case.

    Args:
        text: The text to convert.

    Returns:
        The text in small letters.
    """
    return text.lower()
