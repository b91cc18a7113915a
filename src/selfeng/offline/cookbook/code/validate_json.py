import json


def validate_json(text: str) -> bool:
    """Tell whether a text is valid JSON.

    Args:
        text: The text to look at.

    Returns:
        True for valid JSON.
    """
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not part of JSON")
