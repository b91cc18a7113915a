"""JSON in a form that people can read."""

import json
from typing import NoReturn


def format_json(json_text: str, indent: int = 2, sort_keys: bool = False) -> str:
    """Pretty-print a JSON text with line breaks and indentation.

    Returns:
        The same value as JSON text, one entry a line.

    Raises:
        ValueError: the text is not valid JSON, or the indent is not between 0 and 16.
    """
    if not 0 <= indent <= 16:
        raise ValueError(f"indent must be between 0 and 16, not {indent}")
    try:
        value = json.loads(json_text.lstrip("\ufeff"), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"the text is not valid JSON: {error}") from error
    return json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=False)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not part of JSON")
