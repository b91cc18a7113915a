import pytest
from convert_length import convert_length


def test_kilometers_to_miles():
    assert convert_length(value=5, from_unit="km", to_unit="mi") == pytest.approx(3.1068559611866697)


def test_miles_to_kilometers():
    assert convert_length(value=26.2, from_unit="mi", to_unit="km") == pytest.approx(42.1648128)


def test_centimeters_and_inches():
    assert convert_length(value=2.54, from_unit="cm", to_unit="in") == 1
    assert convert_length(value=10, from_unit="in", to_unit="cm") == pytest.approx(25.4)


def test_units_can_be_written_out():
    assert convert_length(value=3, from_unit="Feet", to_unit="inches") == 36
    assert convert_length(value=1, from_unit="nautical mile", to_unit="meters") == 1852
    assert convert_length(value=1, from_unit="kilometre", to_unit="millimetres") == 1_000_000


def test_same_unit_and_zero_stay():
    assert convert_length(value=7.25, from_unit="m", to_unit="m") == 7.25
    assert convert_length(value=0, from_unit="yd", to_unit="m") == 0


def test_unknown_units_are_refused():
    with pytest.raises(ValueError):
        convert_length(value=1, from_unit="parsec", to_unit="m")
    with pytest.raises(ValueError):
        convert_length(value=1, from_unit="m", to_unit="")


def test_values_that_are_not_numbers_are_refused():
    with pytest.raises(TypeError):
        convert_length(value="5", from_unit="km", to_unit="mi")
