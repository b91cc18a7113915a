"""Text as part of a web address."""

import re
import unicodedata

_SPELLED_OUT = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "AE", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L", "&": " and "})


def slugify_text(text: str, separator: str = "-") -> str:
    """Turn a text into a slug for web addresses: lower-case ASCII letters and digits with separators between the words.

    Returns:
        The slug; "" where the text has no letters or digits that can be written in ASCII.

    Raises:
        TypeError: an argument is not text.
        ValueError: the separator is not one of `-`, `_`, `.` and `~`.
    """
    if not isinstance(text, str) or not isinstance(separator, str):
        raise TypeError(f"text and separator must be strings, not {text!r} and {separator!r}")
    if separator not in ("-", "_", ".", "~"):
        raise ValueError(f"separator must be one of - _ . ~, not {separator!r}")
    plain = unicodedata.normalize("NFKD", text.translate(_SPELLED_OUT)).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=\w)'(?=\w)", "", plain.lower()))
    return separator.join(words)
