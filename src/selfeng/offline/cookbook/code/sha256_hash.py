import hashlib


def sha256_hash(text: str) -> str:
    """Calculate the SHA-256 hash of a text.

    Args:
        text: The text; its UTF-8 bytes are hashed.

    Returns:
        The hash as 64 hexadecimal digits in small letters.
    """
    return hashlib.sha256(text.encode()).hexdigest()
