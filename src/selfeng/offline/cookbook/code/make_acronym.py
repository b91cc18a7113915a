import re


def make_acronym(text: str) -> str:
    """Make an acronym of a phrase from the first letters of its words.

    Args:
        text: The phrase; hyphens separate words.

    Returns:
        The first letters in capitals.
    """
    return "".join(word[0].upper() for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text))
