"""The broker: sends the requests of tools, which have no socket, and no others.

Each request has a connection of its own, directly to an address that was checked: neither a second
answer of DNS nor a proxy of the environment can put another in its place. Redirects are followed
here, and each is checked as the request was.
"""

import asyncio
import base64
import json
import logging
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

import httpx2

from selfeng.core.bounded_reply import BoundedReply, ReplyTooLarge
from selfeng.core.errors import AgentError, NetworkRefused
from selfeng.core.files import MB
from selfeng.core.http import (
    Exchange,
    Headers,
    HttpRequest,
    HttpResponse,
    NetworkAccess,
    SecretUse,
    canonical_host,
    names_own_network,
)
from selfeng.core.network import untrusted
from selfeng.core.places import VERSION
from selfeng.core.secrets import Masker
from selfeng.core.visible import one_line
from selfeng.servers.addresses import Resolve, reach_of, resolve
from selfeng.servers.databases import query

# It writes the headers of responses, which may repeat a secret.
logging.getLogger("httpcore2").setLevel(logging.INFO)

_SENT = {
    *("accept", "accept-language", "content-type", "content-language", "idempotency-key"),
    *("if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range"),
    *("prefer", "range", "user-agent", "x-requested-with", "x-request-id"),
    *("webhook-id", "webhook-timestamp", "webhook-signature"),
}
"""Headers that a tool may set, in addition to those that end in `-version`."""
_OURS = {
    *("host", "connection", "content-length", "transfer-encoding", "accept-encoding", "te"),
    *("keep-alive", "proxy-connection", "trailer", "upgrade", "expect"),
}
"""Headers of a connection, which clients add by themselves, and of which the broker has its own."""
_HIDDEN = _OURS | {"set-cookie", "set-cookie2", "content-encoding", "clear-site-data", "alt-svc"}
"""Headers of a response that no tool gets."""
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")
_MOST_HEADERS, _LONGEST_HEADER = 64, 4096
_MOST_ADDRESSES = 3
"""How many of a host's addresses are tried."""
_CONNECTING = 10.0
"""Seconds for one of them."""
_REDIRECTS = (301, 302, 303, 307, 308)
_PACKED = ("", "identity", "gzip", "x-gzip", "deflate")
_SHOWN = 80
"""Characters of a path that an error shows."""

Route = Callable[[str, int], tuple[str, int]]
"""Where an address and port are reached."""


class BrokerLimits(NamedTuple):
    """The limits of one request, or of all of them."""

    size: int = 8 * MB
    """Bytes of a body, unpacked."""
    seconds: float = 30.0
    """From its turn to its last byte, redirects included."""
    redirects: int = 5
    at_once: int = 4
    """Requests of a call that are under way."""
    rate: float = 5.0
    """Requests to a host, of all calls, in a second."""
    burst: int = 10
    """Requests to a host that need not wait for each other."""
    rows: int = 20_000
    """Rows that a query of a database may give."""


class Broker:
    """Used on one event loop."""

    def __init__(
        self,
        secret: Callable[[str], str],
        *,
        resolve: Resolve = resolve,
        route: Route = lambda address, port: (address, port),
        authorities: str = "",
        limits: BrokerLimits = BrokerLimits(),  # noqa: B008 - frozen
    ) -> None:
        """`secret`: the value of a name; blocks, and raises AgentError without one. `resolve`,
        `route`: DNS and the way to its addresses; `authorities`: a PEM file with more certificate
        authorities than the system's.
        """
        self._secret, self._resolve, self._route = secret, resolve, route
        self._authorities, self._limits = authorities, limits
        self._context: ssl.SSLContext | None = None
        self._free = dict[str, float]()

    def network(
        self, accesses: Sequence[NetworkAccess], on_exchange: Callable[[Exchange], None]
    ) -> "BrokeredNetwork":
        """The network of one call. `on_exchange` gets each request that was answered."""
        return BrokeredNetwork(self, accesses, on_exchange, self._limits)

    async def values(self, uses: Iterable[SecretUse]) -> dict[str, str]:
        """The values of secrets by their names. Raises: NetworkRefused: one has none."""
        try:
            return {use.name: await asyncio.to_thread(self._secret, use.name) for use in uses}
        except AgentError as error:
            raise NetworkRefused(error.message, error.remedy) from None

    async def wait(self, host: str) -> None:
        """Wait until a request may go to the host."""
        now = asyncio.get_running_loop().time()
        if len(self._free) > 1000:
            self._free = {name: at for name, at in self._free.items() if at > now}
        begin = max(self._free.get(host, 0.0), now - self._limits.burst / self._limits.rate)
        self._free[host] = begin + 1 / self._limits.rate
        await asyncio.sleep(max(0.0, self._free[host] - now))

    async def addresses(self, access: NetworkAccess) -> Sequence[str]:
        """The addresses of its host, each of which it allows. Raises: NetworkRefused."""
        host = access.host
        try:
            addresses = [host] if _is_address(host) else await self._resolve(host, access.port)
            reaches = {address: reach_of(address) for address in addresses}
        except (OSError, ValueError) as error:
            raise NetworkRefused(f"{host} has no address: {error}", "check the name") from None
        for address, reach in reaches.items():
            if reach == "forbidden":
                raise NetworkRefused(f"{host} has the address {address}, which no tool may reach")
            if reach == "private" and not access.private:
                raise NetworkRefused(
                    f"{host} has the address {address}, which is private",
                    "the person can allow the tool to use this host in the own network, or name "
                    "its address instead",
                )
        return list(reaches)

    @asynccontextmanager
    async def open(
        self, access: NetworkAccess, request: httpx2.Request
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request, which names its host, to one of its addresses; the body is not read.

        Raises:
            NetworkRefused: an address is not allowed.
            httpx2.TransportError: none of them answers.
        """
        if self._context is None:
            self._context = await asyncio.to_thread(self.trusted)
        last: httpx2.TransportError = httpx2.ConnectError("it has no address")
        for address in (await self.addresses(access))[:_MOST_ADDRESSES]:
            to, port = self._route(address, access.port)
            pinned = httpx2.Request(
                request.method,
                request.url.copy_with(host=to, port=port),
                headers=request.headers,  # with the host's name
                content=request.content,
                extensions={"sni_hostname": access.host, "timeout": {"connect": _CONNECTING}},
            )
            transport = httpx2.AsyncHTTPTransport(verify=self._context, trust_env=False)
            async with transport:
                try:
                    response = await transport.handle_async_request(pinned)
                except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                    last = error
                    continue
                yield response
                return
        raise last

    async def place(self, access: NetworkAccess) -> tuple[str, str, int]:
        """An address of its host, and where that and its port are reached. Raises:
        NetworkRefused.
        """
        address = (await self.addresses(access))[0]
        return address, *self._route(address, access.port)

    def trusted(self) -> ssl.SSLContext:
        """For connections that check the server's certificate. Blocking."""
        context = httpx2.create_ssl_context()
        if self._authorities:
            context.load_verify_locations(self._authorities)
        return context

    async def server(self, access: NetworkAccess, name: str, user: str) -> dict[str, Any]:
        """The options for a connection to a database. Raises: NetworkRefused."""
        address, to, port = await self.place(access)
        return {
            "host": access.host,
            "hostaddr": to,
            "port": port,
            "dbname": name,
            "user": user,
            "sslmode": "prefer" if reach_of(address) == "private" else "verify-full",
            **({"sslrootcert": self._authorities} if self._authorities else {}),
        }


class BrokeredNetwork:
    """Implements `Network`."""

    def __init__(
        self,
        broker: Broker,
        accesses: Sequence[NetworkAccess],
        on_exchange: Callable[[Exchange], None],
        limits: BrokerLimits,
    ) -> None:
        self._broker, self._accesses, self._on_exchange = broker, accesses, on_exchange
        self._limits, self._slots = limits, asyncio.Semaphore(limits.at_once)
        self._uses = {use.name: use for access in accesses for use in access.secrets}
        self.repeatable = all(access.reads for access in accesses)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Raises:
        NetworkRefused: no access covers the request or a redirect, a limit, a header or the
            address forbids it, or the server does not answer.
        """
        masker = Masker({})
        try:
            sent = _Sent.of(request, self._limits.size)
            self._access(sent)
            values = await self._broker.values(self._uses.values())
            masker = Masker(values)
            answer = self._rows if sent.url.scheme == "postgresql" else self._follow
            async with self._slots:
                response = await answer(sent, values, masker)
        except (httpx2.HTTPError, ReplyTooLarge, ssl.SSLError) as error:
            raise NetworkRefused(*_failure(request, error, masker)) from None
        except TimeoutError:
            limit = f"{self._limits.seconds:g} seconds"
            raise NetworkRefused(f"{_host(request.url)} took more than {limit}") from None
        recorded = request.model_copy(
            update={
                "url": masker.text(request.url),
                "headers": tuple((name, masker.text(value)) for name, value in sent.headers),
            }
        )
        self._on_exchange(Exchange(request=recorded, response=response, at=datetime.now(UTC)))
        return response

    async def _follow(
        self, sent: "_Sent", values: Mapping[str, str], masker: Masker
    ) -> HttpResponse:
        """The response to a request, after redirects. Secrets go to the first origin only."""
        origin, first, after = sent.origin, sent.host, ""
        async with asyncio.timeout(None) as limit:
            for _ in range(self._limits.redirects + 1):
                access = self._access(sent, after)
                await self._broker.wait(access.host)
                if limit.when() is None:
                    limit.reschedule(asyncio.get_running_loop().time() + self._limits.seconds)
                uses = access.secrets if sent.origin == origin else ()
                async with self._broker.open(access, sent.with_secrets(uses, values)) as response:
                    location = masker.text(response.headers.get("location", ""))
                    if response.status_code in _REDIRECTS and location:
                        sent = sent.redirected(response.status_code, location)
                        after = first
                        continue
                    body = await _read(response, self._limits.size)
                    return HttpResponse(
                        status=response.status_code,
                        headers=_usual_headers(response.headers, masker),
                        body=base64.b64encode(masker.bytes(body)).decode(),
                        url=masker.text(sent.address),
                    )
        raise NetworkRefused(f"{sent.host} redirects more than {self._limits.redirects} times")

    async def _rows(self, sent: "_Sent", values: Mapping[str, str], masker: Masker) -> HttpResponse:
        """The response to a query of a database: its rows, or the status 400 and `error`."""
        access, limits, status = self._access(sent), self._limits, 200
        await self._broker.wait(access.host)
        fields = dict(parse_qsl(sent.url.query.decode()))
        user = next((use.key for use in access.secrets), fields.get("user", ""))
        server = await self._broker.server(access, unquote(sent.url.path.strip("/")), user)
        server["password"] = next((values[use.name] for use in access.secrets), "")
        try:
            body = await query(
                server, fields, rows=limits.rows, size=limits.size, seconds=limits.seconds
            )
        except ValueError as error:
            status, body = 400, json.dumps({"error": str(error)})
        return HttpResponse(
            status=status,
            headers=(("content-type", "application/json"),),
            body=base64.b64encode(masker.text(body).encode()).decode(),
            url=masker.text(sent.address),
        )

    def _access(self, sent: "_Sent", after: str = "") -> NetworkAccess:
        """The access that covers a request, to which the host `after` redirects, if one does.
        Raises: NetworkRefused: none does.
        """
        request = HttpRequest(method=sent.method, url=sent.address)
        for access in self._accesses:
            if access.after in ("", after) and access.covers(request):
                return access
        if after and (redirect := _redirect_access(sent, after)):
            error = NetworkRefused(
                f"{after} redirects to {sent.origin}, which is not allowed",
                "ask for it in a conversation, where the person is asked",
            )
            error.lacks = redirect
            raise error
        allowed = ", ".join(
            f"{'/'.join(a.methods)} {a.scheme}://{a.host}:{a.port}{a.path}" for a in self._accesses
        )
        raise NetworkRefused(
            one_line(f"{sent.method} {sent.address.partition('?')[0][:_SHOWN]} is not allowed"),
            f"the tool needs an access to {sent.method} {sent.origin}; it has {allowed or 'none'}",
            host=sent.host,
            method=sent.method,
        )


class _Sent(NamedTuple):
    """A request that was checked, before it gets its secrets."""

    method: str
    url: httpx2.URL
    headers: Headers
    body: bytes

    @classmethod
    def of(cls, request: HttpRequest, largest: int) -> "_Sent":
        """Raises: NetworkRefused: its address, a header or the body can't be sent."""
        try:
            body = base64.b64decode(request.body, validate=True)
        except ValueError:
            raise NetworkRefused("the request's body is not base64") from None
        if len(body) > largest:
            raise NetworkRefused(f"the request's body is larger than {largest // MB} MB")
        return cls(request.method, _canonical(request.url), tuple(_sendable(request)), body)

    @property
    def host(self) -> str:
        return self.url.raw_host.decode()

    @property
    def origin(self) -> str:
        return f"{self.url.scheme}://{self.url.netloc.decode()}"

    @property
    def address(self) -> str:
        return str(self.url)

    def redirected(self, status: int, location: str) -> "_Sent":
        """The request that a redirect asks for, as browsers send it. Raises: NetworkRefused."""
        try:
            url = _canonical(str(self.url.join(location)))
        except (httpx2.InvalidURL, ValueError):
            raise NetworkRefused(f"{self.host} redirects to an invalid address") from None
        if status in (307, 308) or self.method in ("GET", "HEAD"):
            return self._replace(url=url)
        if status == 303 or self.method == "POST":
            headers = tuple(pair for pair in self.headers if not pair[0].startswith("content-"))
            return _Sent("GET", url, headers, b"")
        return self._replace(url=url)

    def with_secrets(self, uses: Iterable[SecretUse], values: Mapping[str, str]) -> httpx2.Request:
        """The request for the wire. Raises: NetworkRefused: a secret's value does not fit."""
        headers, query = dict(self.headers), self.url.query.decode()
        for use in uses:
            value = values[use.name]
            match use.place:
                case "bearer":
                    headers["authorization"] = f"Bearer {value}"
                case "basic":
                    pair = base64.b64encode(f"{use.key}:{value}".encode()).decode()
                    headers["authorization"] = f"Basic {pair}"
                case "header":
                    headers[_header_name(use.key)] = value
                case "query":
                    pairs = (pair for pair in query.split("&") if pair)
                    remaining = [p for p in pairs if unquote_plus(p.partition("=")[0]) != use.key]
                    query = "&".join([*remaining, f"{quote(use.key, '')}={quote(value, '')}"])
        if not all(map(_is_header_value, headers.values())):
            raise NetworkRefused(f"a secret for {self.host} is not ASCII, which headers need")
        target = self.url.copy_with(query=query.encode() or None)
        identity = {
            "host": self.url.netloc.decode(),
            "user-agent": f"selfeng/{VERSION}",
            "accept": "*/*",
            "accept-encoding": "gzip, deflate",
            "connection": "close",
        }
        return httpx2.Request(
            self.method, target, headers={**identity, **headers}, content=self.body
        )


def _redirect_access(sent: _Sent, after: str) -> NetworkAccess | None:
    """The access that a person may allow after a redirect; None where no one may: no service leads
    to the own network, or away from HTTPS.
    """
    host, method = sent.host, sent.method
    if sent.url.scheme != "https" or host == after or _is_address(host) or names_own_network(host):
        return None
    port, purpose = sent.url.port or 443, f"{after} redirects there."
    return NetworkAccess(host=host, port=port, methods=(method,), after=after, purpose=purpose)


def _canonical(address: str) -> httpx2.URL:
    """The address in the one form that is checked and sent. Raises: NetworkRefused."""
    try:
        url = httpx2.URL(address)
        if (
            url.scheme not in ("https", "http", "postgresql")
            or url.userinfo
            or not address.isprintable()
        ):
            raise ValueError
        return httpx2.URL(
            scheme=url.scheme,
            host=canonical_host(url.raw_host.decode()),
            port=url.port,
            raw_path=url.raw_path,
        )
    except (httpx2.InvalidURL, ValueError):
        raise NetworkRefused(
            f"{one_line(address)[:_SHOWN]!r} is not an address that a tool can use",
            "write http or https, a host and a path, without user and password",
        ) from None


def _sendable(request: HttpRequest) -> Iterable[tuple[str, str]]:
    """The headers that a tool sends. Raises: NetworkRefused: it must not send one."""
    if len(request.headers) > _MOST_HEADERS:
        raise NetworkRefused(f"the request has more than {_MOST_HEADERS} headers")
    for name, value in request.headers:
        if (lower := name.lower()) in _OURS:
            continue
        if lower not in _SENT and not (lower.endswith("-version") and _TOKEN.fullmatch(lower)):
            raise NetworkRefused(
                one_line(f"the header {name[:_SHOWN]!r} is not allowed"),
                "a secret that the person attaches to the host can send it",
            )
        if not _is_header_value(value):
            raise NetworkRefused(f"the value of {lower} is too long, or not printable ASCII text")
        yield lower, value


def _is_header_value(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) <= 2 * _LONGEST_HEADER


def _header_name(key: str) -> str:
    if (name := key.lower()) in _OURS or not _TOKEN.fullmatch(name):
        raise NetworkRefused(f"a secret can't be the header {key!r}")
    return name


def _usual_headers(headers: httpx2.Headers, masker: Masker) -> Headers:
    """Those that a tool gets: the first ones of usual length."""
    pairs = (
        (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers.raw
    )
    usual = [
        (name, masker.text(value))
        for name, value in pairs
        if name not in _HIDDEN and len(value) <= _LONGEST_HEADER
    ]
    return tuple(usual[:_MOST_HEADERS])


async def _read(response: httpx2.Response, largest: int) -> bytes:
    """The body, unpacked. Raises: httpx2.HTTPError, ReplyTooLarge."""
    if response.status_code < 200:
        raise httpx2.RemoteProtocolError(f"it answers with status {response.status_code}")
    if (packed := response.headers.get("content-encoding", "")) not in _PACKED:
        raise httpx2.DecodingError(f"its answer is packed as {packed[:_SHOWN]!r}")
    return b"".join([piece async for piece in BoundedReply(response, largest, by_event=False)])


def _is_address(host: str) -> bool:
    try:
        return bool(reach_of(host))
    except ValueError:
        return False


def _host(url: str) -> str:
    return _canonical(url).raw_host.decode()


def _failure(request: HttpRequest, error: Exception, masker: Masker) -> tuple[str, str]:
    """Message and remedy."""
    host, reason = _host(request.url), masker.text(one_line(str(error))) or type(error).__name__
    if untrusted(reason):
        return f"the certificate of {host} is not trusted: {reason}", ""
    return f"{host} does not answer as it should: {reason}", ""
