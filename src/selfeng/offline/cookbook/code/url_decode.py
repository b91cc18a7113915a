from urllib.parse import unquote_plus


def url_decode(text: str) -> str:
    """Decode a text that was encoded for use inside a URL.

    Args:
        text: The encoded text.

    Returns:
        The decoded text; plus signs and %20 become spaces.
    """
    return unquote_plus(text)
