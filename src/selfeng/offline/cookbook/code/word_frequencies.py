import re
from collections import Counter


def word_frequencies(text: str) -> dict[str, int]:
    """Count how often each word occurs in a text, whatever its capitals.

    Args:
        text: The text to look through.

    Returns:
        The words in small letters with their counts, the most frequent first and equally frequent ones by alphabet.
    """
    counts = Counter(re.findall(r"\w+(?:['’]\w+)*", text.lower()))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
