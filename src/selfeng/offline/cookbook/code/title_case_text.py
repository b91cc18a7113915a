import re


def title_case_text(text: str) -> str:
    """Write a text in title case: each word with a capital first letter, the rest of it in small letters.

    Args:
        text: The text to change.

    Returns:
        The text in title case; white space and punctuation stay as they are.
    """
    return re.sub(r"[^\W\d_]+(?:['’][^\W\d_]+)*", lambda word: word[0][:1].upper() + word[0][1:].lower(), text)
