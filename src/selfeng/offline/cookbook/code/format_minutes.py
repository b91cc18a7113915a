def format_minutes(minutes: int) -> str:
    """Write a number of minutes as hours and minutes in the form h:mm.

    Args:
        minutes: The whole minutes.

    Returns:
        The hours, a colon and the remaining minutes with two digits.

    Raises:
        ValueError: The minutes are negative.
    """
    if minutes < 0:
        raise ValueError(f"minutes must not be negative, not {minutes}")
    return f"{minutes // 60}:{minutes % 60:02d}"
