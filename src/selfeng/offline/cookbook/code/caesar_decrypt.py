def caesar_decrypt(text: str, shift: int) -> str:
    """Decrypt a text of the Caesar cipher: shift each letter from a to z back in the alphabet.

    Args:
        text: The encrypted text.
        shift: By how many places the letters were moved forward when the text was encrypted.

    Returns:
        The plain text; capitals stay capitals, other characters stay as they are.
    """
    return "".join(_shifted(character, -shift) for character in text)


def _shifted(character: str, shift: int) -> str:
    if not (character.isascii() and character.isalpha()):
        return character
    first = ord("A") if character.isupper() else ord("a")
    return chr((ord(character) - first + shift) % 26 + first)
