"""Text that every database and every JSON parser accepts."""

from typing import Any


def storable(text: str) -> str:
    """The text with torn surrogate pairs joined, lone halves replaced by U+FFFD and NUL characters
    removed.
    """
    if text.isascii() and "\0" not in text:
        return text
    return (
        text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def storable_data(data: Any) -> Any:
    """The same for every string within plain data."""
    match data:
        case str():
            return storable(data)
        case dict():
            return {storable_data(key): storable_data(value) for key, value in data.items()}
        case list() | tuple():
            return [storable_data(value) for value in data]
        case _:
            return data
