"""Which requests an access covers."""

import pytest

from selfeng.core.http import HttpRequest, NetworkAccess, canonical_host

API = NetworkAccess(host="api.example.org", path="/v1/rates")


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://api.example.org/v1/rates", True),
        ("https://api.example.org/v1/rates/eur?day=1", True),
        ("https://API.example.org:443/v1/rates/eur", True),
        ("https://api.example.org/v1/rates/../secrets", False),
        ("https://api.example.org/v1/rates/%2e%2e/secrets", False),
        ("https://api.example.org/v1/rates/%252e%252e/secrets", False),
        ("https://api.example.org/v1/rates/..;/secrets", False),
        ("https://api.example.org/v1/rates/..%5csecrets", False),
        ("https://api.example.org/v1/ratesheets", False),
        ("https://api.example.org/", False),
        ("http://api.example.org/v1/rates", False),
        ("https://api.example.org:8443/v1/rates", False),
        ("https://example.org/v1/rates", False),
        ("https://api.example.org.evil.org/v1/rates", False),
        ("https://api.example.org@evil.org/v1/rates", False),
    ],
)
def test_access_covers_host_port_scheme_and_whole_segments(url: str, covered: bool) -> None:
    assert API.covers(HttpRequest(method="GET", url=url)) is covered


def test_access_covers_its_methods_only() -> None:
    assert not API.covers(HttpRequest(method="POST", url="https://api.example.org/v1/rates"))


def test_the_whole_host_is_the_default() -> None:
    access = NetworkAccess(host="example.org")
    assert access.covers(HttpRequest(method="GET", url="https://example.org"))
    assert access.covers(HttpRequest(method="GET", url="https://example.org/a/b"))


def test_purpose_does_not_change_the_key() -> None:
    assert API.key == API.model_copy(update={"purpose": "Rates."}).key


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("API.Example.org", "api.example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("localhost", "localhost"),
        ("192.168.0.7", "192.168.0.7"),
        ("[FD00::0:1]", "fd00::1"),
    ],
)
def test_hosts_have_one_form(written: str, host: str) -> None:
    assert canonical_host(written) == NetworkAccess(host=written).host == host


@pytest.mark.parametrize(
    "host",
    [
        *(
            "",
            "a..b",
            "example.org.",
            "127.1",
            "0177.0.0.1",
            "0x7f000001",
            "2130706433",
            "1.2.3.4.5",
        ),
        *("a b", "a/b", "a@b", "a:80", "a%2eb", "-a.org", "x" * 64, "a\\b", "fe80::1%eth0"),
        "１２７.0.0.1",
    ],
)
def test_odd_spellings_are_no_hosts(host: str) -> None:
    with pytest.raises(ValueError, match="host"):
        NetworkAccess(host=host)
