from datetime import date, timedelta


def add_days(day: str, days: int) -> str:
    """Find the date that lies a number of days after or before a date.

    Args:
        day: The date to start from, as YYYY-MM-DD.
        days: How many days to go forward; negative goes back.

    Returns:
        The date as YYYY-MM-DD.

    Raises:
        ValueError: The date is not written as YYYY-MM-DD, or the result lies outside the years 1 to 9999.
    """
    try:
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    except OverflowError as error:
        raise ValueError(f"{days} days from {day} lie outside the calendar") from error
