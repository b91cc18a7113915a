import re


def camel_to_snake(text: str) -> str:
    """Convert a name from camelCase or PascalCase to snake_case.

    Args:
        text: The name in camel case.

    Returns:
        The name in small letters with underscores between its words.
    """
    apart = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", text)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", apart).lower()
