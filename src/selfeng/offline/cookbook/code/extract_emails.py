import re

_EMAIL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._%+-]*[A-Za-z0-9_%+-])?@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z]{2,}")


def extract_emails(text: str) -> list[str]:
    """Extract all e-mail addresses from a text.

    Args:
        text: The text to look through.

    Returns:
        The addresses in the order of their first appearance, each once.
    """
    return list(dict.fromkeys(_EMAIL.findall(text)))
