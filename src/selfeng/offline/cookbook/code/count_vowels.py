def count_vowels(text: str) -> int:
    """Count the vowels a, e, i, o and u of a text, capital or small.

    Args:
        text: The text to look through.

    Returns:
        The number of vowels.
    """
    return sum(character in "aeiou" for character in text.lower())
