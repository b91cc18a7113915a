"""Addresses: how far one reaches, and which a host has."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

Reach = Literal["public", "private", "forbidden"]
"""private: this machine and its own network; forbidden: neither is anything else."""
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name and port. Raises: OSError: it has none."""

_PRIVATE = [
    ip_network(network)
    for network in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1/128", "fc00::/7"),
        "100.64.0.0/10",  # carrier-grade NAT, also Tailscale's
    )
]
_METADATA = {ip_address(a) for a in ("100.100.100.200", "168.63.129.16", "fd00:ec2::254")}
"""Services that give a machine its keys, outside of 169.254.0.0/16."""
_UNICAST = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
"""The last 32 bits are an address of IPv4, RFC 6052."""
_TUNNELS = [ip_network("2001::/32"), ip_network("2002::/16")]
"""Teredo and 6to4, which hold addresses of IPv4."""
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)
"""The second quarter from the end, before an address of IPv4, RFC 5214."""


def reach_of(address: str) -> Reach:
    """How far an address reaches; one that holds an address of IPv4 reaches no farther.

    Raises: ValueError: it is not an address.
    """
    ip = ip_address(address)
    if ip in _METADATA or ip.is_multicast or ip.is_unspecified or ip.is_link_local:
        return "forbidden"
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped:
            return reach_of(str(ip.ipv4_mapped))
        if ip in _NAT64:
            inner = reach_of(str(IPv4Address(int(ip) & 0xFFFF_FFFF)))
            return "public" if inner == "public" else "forbidden"
    if any(ip in network for network in _PRIVATE):
        return "private"
    return "public" if ip.is_global and not ip.is_reserved and _is_direct(ip) else "forbidden"


def _is_direct(ip: IPv4Address | IPv6Address) -> bool:
    """Whether packets to the address go to it, and to nothing that it holds."""
    if isinstance(ip, IPv4Address):
        return True
    tunnels = any(ip in network for network in _TUNNELS) or int(ip) >> 32 & 0xFFFF_FFFF in _ISATAP
    return ip in _UNICAST and not tunnels


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses that the system has for a name, in its order. Raises: OSError."""
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))
