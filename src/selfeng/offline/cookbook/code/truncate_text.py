def truncate_text(text: str, length: int, ending: str = "...") -> str:
    """Truncate a text to a greatest length and mark the cut with an ending.

    Args:
        text: The text to shorten.
        length: The greatest number of characters, the ending included.
        ending: What stands at the end of a text that was cut.

    Returns:
        The text as it is where it is short enough, else its beginning with the ending.

    Raises:
        ValueError: The length is negative or shorter than the ending.
    """
    if length < len(ending):
        raise ValueError(f"length {length} leaves no room for the ending {ending!r}")
    return text if len(text) <= length else text[: length - len(ending)] + ending
