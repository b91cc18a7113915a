def remove_duplicates(items: list[int | float | str]) -> list[int | float | str]:
    """Remove duplicates from a list and keep the order of first appearance.

    Args:
        items: Numbers or texts.

    Returns:
        A new list with each item once.
    """
    return list(dict.fromkeys(items))
