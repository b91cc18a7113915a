import pytest
from compound_interest import compound_interest


def test_yearly_interest():
    assert compound_interest(principal=1000, annual_rate=5, years=10) == {"final_amount": 1628.89, "interest": 628.89}
    assert compound_interest(principal=100, annual_rate=10, years=2) == {"final_amount": 121.0, "interest": 21.0}


def test_monthly_interest_grows_faster():
    assert compound_interest(principal=1000, annual_rate=12, years=1, compounds_per_year=12) == {
        "final_amount": 1126.83,
        "interest": 126.83,
    }


def test_no_time_or_no_rate_means_no_interest():
    assert compound_interest(principal=500, annual_rate=4, years=0) == {"final_amount": 500.0, "interest": 0.0}
    assert compound_interest(principal=500, annual_rate=0, years=7) == {"final_amount": 500.0, "interest": 0.0}


def test_parts_of_a_year_count():
    assert compound_interest(principal=400, annual_rate=21, years=0.5) == {"final_amount": 440.0, "interest": 40.0}


def test_negative_rates_shrink_the_sum():
    assert compound_interest(principal=200, annual_rate=-50, years=1) == {"final_amount": 100.0, "interest": -100.0}


def test_senseless_values_are_refused():
    with pytest.raises(ValueError):
        compound_interest(principal=-1, annual_rate=5, years=1)
    with pytest.raises(ValueError):
        compound_interest(principal=1, annual_rate=-100, years=1)
    with pytest.raises(ValueError):
        compound_interest(principal=1, annual_rate=5, years=-1)
    with pytest.raises(ValueError):
        compound_interest(principal=1, annual_rate=5, years=1, compounds_per_year=0)
