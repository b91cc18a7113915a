"""Counting of the words in a text."""

import re
from collections import Counter


def count_words(text):
    """How often each word occurs, whatever its capitals; punctuation belongs to no word."""
    return Counter(re.findall(r"[\w']+", text.lower()))


def most_common(text, number):
    """The most frequent words with their counts; words that are equally frequent in the order of the alphabet."""
    if number < 1:
        raise ValueError(f"{number} words can't be listed; ask for at least 1")
    return sorted(count_words(text).items(), key=lambda item: (-item[1], item[0]))[:number]
