def replace_text(text: str, old: str, new: str) -> str:
    """Replace every occurrence of a part of a text by another text.

    Args:
        text: The text to change.
        old: What to replace; capitals matter.
        new: What to put in its place.

    Returns:
        The changed text.

    Raises:
        ValueError: The part to replace is empty.
    """
    if not old:
        raise ValueError("old is empty; there must be something to replace")
    return text.replace(old, new)
