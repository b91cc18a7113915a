import pytest
from evaluate_expression import evaluate_expression


def test_precedence_and_brackets():
    assert evaluate_expression(expression="2 + 3 * 4") == 14
    assert evaluate_expression(expression="(2 + 3) * 4") == 20


def test_division():
    assert evaluate_expression(expression="7 / 2") == 3.5
    assert evaluate_expression(expression="8 / 2") == 4
    assert evaluate_expression(expression="7 // 2 + 7 % 2") == 4


def test_powers_and_signs():
    assert evaluate_expression(expression="2 ** 10") == 1024
    assert evaluate_expression(expression="-3^2 + +1") == -8


def test_typographic_signs():
    assert evaluate_expression(expression="6 × 7 − 10 ÷ 4") == 39.5


def test_division_by_zero_is_refused():
    with pytest.raises(ValueError):
        evaluate_expression(expression="1 / 0")


def test_anything_but_arithmetic_is_refused():
    with pytest.raises(ValueError):
        evaluate_expression(expression="__import__('os')")
    with pytest.raises(ValueError):
        evaluate_expression(expression="2 +")
    with pytest.raises(ValueError):
        evaluate_expression(expression="")


def test_senselessly_large_powers_are_refused():
    with pytest.raises(ValueError):
        evaluate_expression(expression="9 ** 9 ** 9")
