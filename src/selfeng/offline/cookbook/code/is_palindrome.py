def is_palindrome(text: str) -> bool:
    """Tell whether a text is a palindrome, looking only at its letters and digits and not at capitals.

    Args:
        text: The text to look at.

    Returns:
        True where it reads the same backwards.
    """
    characters = [character for character in text.casefold() if character.isalnum()]
    return characters == characters[::-1]
