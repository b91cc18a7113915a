import base64
import binascii


def base64_decode(text: str) -> str:
    """Decode a Base64 text.

    Args:
        text: The Base64 text, with or without its padding; white space does not matter.

    Returns:
        The decoded text.

    Raises:
        ValueError: The text is not Base64, or does not hold UTF-8 text.
    """
    compact = "".join(text.split()).rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{text!r} is not the Base64 of a text: {error}") from error
