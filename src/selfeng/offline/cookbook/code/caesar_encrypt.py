def caesar_encrypt(text: str, shift: int) -> str:
    """Encrypt a text with the Caesar cipher: shift each letter from a to z forward in the alphabet.

    Args:
        text: The plain text.
        shift: By how many places the letters move forward; negative moves them back.

    Returns:
        The encrypted text; capitals stay capitals, other characters stay as they are.
    """
    return "".join(_shifted(character, shift) for character in text)


def _shifted(character: str, shift: int) -> str:
    if not (character.isascii() and character.isalpha()):
        return character
    first = ord("A") if character.isupper() else ord("a")
    return chr((ord(character) - first + shift) % 26 + first)
