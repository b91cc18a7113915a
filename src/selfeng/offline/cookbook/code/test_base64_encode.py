from base64_encode import base64_encode


def test_text_is_encoded():
    assert base64_encode(text="hello world") == "aGVsbG8gd29ybGQ="


def test_padding_depends_on_the_length():
    assert base64_encode(text="a") == "YQ=="
    assert base64_encode(text="ab") == "YWI="
    assert base64_encode(text="abc") == "YWJj"


def test_text_outside_ascii_is_encoded_as_utf8():
    assert base64_encode(text="ä") == "w6Q="


def test_empty_text_stays_empty():
    assert base64_encode(text="") == ""
