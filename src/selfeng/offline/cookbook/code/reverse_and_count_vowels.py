from count_vowels import count_vowels
from reverse_string import reverse_string


def reverse_and_count_vowels(text: str) -> list[str | int]:
    """Reverse a text and count the vowels of what that gives.

    Args:
        text: The text to reverse.

    Returns:
        The reversed text and the number of its vowels.
    """
    turned = reverse_string(text=text)
    return [turned, count_vowels(text=turned)]
