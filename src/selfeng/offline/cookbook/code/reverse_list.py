from typing import Any


def reverse_list(items: list[Any]) -> list[Any]:
    """Reverse the order of the items of a list.

    Args:
        items: The list to reverse.

    Returns:
        A new list with the items from last to first.
    """
    return items[::-1]
