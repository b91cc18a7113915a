import codecs


def rot13_text(text: str) -> str:
    """Encode or decode a text with ROT13, which moves each letter by half the alphabet.

    Args:
        text: The text to encode or decode; both are the same.

    Returns:
        The text with its letters from a to z exchanged.
    """
    return codecs.encode(text, "rot13")
