from urllib.parse import quote


def url_encode(text: str) -> str:
    """Encode a text for use inside a URL, with percent signs for all characters that are not safe there.

    Args:
        text: The text to encode.

    Returns:
        The encoded text; a space becomes %20.
    """
    return quote(text, safe="")
