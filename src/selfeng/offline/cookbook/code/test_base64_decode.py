import pytest
from base64_decode import base64_decode


def test_text_is_decoded():
    assert base64_decode(text="aGVsbG8gd29ybGQ=") == "hello world"


def test_padding_may_be_missing():
    assert base64_decode(text="YQ") == "a"
    assert base64_decode(text="YWI=") == "ab"


def test_text_outside_ascii():
    assert base64_decode(text="w6Q=") == "ä"


def test_empty_text_stays_empty():
    assert base64_decode(text="") == ""


def test_other_texts_are_refused():
    with pytest.raises(ValueError):
        base64_decode(text="not base64!")
    with pytest.raises(ValueError):
        base64_decode(text="/w==")
