def rotate_list(items: list[int | float | str], steps: int) -> list[int | float | str]:
    """Rotate a list to the right, so that items that leave at its end come back at its beginning.

    Args:
        items: The list to rotate.
        steps: By how many places; negative rotates to the left.

    Returns:
        A new list with the items in rotated order.
    """
    if not items:
        return []
    cut = -steps % len(items)
    return items[cut:] + items[:cut]
