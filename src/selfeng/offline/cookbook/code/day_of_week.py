from datetime import date

_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def day_of_week(day: str) -> str:
    """Find the day of the week of a date.

    Args:
        day: The date as YYYY-MM-DD.

    Returns:
        The English name of the weekday.

    Raises:
        ValueError: The date is not written as YYYY-MM-DD or is not in the calendar.
    """
    return _NAMES[date.fromisoformat(day).weekday()]
