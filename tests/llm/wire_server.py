"""A model server in a thread whose every byte the test writes: paths, headers, refusals, events."""

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Sent:
    """A request as it arrived."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Served:
    """A response: JSON, or text as it is."""

    content: Any
    status: int = 200
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


def events(*data: Any, end: str = "data: [DONE]\n\n") -> Served:
    """Server-sent events; a text is sent as it is."""
    text = "".join(
        item if isinstance(item, str) else f"data: {json.dumps(item)}\n\n" for item in data
    )
    return Served(text + end, kind="text/event-stream")


Answer = Callable[[Sent], Served]


class WireServer:
    """Answers with `answer`; `requests` are those so far, oldest first."""

    def __init__(self, answer: Answer, host: str = "127.0.0.1") -> None:
        self.requests: list[Sent] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(handler) -> None:  # noqa: N805
                parts = urlsplit(handler.path)
                length = int(handler.headers.get("content-length") or 0)
                sent = Sent(
                    method=handler.command,
                    path=parts.path,
                    query=dict(parse_qsl(parts.query)),
                    headers={name.lower(): value for name, value in handler.headers.items()},
                    body=json.loads(handler.rfile.read(length) or b"null"),
                )
                self.requests.append(sent)
                served = answer(sent)
                text = isinstance(served.content, str)
                content = (served.content if text else json.dumps(served.content)).encode()
                handler.send_response(served.status)
                for name, value in served.headers.items():
                    handler.send_header(name, value)
                handler.send_header("content-type", served.kind)
                handler.send_header("content-length", str(len(content)))
                handler.end_headers()
                handler.wfile.write(content)

            do_GET = do_POST  # noqa: N815

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET

            def handle_error(self, *_: Any) -> None:
                """A client that leaves is not an error."""

        self._server = Server((host, 0), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Any]:
        return [request.body for request in self.requests]


@contextmanager
def serving(answer: Answer, host: str = "127.0.0.1") -> Iterator[WireServer]:
    """The server while it runs."""
    server = WireServer(answer, host)
    thread = threading.Thread(target=server._server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server._server.shutdown()
        thread.join()
        server._server.server_close()
