from url_encode import url_encode


def test_spaces_and_signs_are_encoded():
    assert url_encode(text="hello world") == "hello%20world"
    assert url_encode(text="a&b=c/d?") == "a%26b%3Dc%2Fd%3F"


def test_safe_characters_stay():
    assert url_encode(text="abc-123_x.y~z") == "abc-123_x.y~z"


def test_text_outside_ascii_is_encoded_as_utf8():
    assert url_encode(text="café") == "caf%C3%A9"


def test_empty_text_stays_empty():
    assert url_encode(text="") == ""
