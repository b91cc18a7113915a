def reverse_string(text: str) -> str:
    """Reverse a string, so that its last character comes first.

    Args:
        text: The string to reverse.

    Returns:
        The characters of the string in reverse order.
    """
    return text[::-1]
