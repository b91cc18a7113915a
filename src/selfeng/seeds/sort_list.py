"""Lists in order."""


def sort_list(items: list[int | float | str], descending: bool = False) -> list[int | float | str]:
    """Sort a list of numbers by size, or a list of texts by alphabet without regard to capitals.

    Returns:
        A new list in ascending order, or in descending order where that is asked for.

    Raises:
        TypeError: the list mixes numbers and texts, or holds something else.
    """
    if all(isinstance(item, str) for item in items):
        return sorted(items, key=lambda text: (str(text).casefold(), text), reverse=descending)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int | float):
            raise TypeError(f"a list of numbers or a list of texts can be sorted, but {item!r} stands among others")
    return sorted(items, reverse=descending)
