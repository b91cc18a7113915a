import calendar


def days_in_month(year: int, month: int) -> int:
    """Count the days of a month.

    Args:
        year: The year, which matters for February.
        month: The month from 1 to 12.

    Returns:
        The number of days.

    Raises:
        ValueError: The month is not between 1 and 12, or the year is not between 1 and 9999.
    """
    if not 1 <= month <= 12:
        raise ValueError(f"month must be between 1 and 12, not {month}")
    if not 1 <= year <= 9999:
        raise ValueError(f"year must be between 1 and 9999, not {year}")
    return calendar.monthrange(year, month)[1]
