"""HTTP as tools use it: requests, what came back, who allowed them, and what was recorded.

A tool has no socket: its requests are frames, which a `Network` on the host answers.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from ipaddress import ip_address
from typing import Annotated, Literal, Protocol, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from selfeng.core.value import StrictlyOptional, Value

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
READING: frozenset[Method] = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing on a server, so that a request may be repeated."""
Headers = tuple[tuple[str, str], ...]
"""In their order; names in lower case, which may repeat."""
SecretPlace = Literal["bearer", "basic", "header", "query"]
Scheme = Literal["https", "http", "postgresql"]
_PORTS: Mapping[str, int] = {"https": 443, "http": 80, "postgresql": 5432}
_ARGUMENT = re.compile(r"\{\w+\}")
_SECRET = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_NAME = re.compile(r"(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""A last label by which resolvers take the whole host for an address of IPv4."""


def canonical_host(host: str) -> str:
    """The one form of a host that is compared: a name in lower case and ASCII (IDNA), without a dot
    at its end, or an address.

    Raises:
        ValueError: it is neither, or an address in an unusual form, such as 127.1 or 0x7f000001.
    """
    with suppress(ValueError):
        return str(ip_address(host.strip("[]").replace("%", " ")))  # no zones
    if not host.isascii():
        import httpx2

        try:
            host = httpx2.URL(scheme="https", host=host).raw_host.decode()
        except httpx2.InvalidURL as error:
            raise ValueError(f"{host!r} is not the name of a host: {error}") from None
    host = host.lower()
    if not _NAME.fullmatch(host) or _NUMBER.fullmatch(host.rpartition(".")[2]):
        raise ValueError(
            f"{host[:80]!r} is not a host; write a name such as api.example.org, or an address "
            "such as 192.168.0.7"
        )
    return host


def _host_or_argument(host: str) -> str:
    return host if _ARGUMENT.fullmatch(host) else canonical_host(host)


class HttpRequest(Value):
    """A request as a tool made it. It never has the value of a secret."""

    method: Method
    url: str
    """Absolute, without user, password or fragment. A query of a database is a GET of
    `postgresql://HOST/NAME?sql=…&parameters=…`, with the parameters as JSON.
    """
    headers: Headers = ()
    body: str = ""
    """Base64."""


class HttpResponse(Value):
    """A server's response, after redirects, decompressed, without the values of secrets."""

    status: int
    headers: Headers = ()
    body: str = ""
    """Base64."""
    url: str
    """Where the last redirect led."""


class Exchange(Value):
    """A request and its response, as they are recorded with a version of a tool."""

    request: HttpRequest
    response: HttpResponse
    at: datetime
    """UTC."""
    from_call: bool = False
    """Whether a person's call made it, and no probe: then it is part of no export."""


class SecretUse(Value):
    """Where a secret goes in the requests to a host."""

    name: str
    """Of the secret; no value has one."""
    place: SecretPlace
    key: StrictlyOptional[str] = ""
    """Of the header or the query's parameter; the user for `basic`; "" for `bearer`."""


class NetworkAccess(Value):
    """A host that a tool needs, in the words of its specification."""

    host: Annotated[str, AfterValidator(_host_or_argument)]
    """A name, or an address of a private network, which only a person can write; or `{url}`: the
    host of the URL, or of each in a list, that the call's argument `url` is.
    """
    port: StrictlyOptional[Annotated[int, Field(ge=1, le=65535)]] = 443
    scheme: StrictlyOptional[Scheme] = "https"
    methods: StrictlyOptional[tuple[Method, ...]] = ("GET",)
    path: StrictlyOptional[str] = "/"
    """A prefix of the paths, whole segments."""
    private: StrictlyOptional[bool] = False
    """Whether the person allows the host to be on this machine or in its own network."""
    secrets: StrictlyOptional[tuple[SecretUse, ...]] = ()
    purpose: StrictlyOptional[str] = ""
    """Why the tool needs it, in one sentence for the person."""
    after: SkipJsonSchema[StrictlyOptional[str]] = ""
    """The host whose redirects lead here, which is the only way; "" for a host that the tool itself
    asks. No model writes it.
    """

    def covers(self, request: HttpRequest) -> bool:
        """Whether it allows a request: scheme, host, port, method and first path segments."""
        parts = urlsplit(request.url)
        prefix = self.path.rstrip("/")
        return (
            not self.argument
            and parts.scheme == self.scheme
            and (parts.hostname or "") == self.host
            and (parts.port or _PORTS[self.scheme]) == self.port
            and request.method in self.methods
            and not _climbs(parts.path)
            and f"{parts.path}/".startswith(f"{prefix}/")
        )

    @property
    def argument(self) -> str:
        """Which argument of a call has its host; "" if the host is known."""
        return self.host[1:-1] if _ARGUMENT.fullmatch(self.host) else ""

    def at(self, url: object) -> tuple[Self, ...]:
        """The access to the host of a URL, or of each in a list, none if that is not one; itself if
        its host is known. In `user:${NAME}@`, before the host, NAME is a secret.
        """
        if not self.argument:
            return (self,)
        if isinstance(url, list):
            return tuple(access for each in url for access in self.at(each))
        text = url if isinstance(url, str) else ""
        with suppress(ValueError):
            parts = urlsplit(text if "://" in text else f"{self.scheme}://{text}")
            scheme = "postgresql" if parts.scheme.startswith("postgres") else parts.scheme
            secret = _SECRET.fullmatch(parts.password or "")
            uses = [{"name": secret[1], "place": "basic", "key": parts.username}] if secret else []
            fields = {
                "host": parts.hostname,
                "scheme": scheme,
                "port": parts.port or _PORTS.get(scheme),
                "private": self.private or names_own_network(parts.hostname or ""),
                "secrets": uses or self.secrets,
            }
            if (scheme == "postgresql") == (self.scheme == "postgresql"):
                return (self.model_validate({**self.model_dump(), **fields}),)
        return ()

    def __str__(self) -> str:
        """For people and models: methods, address and secrets."""
        secrets = ", ".join(f"{use.name} as {use.key or use.place}" for use in self.secrets)
        with_secrets = f" with the secret {secrets}" if secrets else ""
        near = " in your own network" if self.private else ""
        redirected = f" where {self.after} redirects there" if self.after else ""
        return f"{self.requests}{near}{with_secrets}{redirected}"

    @property
    def requests(self) -> str:
        """Methods and address, the same in every language."""
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{', '.join(self.methods)} {self.scheme}://{self.host}{port}{self.path}"

    @property
    def name(self) -> str:
        return self.host

    @property
    def reads(self) -> bool:
        """Whether it allows only what changes nothing."""
        return READING.issuperset(self.methods)

    @property
    def key(self) -> str:
        """The same for two that allow the same; the purpose does not matter."""
        excluded = {"purpose"} if self.after else {"purpose", "after"}
        return json.dumps(self.model_dump(exclude=excluded), sort_keys=True)


def names_own_network(host: str) -> bool:
    """Whether a name or an address is one of the own network, as far as its text shows."""
    with suppress(ValueError):
        return ip_address(host).is_private
    return "." not in host or host.endswith((".local", ".lan", ".internal", ".home.arpa"))


def _climbs(path: str) -> bool:
    """Whether a server may read a segment as `.` or `..`, after it decodes the path once or twice,
    turns backslashes, or removes parameters.
    """
    segments = re.split(r"[/\\]", unquote(unquote(path)))
    return any(segment.partition(";")[0] in (".", "..") for segment in segments)


class Network(Protocol):
    """Answers the requests of one call, within the grants of the tool's version."""

    @property
    def repeatable(self) -> bool:
        """Whether its grants allow only requests that change nothing, so that a call that was
        interrupted may run again.
        """

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Raises:
        NetworkRefused: no grant covers it, a limit or the address forbids it, or the server
            does not answer.
        """
