def snake_to_camel(text: str) -> str:
    """Convert a name from snake_case to camelCase.

    Args:
        text: The name with underscores between its words.

    Returns:
        The name in camel case, beginning with a small letter.
    """
    words = [word.lower() for word in text.split("_") if word]
    return "".join(word if i == 0 else word.capitalize() for i, word in enumerate(words))
