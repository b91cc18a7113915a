"""Savings that earn interest on interest."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

_CENT = Decimal("0.01")


def compound_interest(principal: float, annual_rate: float, years: float, compounds_per_year: int = 1) -> dict[str, float]:
    """Calculate what a sum of money grows to with compound interest, and how much of that is interest.

    Returns:
        `final_amount` and `interest`, both rounded to two decimals.

    Raises:
        ValueError: the principal or the years are negative, the rate is -100 percent or less, or the interest is added less
            than once or more than 366 times a year.
    """
    if principal < 0:
        raise ValueError(f"principal must not be negative, not {principal!r}")
    if annual_rate <= -100:
        raise ValueError(f"annual_rate must be more than -100 percent, not {annual_rate!r}")
    if not 0 <= years <= 1000:
        raise ValueError(f"years must be between 0 and 1000, not {years!r}")
    if not 1 <= compounds_per_year <= 366:
        raise ValueError(f"compounds_per_year must be between 1 and 366, not {compounds_per_year!r}")
    with localcontext() as context:
        context.prec = 50
        start = Decimal(str(principal))
        growth = 1 + Decimal(str(annual_rate)) / 100 / compounds_per_year
        final = start * growth ** (Decimal(str(years)) * compounds_per_year)
        return {"final_amount": _cents(final), "interest": _cents(final - start)}


def _cents(amount: Decimal) -> float:
    return float(amount.quantize(_CENT, ROUND_HALF_EVEN))
