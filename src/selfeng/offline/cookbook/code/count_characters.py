def count_characters(text: str, include_spaces: bool = True) -> int:
    """Count the characters of a text, with or without its white space.

    Args:
        text: The text to measure.
        include_spaces: Whether spaces, tabs and line breaks count.

    Returns:
        The number of characters.
    """
    return len(text) if include_spaces else sum(not character.isspace() for character in text)
