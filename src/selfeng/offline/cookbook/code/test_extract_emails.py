from extract_emails import extract_emails


def test_addresses_come_in_order():
    assert extract_emails(text="Write to ann@example.com or bob@test.org.") == ["ann@example.com", "bob@test.org"]


def test_dots_and_plus_signs_belong_to_addresses():
    assert extract_emails(text="<first.last+tag@mail.example.co.uk>") == ["first.last+tag@mail.example.co.uk"]


def test_repeated_addresses_come_once():
    assert extract_emails(text="a@b.io, a@b.io") == ["a@b.io"]


def test_incomplete_addresses_are_no_addresses():
    assert extract_emails(text="ann@localhost, @example.com, ann at example.com") == []


def test_empty_text_has_none():
    assert extract_emails(text="") == []
