"""Accesses whose host is in an argument: each call needs the host of its URL."""

import pytest

from selfeng.core.http import HttpRequest, NetworkAccess
from tests.registry.drafts import REVERSE


@pytest.mark.parametrize(
    ("url", "access"),
    [
        ("https://Data.Example/a?b=1", "GET https://data.example/"),
        ("data.example/a", "GET https://data.example/"),
        ("http://data.example:8080/", "GET http://data.example:8080/"),
        ("https://b\u00fccher.example/", "GET https://xn--bcher-kva.example/"),
        ("http://192.168.0.7/x", "GET http://192.168.0.7/ in your own network"),
        ("http://[::1]/x", "GET http://::1/ in your own network"),
        ("http://printer.local", "GET http://printer.local/ in your own network"),
        (
            "https://ann:${API_KEY}@data.example/",
            "GET https://data.example/ with the secret API_KEY as ann",
        ),
    ],
)
def test_a_url_names_one_host(url: str, access: str) -> None:
    (found,) = NetworkAccess(host="{url}").at(url)
    assert str(found) == access


@pytest.mark.parametrize(
    "url", ["", None, 7, "ftp://data.example/", "https://", "https://0x7f.1/", "postgresql://a.b/c"]
)
def test_what_is_no_url_allows_nothing(url: object) -> None:
    assert NetworkAccess(host="{url}").at(url) == ()


def test_an_access_whose_host_is_open_covers_nothing() -> None:
    for url in ("https://{url}/", "https://%7Burl%7D/", "https://data.example/"):
        request = HttpRequest(method="GET", url=url)
        assert not NetworkAccess(host="{url}").covers(request)


def test_calls_need_each_host_once_and_what_is_always_needed() -> None:
    accesses = (NetworkAccess(host="{pages}"), NetworkAccess(host="api.example"))
    calls = [{"pages": ["https://a.example/1", "https://a.example/2"]}, {"pages": "b.example"}, {}]
    tool = REVERSE.model_copy(update={"network": accesses})
    hosts = [access.host for access in tool.for_calls(calls).network]
    assert hosts == ["a.example", "api.example", "b.example"]
