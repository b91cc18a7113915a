"""The distance between two dates."""

from datetime import date


def days_between(start: str, end: str) -> int:
    """Count the days from one date to another, both written as YYYY-MM-DD.

    Returns:
        How many days the end lies after the start; negative where it lies before it.

    Raises:
        TypeError: a date is not text.
        ValueError: a date is not written as YYYY-MM-DD or is not in the calendar.
    """
    return (_date("end", end) - _date("start", start)).days


def _date(name: str, text: str) -> date:
    if not isinstance(text, str):
        raise TypeError(f"{name} must be text such as '2024-03-31', not {text!r}")
    try:
        return date.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(f"{name} must be a date of the calendar written as YYYY-MM-DD, not {text!r}") from error
