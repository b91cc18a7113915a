"""Hosts: the names and addresses that the page may be reached under, and the origins that may send
requests.

A name that is not this machine's own is refused, because any site can point its name here; so is an
origin with another scheme, host or port.
"""

import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

_HOST = re.compile(
    r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[1-9][0-9]{0,4}))?",
    re.ASCII | re.IGNORECASE,
)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Host:
    """Name or address in lower case, and the port if it is given."""

    name: str
    port: int | None

    def same(self, host: "Host", scheme: str) -> bool:
        usual = _PORTS[scheme]
        return (self.name, self.port or usual) == (host.name, host.port or usual)


def parse_host(text: str) -> Host | None:
    """A Host header, or the rest of an origin; None unless the text is just a host, with or without
    a port.
    """
    match = _HOST.fullmatch(text)
    if match is None:
        return None
    name, port = match["name"].lower(), int(match["port"]) if match["port"] else None
    if name.startswith("["):
        try:
            name = str(IPv6Address(name[1:-1]))
        except ValueError:
            return None
    return Host(name, port) if port is None or port < 2**16 else None


class Hosts:
    """The allowed hosts: this machine's own names and addresses, and ALLOWED_HOSTS: names, or
    origins such as `https://agent.example`.

    Requests to an allowed name may come by https, as behind a proxy that ends TLS, or by http
    directly to this server; if the scheme is given, only by that.
    """

    def __init__(self, listening: str, allowed: Iterable[str], scheme: str = "http") -> None:
        """`scheme` is what this server speaks."""
        self._scheme = scheme
        hostname = socket.gethostname().lower()
        self._own_names = {
            "localhost",
            hostname,
            hostname.partition(".")[0],
            f"{hostname.partition('.')[0]}.local",
            listening.lower(),
        }
        self._schemes: dict[str, str] = {}
        for entry in allowed:
            scheme, _, name = entry.lower().rpartition("://")
            host = parse_host(name)
            self._schemes[host.name if host else name] = scheme

    def allow(self, host: Host) -> bool:
        if host.name in self._schemes:
            return True
        address = _address(host.name)
        return host.name in self._own_names if address is None else _is_own(address)

    def allow_origin(self, origin: str, host: Host) -> bool:
        """Whether a page of that origin may send requests to this server under `host`."""
        scheme, _, authority = origin.lower().partition("://")
        origin_host = parse_host(authority)
        if origin_host is None or scheme not in _PORTS:
            return False
        allowed_scheme = self._schemes.get(origin_host.name)
        if allowed_scheme is not None and scheme == (allowed_scheme or "https"):
            return True
        return not allowed_scheme and scheme == self._scheme and origin_host.same(host, scheme)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(name)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _is_own(address: IPv4Address | IPv6Address) -> bool:
    """Whether a socket can be bound to it, which works only for an address of this machine, even
    one that it got later.
    """
    if address.is_loopback:
        return True
    if address.is_unspecified or address.is_multicast or str(address) == "255.255.255.255":
        return False
    try:
        with socket.socket(
            socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM
        ) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
