_CODES = {
    **dict(zip("ABCDEFGHIJ", [".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---"], strict=True)),
    **dict(zip("KLMNOPQRST", ["-.-", ".-..", "--", "-.", "---", ".--.", "--.-", ".-.", "...", "-"], strict=True)),
    **dict(zip("UVWXYZ", ["..-", "...-", ".--", "-..-", "-.--", "--.."], strict=True)),
    **dict(zip("01234", ["-----", ".----", "..---", "...--", "....-"], strict=True)),
    **dict(zip("56789", [".....", "-....", "--...", "---..", "----."], strict=True)),
    **{".": ".-.-.-", ",": "--..--", "?": "..--..", "!": "-.-.--", "'": ".----.", "/": "-..-.", "-": "-....-", "@": ".--.-."},
}


def text_to_morse(text: str) -> str:
    """Write a text in Morse code.

    Args:
        text: The text: letters from a to z, digits and common punctuation.

    Returns:
        Dots and dashes, a space between letters and a slash between words.

    Raises:
        ValueError: A character has no Morse code.
    """
    return " / ".join(" ".join(_code(character) for character in word) for word in text.upper().split())


def _code(character: str) -> str:
    if character not in _CODES:
        raise ValueError(f"{character!r} has no Morse code")
    return _CODES[character]
