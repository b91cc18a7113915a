import pytest
from format_bytes import format_bytes


def test_greatest_unit_is_chosen():
    assert format_bytes(size=2048) == "2 KiB"
    assert format_bytes(size=5242880) == "5 MiB"
    assert format_bytes(size=1073741824) == "1 GiB"


def test_one_decimal_place():
    assert format_bytes(size=1536) == "1.5 KiB"
    assert format_bytes(size=1234567) == "1.2 MiB"


def test_few_bytes_stay_bytes():
    assert format_bytes(size=1023) == "1023 B"


def test_no_bytes():
    assert format_bytes(size=0) == "0 B"


def test_negative_sizes_are_refused():
    with pytest.raises(ValueError):
        format_bytes(size=-1)
