"""Hosts: what is this machine's own, what is allowed beside it, and which origins belong to
them.
"""

import socket

import pytest

from selfeng.core.errors import ConfigurationError
from selfeng.core.settings import Settings, load_settings
from web.hosts import Host, Hosts, parse_host


@pytest.mark.parametrize(
    "text",
    [
        "[::1].evil.example", "[::1]evil", "[::1", "::1", "[127.0.0.1]", "[::1%25lo]", "[::1]:", "127.0.0.1:0", "127.0.0.1:65536", "a:b:c",
        "a b", "a,b", "a/b", "a?b", "a#b", "a\\b", "user@a", "", ":80", "ä.example", "a\n", "a:８０",
    ],
)  # fmt: skip
def test_what_is_no_host_is_none(text: str) -> None:
    assert parse_host(text) is None


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Agent.Example:80", Host("agent.example", 80)),
        ("[0::1]", Host("::1", None)),
        ("127.0.0.1", Host("127.0.0.1", None)),
    ],
)
def test_a_host_is_a_name_and_a_port(text: str, host: Host) -> None:
    assert parse_host(text) == host


def own_address() -> str:
    """One of this machine's that is not loopback, where it has one; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no other address than loopback")
        return str(probe.getsockname()[0])


def allowed(text: str, *entries: str, listening: str = "0.0.0.0") -> bool:
    host = parse_host(text)
    return host is not None and Hosts(listening, entries).allow(host)


def test_this_machine_is_reached_by_its_own_names_and_addresses() -> None:
    name = socket.gethostname()
    for own in (
        "localhost",
        "127.0.0.1",
        "127.1.2.3",
        "[::1]",
        "[::ffff:127.0.0.1]",
        name,
        f"{name.partition('.')[0]}.local",
        own_address(),
    ):
        assert allowed(f"{own}:5000"), own
    assert allowed("bound.example", listening="bound.example")


@pytest.mark.parametrize(
    "host",
    [
        "192.0.2.1",
        "[2001:db8::1]",
        "0.0.0.0",
        "[::]",
        "224.0.0.1",
        "[ff02::1]",
        "255.255.255.255",
        "2130706433",
        "127.1",
        "0x7f.1",
    ],
)
def test_other_addresses_and_other_ways_to_write_them_are_refused(host: str) -> None:
    assert not allowed(host)
    assert allowed(host, host)


@pytest.mark.parametrize(
    ("origin", "host", "entries", "may"),
    [
        ("http://127.0.0.1:5000", "127.0.0.1:5000", (), True),
        ("https://127.0.0.1:5000", "127.0.0.1:5000", (), False),
        ("http://127.0.0.1:5001", "127.0.0.1:5000", (), False),
        ("http://localhost:5000", "127.0.0.1:5000", (), False),
        ("http://localhost", "localhost:80", (), True),
        ("ws://localhost", "localhost", (), False),
        ("http://[::1]:5000", "[0:0::1]:5000", (), True),
        ("http://[::1].evil.example", "[::1]", (), False),
        ("null", "localhost", (), False),
        ("https://agent.example", "127.0.0.1:5000", ("agent.example",), True),
        ("https://agent.example:8443", "agent.example", ("agent.example",), True),
        ("http://agent.example", "127.0.0.1:5000", ("agent.example",), False),
        ("http://agent.example:5000", "agent.example:5000", ("agent.example",), True),
        ("https://agent.example", "agent.example", ("https://agent.example",), True),
        ("http://agent.example", "agent.example", ("https://agent.example",), False),
        ("http://agent.example", "127.0.0.1:5000", ("http://agent.example",), True),
        ("https://agent.example.evil.example", "agent.example", ("agent.example",), False),
    ],
)
def test_an_origin_is_compared_by_scheme_host_and_port(
    origin: str, host: str, entries: tuple[str, ...], may: bool
) -> None:
    parsed = parse_host(host)
    assert parsed
    assert Hosts("127.0.0.1", entries).allow_origin(origin, parsed) is may


@pytest.mark.parametrize(
    "entry",
    [
        "agent.example:443",
        "https://agent.example/",
        "*.example",
        "agent example",
        "ftp://agent.example",
    ],
)
def test_an_allowed_host_that_can_be_none_is_named(
    monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", f"fine.example, {entry}")
    with pytest.raises(
        ConfigurationError, match=r"ALLOWED_HOSTS=.*should be a host such as agent\.example"
    ):
        load_settings(None)
    assert Settings(
        _env_file=None, allowed_hosts="a.example,https://b.example,[::1]"
    ).allowed_hosts == (
        "a.example",
        "https://b.example",
        "[::1]",
    )
