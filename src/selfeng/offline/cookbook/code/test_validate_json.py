from validate_json import validate_json


def test_objects_and_lists():
    assert validate_json(text='{"a": [1, 2, null]}') is True
    assert validate_json(text="[]") is True


def test_single_values():
    assert validate_json(text='"text"') is True
    assert validate_json(text="3.5") is True


def test_wrong_quotation_marks():
    assert validate_json(text="{'a': 1}") is False


def test_missing_and_superfluous_signs():
    assert validate_json(text='{"a": 1') is False
    assert validate_json(text="[1, 2,]") is False


def test_values_that_only_look_like_json():
    assert validate_json(text="NaN") is False
    assert validate_json(text="") is False
