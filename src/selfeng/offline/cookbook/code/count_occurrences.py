def count_occurrences(text: str, part: str) -> int:
    """Count how often a letter, word or other part occurs in a text, without overlaps.

    Args:
        text: The text to look through.
        part: What to look for; capitals matter.

    Returns:
        The number of occurrences.

    Raises:
        ValueError: The part is empty.
    """
    if not part:
        raise ValueError("part is empty; there must be something to count")
    return text.count(part)
