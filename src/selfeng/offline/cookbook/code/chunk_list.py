def chunk_list(items: list[int | float | str], size: int) -> list[list[int | float | str]]:
    """Split a list into chunks of a given size.

    Args:
        items: The list to split.
        size: How many items each chunk has, at least 1.

    Returns:
        The chunks in order; the last one may be shorter.

    Raises:
        ValueError: The size is below 1.
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    return [items[start : start + size] for start in range(0, len(items), size)]
