from datetime import date


def age_on_date(birth_date: str, on_date: str) -> int:
    """Calculate how old somebody is on a date.

    Args:
        birth_date: The day of birth as YYYY-MM-DD.
        on_date: The day on which the age is asked for, as YYYY-MM-DD.

    Returns:
        The age in full years; born on a 29 February, it grows on 1 March of other years.

    Raises:
        ValueError: A date is not written as YYYY-MM-DD, or the birth lies after the other date.
    """
    born, today = date.fromisoformat(birth_date), date.fromisoformat(on_date)
    if born > today:
        raise ValueError(f"{birth_date} lies after {on_date}")
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
