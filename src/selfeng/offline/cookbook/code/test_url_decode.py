from url_decode import url_decode


def test_percent_signs_are_decoded():
    assert url_decode(text="hello%20world") == "hello world"
    assert url_decode(text="a%26b%3Dc") == "a&b=c"


def test_plus_signs_become_spaces():
    assert url_decode(text="one+two%2Bthree") == "one two+three"


def test_text_outside_ascii():
    assert url_decode(text="caf%C3%A9") == "café"


def test_plain_and_empty_text_stay():
    assert url_decode(text="plain") == "plain"
    assert url_decode(text="") == ""
