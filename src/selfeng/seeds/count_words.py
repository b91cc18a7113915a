"""Words of a text."""

import re

_WORD = re.compile(r"\w+(?:['’\-]\w+)*")


def count_words(text: str) -> int:
    """Count the words of a text; contractions and words with a hyphen count once, punctuation does not count.

    Returns:
        The number of words.

    Raises:
        TypeError: the argument is not text.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, not {text!r}")
    return len(_WORD.findall(text))
