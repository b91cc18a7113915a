_LETTERS = {
    **dict(zip([".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---"], "ABCDEFGHIJ", strict=True)),
    **dict(zip(["-.-", ".-..", "--", "-.", "---", ".--.", "--.-", ".-.", "...", "-"], "KLMNOPQRST", strict=True)),
    **dict(zip(["..-", "...-", ".--", "-..-", "-.--", "--.."], "UVWXYZ", strict=True)),
    **dict(zip(["-----", ".----", "..---", "...--", "....-"], "01234", strict=True)),
    **dict(zip([".....", "-....", "--...", "---..", "----."], "56789", strict=True)),
    **{".-.-.-": ".", "--..--": ",", "..--..": "?", "-.-.--": "!", ".----.": "'", "-..-.": "/", "-....-": "-", ".--.-.": "@"},
}


def morse_to_text(morse: str) -> str:
    """Read Morse code as text.

    Args:
        morse: Dots and dashes, a space between letters and a slash between words.

    Returns:
        The text in capital letters.

    Raises:
        ValueError: A group of dots and dashes stands for no character.
    """
    words = morse.replace("−", "-").replace("·", ".").split("/")
    return " ".join("".join(_letter(code) for code in word.split()) for word in words if word.strip())


def _letter(code: str) -> str:
    if code not in _LETTERS:
        raise ValueError(f"{code!r} is not Morse code")
    return _LETTERS[code]
