"""The test world: services on loopback behind names and public addresses of their own, reached by
the broker through its arguments `resolve`, `route` and `authorities`.
"""

import asyncio
import base64
import gzip
import json
import logging
import os
import socket
import ssl
import tempfile
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self
from urllib.parse import quote, unquote

import trustme
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from selfeng.core.errors import ResourceNotFound
from selfeng.servers.broker import Broker, BrokerLimits

CANARY = 'kanarie/n+vogel=7%"&x-0123456789'
"""The value of the secret KEY, with which the world's API opens."""
PUBLIC = "93.184.215."
"""The first numbers of the world's public addresses."""
MB = 1_000_000
HOSTS: Mapping[str, Sequence[str]] = {
    "api.world.example": [f"{PUBLIC}1"],
    "two.world.example": [f"{PUBLIC}2", f"{PUBLIC}1"],
    "reports.world.example": [f"{PUBLIC}3"],
    "other.world.example": [f"{PUBLIC}4"],
    "stranger.world.example": [f"{PUBLIC}5"],
    "home.world.example": ["127.0.0.1"],
    "xn--bcher-kva.world.example": [f"{PUBLIC}6"],
}
"""The addresses of names; `stranger` has a certificate of another authority."""


class SeenRequest(NamedTuple):
    """A request as the world received it."""

    host: str
    method: str
    path: str
    """With its query."""
    headers: Mapping[str, str]
    body: bytes


def only_key(name: str) -> str:
    """The value of KEY. Raises: ResourceNotFound: another name."""
    if name != "KEY":
        raise ResourceNotFound(f"there is no secret {name}", f"selfeng secrets set {name}")
    return CANARY


class World:
    """Use it as a context. `hosts` may be changed: what a name resolves to, the first entry of a
    list of lists first.
    """

    def __init__(self) -> None:
        self.hosts: dict[str, Sequence[str]] = dict(HOSTS)
        self.answers: dict[str, list[Sequence[str]]] = {}
        """Addresses that a name has one time after another, before those of `hosts`."""
        self.seen: list[SeenRequest] = []
        self.strayed: list[tuple[str, int]] = []
        """Addresses outside of the world to which something was sent."""
        self.refusals: list[str] = []
        """Addresses of the world at which nothing listens, each time that one was tried."""
        self.most_at_once = self._at_once = 0
        self.renamed = False
        """Whether the API has changed its schema."""
        self._stack = ExitStack()
        self._servers: list[uvicorn.Server] = []

    def __enter__(self) -> Self:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="world-"))
        self.authority = os.path.join(folder, "authority.pem")
        authority, stranger = trustme.CA(), trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("*.world.example").configure_cert(ours)
        theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        stranger.issue_cert("stranger.world.example").configure_cert(theirs)

        def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            connection.context = theirs if (name or "").startswith("stranger") else ours

        ours.sni_callback = choose
        self.port, self.plain_port, self._silent_port = (self._serve(c) for c in (ours, None, None))
        closed = self._stack.enter_context(socket.socket())  # bound, and nothing listens
        closed.bind(("127.0.0.1", 0))
        self._closed_port = int(closed.getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.force_exit = server.should_exit = True
        self._stack.close()

    def broker(
        self, secret: Callable[[str], str] = only_key, limits: BrokerLimits | None = None
    ) -> Broker:
        """A broker that lives in this world, by default without a limit of its rate."""
        return Broker(
            secret,
            resolve=self.resolve,
            route=self.route,
            authorities=self.authority,
            limits=limits or BrokerLimits(rate=1e6),
        )

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if later := self.answers.get(host):
            return later.pop(0)
        if host not in self.hosts:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.hosts[host]

    def route(self, address: str, port: int) -> tuple[str, int]:
        if address == f"{PUBLIC}200":
            self.refusals.append(address)
            return "127.0.0.1", self._closed_port
        if address.startswith(PUBLIC) or (address, port) == ("127.0.0.1", 443):
            return "127.0.0.1", self.port if port == 443 else self.plain_port
        self.strayed.append((address, port))
        return "127.0.0.1", self._silent_port

    def _serve(self, context: ssl.SSLContext | None) -> int:
        listener = self._stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
        config = uvicorn.Config(
            self._answer, loop="asyncio", http="h11", ws="none", interface="asgi3", lifespan="off", log_config=None,
            log_level=logging.CRITICAL + 1, access_log=False, timeout_graceful_shutdown=0,
        )  # fmt: skip
        config.load()
        config.ssl = context
        server = uvicorn.Server(config)
        self._servers.append(server)
        thread = threading.Thread(target=server.run, args=([listener],), name="world")
        thread.start()
        self._stack.callback(thread.join)
        return int(listener.getsockname()[1])

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        query = scope["query_string"].decode()
        path = scope["raw_path"].decode().partition("?")[0]
        body = await request.body()
        headers = dict(request.headers)
        host = headers.get("host", "").partition(":")[0]
        self.seen.append(
            SeenRequest(host, request.method, path + (query and f"?{query}"), headers, body)
        )
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            response = await self._response(path, request, body)
            await response(scope, receive, send)
        finally:
            self._at_once -= 1

    async def _response(self, path: str, request: Request, body: bytes) -> Response:
        match path.strip("/").split("/"):
            case ["v1", "rates"]:
                price = "price" if self.renamed else "rate"
                page = int(request.query_params.get("page", 1))
                items = [
                    {"currency": f"C{n}", price: n / 4} for n in range(3 * page - 2, 3 * page + 1)
                ]
                return JSONResponse({"items": items, "next": page + 1 if page < 3 else None})
            case ["v1", "private"]:
                if not self._is_open(request):
                    return JSONResponse({"error": "no key"}, status_code=401)
                return JSONResponse({"balance": 12})
            case ["v1", "status", status]:
                return JSONResponse({"error": status}, status_code=int(status))
            case ["v1", "echo"]:
                seen = self.seen[-1]
                fields = {**seen._asdict(), "body": base64.b64encode(seen.body).decode()}
                return JSONResponse(fields)
            case ["v1", "table"]:
                rows = "".join(f"<tr><td>C{n}</td><td>{n / 4}</td></tr>" for n in range(3))
                head = "<tr><th>currency</th><th>rate</th></tr>"
                return Response(f"<table>{head}{rows}</table>", media_type="text/html")
            case ["repeat", form]:
                return self._repeated(form)
            case ["redirect", status, *target]:
                headers = {"location": unquote("/".join(target))}
                return Response(status_code=int(status), headers=headers)
            case ["loop"]:
                return RedirectResponse("/loop", status_code=302)
            case ["hops", number]:
                left = int(number) - 1
                return RedirectResponse(f"/hops/{left}" if left else "/v1/rates", status_code=302)
            case ["pause"]:
                await asyncio.sleep(0.2)
                return JSONResponse({})
            case ["slow"]:
                await asyncio.sleep(3600)
            case ["drip"]:
                return StreamingResponse(_drip(), media_type="text/plain")
            case ["endless", *kind]:
                return StreamingResponse(_endless(), media_type="/".join(kind) or "text/plain")
            case ["bomb", packed]:
                return Response(*_bomb(unquote(packed)))
            case ["after-the-end"]:
                headers = {"content-encoding": "gzip"}
                return StreamingResponse(_endless(gzip.compress(b"end")), headers=headers)
            case ["large", size]:
                return Response(b"x" * int(size))
            case ["packed", packed]:
                content = {"gzip": gzip.compress, "deflate": zlib.compress}[packed](b"packed")
                return Response(content, headers={"content-encoding": packed})
            case ["cookie"]:
                response = JSONResponse({})
                response.set_cookie("session", "evil")
                response.headers["refresh"] = "0"
                response.headers["alt-svc"] = 'h2="evil.example:443"'
                return response
            case ["headers", number, size]:
                values = {f"x-{n}": "x" * int(size) for n in range(int(number))}
                return Response(b"", headers=values)
        return JSONResponse({"error": f"nothing at {path}"}, status_code=404)

    def _is_open(self, request: Request) -> bool:
        pair = base64.b64encode(f"user:{CANARY}".encode()).decode()
        forms = (f"Bearer {CANARY}", f"Basic {pair}")
        return (
            request.headers.get("authorization") in forms
            or request.headers.get("x-api-key") == CANARY
            or request.query_params.get("key") == CANARY
        )

    def _repeated(self, form: str) -> Response:
        """The secret, as a service may repeat it."""
        value, encoded = CANARY, base64.b64encode(CANARY.encode()).decode()
        texts = {
            "plain": value,
            "json": json.dumps({"key": value}),
            "percent": quote(value, ""),
            "percent-lower": quote(value, "").lower(),
            "base64": encoded,
            "base64-within": base64.b64encode(f"ab{CANARY}cd".encode()).decode(),
            "base64-url": base64.urlsafe_b64encode(f"a{CANARY}?".encode()).decode(),
            "base64-percent": quote(encoded, ""),
            "hex": CANARY.encode().hex(),
            "html": value.replace("&", "&amp;").replace('"', "&quot;"),
        }
        if form == "header":
            return Response(b"", headers={"x-key": value, "x-encoded": encoded})
        if form == "redirect":
            where = f"https://other.world.example/v1/echo?key={quote(value, '')}"
            return RedirectResponse(where, status_code=302)
        return Response(texts[form].encode())


async def _endless(begin: bytes = b"") -> AsyncIterator[bytes]:
    yield begin
    while True:
        yield b"data: x\n\n" * 7000
        await asyncio.sleep(0)


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b"."
        await asyncio.sleep(0.02)


def _bomb(packed: str) -> tuple[bytes, int, dict[str, str]]:
    """40 MB in 40 kB."""
    zeros = bytes(40 * MB)
    content = zlib.compress(zeros, 9) if packed == "deflate" else gzip.compress(zeros, 9)
    if packed == "gzip, gzip":
        content = gzip.compress(content, 9)
    return content, 200, {"content-encoding": packed}


def json_of(body: str) -> Any:
    """The value of a response's body."""
    return json.loads(base64.b64decode(body))
