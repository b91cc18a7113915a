"""HTTP as tools use it: requests, what came back, who allowed them, and what was recorded.

A tool has no socket: its requests are frames, which a `Network` on the host answers.
"""

import json
from datetime import datetime
from typing import Literal, Protocol
from urllib.parse import unquote, urlsplit

from selfeng.core.value import Value

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Headers = tuple[tuple[str, str], ...]
"""In their order; names in lower case, which may repeat."""
SecretPlace = Literal["bearer", "basic", "header", "query"]
_PORTS = {"https": 443, "http": 80}


class HttpRequest(Value):
    """A request as a tool made it. It never has the value of a secret."""

    method: Method
    url: str
    """Absolute, `http` or `https`, without user, password or fragment."""
    headers: Headers = ()
    body: str = ""
    """Base64."""


class HttpResponse(Value):
    """What a server answered, after redirects, decompressed, without the values of secrets."""

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


class SecretUse(Value):
    """Where a secret goes in the requests to a host."""

    name: str
    """Of the secret; no value has one."""
    place: SecretPlace
    key: str = ""
    """Of the header or the query's parameter; the user for `basic`; "" for `bearer`."""


class NetworkAccess(Value):
    """A host that a tool needs, in the words of its specification."""

    host: str
    """A name, or an address of a private network, which only a person can write."""
    port: int = 443
    scheme: Literal["https", "http"] = "https"
    methods: tuple[Method, ...] = ("GET",)
    path: str = "/"
    """A prefix of the paths, whole segments."""
    secrets: tuple[SecretUse, ...] = ()
    purpose: str = ""
    """Why the tool needs it, in one sentence for the person."""

    def covers(self, request: HttpRequest) -> bool:
        """Whether it allows a request: scheme, host, port, method and first path segments."""
        parts = urlsplit(request.url)
        prefix = self.path.rstrip("/")
        return (
            parts.scheme == self.scheme
            and (parts.hostname or "") == self.host.lower()
            and (parts.port or _PORTS[self.scheme]) == self.port
            and request.method in self.methods
            and not {".", ".."} & set(unquote(parts.path).split("/"))
            and f"{parts.path}/".startswith(f"{prefix}/")
        )

    @property
    def key(self) -> str:
        """The same for two that allow the same; the purpose does not matter."""
        return json.dumps(self.model_dump(exclude={"purpose"}), sort_keys=True)


class Grant(Value):
    """A person's consent that a version of a tool uses a host."""

    tool: str
    version: int
    access: NetworkAccess
    owner: str
    at: datetime
    """UTC."""


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
