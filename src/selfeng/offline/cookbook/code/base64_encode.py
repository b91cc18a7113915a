import base64


def base64_encode(text: str) -> str:
    """Encode a text as Base64.

    Args:
        text: The text; its UTF-8 bytes are encoded.

    Returns:
        The Base64 text.
    """
    return base64.b64encode(text.encode()).decode()
