def are_anagrams(first: str, second: str) -> bool:
    """Tell whether two texts are anagrams: the same letters and digits in another order, whatever the capitals.

    Args:
        first: One text.
        second: The other text.

    Returns:
        True where both have the same letters equally often.
    """

    def letters(text: str) -> list[str]:
        return sorted(character for character in text.casefold() if character.isalnum())

    return letters(first) == letters(second)
