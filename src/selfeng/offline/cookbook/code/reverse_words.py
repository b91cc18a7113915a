def reverse_words(text: str) -> str:
    """Reverse the order of the words of a text and leave each word as it is.

    Args:
        text: The words, separated by white space.

    Returns:
        The words from last to first, separated by single spaces.
    """
    return " ".join(reversed(text.split()))
