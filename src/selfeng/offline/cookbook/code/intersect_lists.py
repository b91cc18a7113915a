def intersect_lists(first: list[int | float | str], second: list[int | float | str]) -> list[int | float | str]:
    """Find the items that two lists have in common.

    Args:
        first: One list.
        second: The other list.

    Returns:
        The common items, each once, in the order of the first list.
    """
    common = set(second)
    return [item for item in dict.fromkeys(first) if item in common]
