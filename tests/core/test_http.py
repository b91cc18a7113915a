"""Which requests an access covers."""

import pytest

from selfeng.core.http import HttpRequest, NetworkAccess

API = NetworkAccess(host="api.example.org", path="/v1/rates")


@pytest.mark.parametrize(
    ("url", "covered"),
    [
        ("https://api.example.org/v1/rates", True),
        ("https://api.example.org/v1/rates/eur?day=1", True),
        ("https://API.example.org:443/v1/rates/eur", True),
        ("https://api.example.org/v1/rates/../secrets", False),
        ("https://api.example.org/v1/rates/%2e%2e/secrets", False),
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
