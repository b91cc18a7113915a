from datetime import date


def iso_week(day: str) -> int:
    """Find the ISO 8601 week number of a date.

    Args:
        day: The date as YYYY-MM-DD.

    Returns:
        The number of the week, from 1 to 53; weeks begin on Monday and week 1 holds the year's first Thursday.

    Raises:
        ValueError: The date is not written as YYYY-MM-DD or is not in the calendar.
    """
    return date.fromisoformat(day).isocalendar().week
