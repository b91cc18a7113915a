"""Words for people."""


def shortened(text: str, limit: int) -> str:
    """The text; of a longer one the beginning and the end, `limit` characters in all, with the
    number of characters left out between them.
    """
    if len(text) <= limit:
        return text
    tail = limit // 4
    return (
        f"{text[: limit - tail]}\n… ({len(text) - limit} of {len(text)} characters are left "
        f"out) …\n{text[len(text) - tail :]}"
    )


def count(number: int, noun: str) -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
