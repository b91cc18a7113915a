"""HTTP clients of tools: what `http.client` (with it `urllib.request`), `urllib3` (with it
`requests`) and `httpx` send goes to `TRANSPORT` instead of a socket. Each is changed at one place,
when it is imported.
"""

import io
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .http_transport import TRANSPORT, ClientResponse


class ClientFinder(MetaPathFinder):
    """Finds the modules of clients before others do, and changes them once they are loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in _CLIENTS else None
        if spec and spec.loader:
            spec.loader.exec_module = partial(_load, spec.loader.exec_module, _CLIENTS[name])  # type: ignore[method-assign]
        return spec


def _load(
    run: Callable[[ModuleType], None], change: Callable[[Any], None], module: ModuleType
) -> None:
    run(module)
    change(module)


def _change_connections(module: Any, *, at_once: bool) -> None:
    """Change `http.client` or `urllib3.connection`."""

    def connect(self: Any) -> None:
        scheme = "https" if self.default_port == module.HTTPSConnection.default_port else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == self.default_port else f":{self.port}"
        self.sock = _Connection(f"{scheme}://{host}{port}", self.timeout, at_once)
        self.is_verified = True  # the host does that: urllib3 would warn

    module.HTTPConnection.connect = module.HTTPSConnection.connect = connect


class _Connection:
    """Stands for the socket of a connection: it takes requests apart, and gives their responses."""

    def __init__(self, origin: str, timeout: Any, at_once: bool) -> None:
        """`at_once`: send a request when it is complete, so that a refusal is an error of its
        sending; else when its response is wanted, as only then `settimeout` has the time for that.
        """
        self._origin, self._at_once = origin, at_once
        self._request = bytearray()
        self._response: bytes | TimeoutError = b""
        self.settimeout(timeout)

    def settimeout(self, timeout: Any) -> None:
        self._timeout = timeout if isinstance(timeout, int | float) else None

    def close(self) -> None:
        """Nothing is open."""

    def sendall(self, data: Any) -> None:
        self._request += data
        if self._at_once and self._is_complete(data):
            try:
                self._response = self._exchange()
            except TimeoutError as late:
                self._response = late

    def makefile(self, *_: object, **options: object) -> io.BytesIO:
        if not self._at_once:
            self._response = self._exchange()
        response, self._response = self._response, b""
        if isinstance(response, TimeoutError):
            raise response
        return io.BytesIO(response)

    def _is_complete(self, last: Any) -> bool:
        head, end, body = self._request.partition(b"\r\n\r\n")
        fields = _fields(bytes(head))
        if "transfer-encoding" in fields:
            return bool(last == _LAST_CHUNK)
        return bool(end) and len(body) >= int(fields.get("content-length", 0))

    def _exchange(self) -> bytes:
        """Send the request; returns the response as it would come from a socket."""
        head, _, body = bytes(self._request).partition(b"\r\n\r\n")
        self._request.clear()
        method, target, _ = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
        fields = _fields(head)
        if fields.get("transfer-encoding"):
            body = _joined(body)
        url = f"{self._origin}{target}"
        return _on_the_wire(TRANSPORT.send(method, url, fields.items(), body, self._timeout))


def _fields(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (r.partition(":") for r in lines)}


def _joined(chunks: bytes) -> bytes:
    """The content of a chunked body (RFC 9112, section 7.1)."""
    source, body = io.BytesIO(chunks), b""
    while size := int(source.readline().partition(b";")[0] or b"0", 16):
        body += source.read(size)
        source.readline()
    return body


def _on_the_wire(answer: ClientResponse) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, '')}"]
    lines += [" ".join(f"{name}: {value}".splitlines()) for name, value in answer.headers]
    head = "\r\n".join([*lines, "connection: close", "", ""])
    return head.encode("latin-1", "replace") + answer.body


_LAST_CHUNK = b"0\r\n\r\n"
_PHRASES = {int(status): status.phrase for status in HTTPStatus}


def _change_httpx(httpx: Any) -> None:
    def response_to(request: Any, body: bytes) -> Any:
        timeout = request.extensions.get("timeout", {}).get("read")
        headers = request.headers.multi_items()
        try:
            answer = TRANSPORT.send(request.method, str(request.url), headers, body, timeout)
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error), request=request) from error
        except ConnectionError as error:
            raise httpx.ConnectError(str(error), request=request) from error
        stream = httpx.ByteStream(answer.body)
        return httpx.Response(answer.status, headers=answer.headers, stream=stream)

    def handle_request(self: Any, request: Any) -> Any:
        return response_to(request, request.read())

    async def handle_async_request(self: Any, request: Any) -> Any:
        import asyncio  # the caller has loaded it

        return await asyncio.to_thread(response_to, request, await request.aread())

    httpx.HTTPTransport.handle_request = handle_request
    httpx.AsyncHTTPTransport.handle_async_request = handle_async_request


_CLIENTS: dict[str, Callable[[Any], None]] = {
    "http.client": partial(_change_connections, at_once=True),
    "urllib3.connection": partial(_change_connections, at_once=False),
    "httpx": _change_httpx,
}
