_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def format_bytes(size: int) -> str:
    """Write a number of bytes so that people can read it, in binary units such as KiB and MiB.

    Args:
        size: The number of bytes.

    Returns:
        The size in the greatest unit of which it is at least one, with at most one decimal place.

    Raises:
        ValueError: The size is negative.
    """
    if size < 0:
        raise ValueError(f"a size is not negative, but {size} is")
    power = 0
    while power < len(_UNITS) - 1 and size >= 1024 ** (power + 1):
        power += 1
    return f"{size / 1024**power:.1f}".removesuffix(".0") + f" {_UNITS[power]}"
