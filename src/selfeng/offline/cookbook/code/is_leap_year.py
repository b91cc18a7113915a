def is_leap_year(year: int) -> bool:
    """Tell whether a year is a leap year of the Gregorian calendar.

    Args:
        year: The year.

    Returns:
        True for a year of 366 days.
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
