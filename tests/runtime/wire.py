"""A model's server whose replies a test writes: real HTTP on loopback, in a thread."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Wire:
    """Answers with the replies that were put into it, in order; keeps what was asked.

    A reply is a JSON object, a list of server-sent events, or a number, which is a failure of that
    status.
    """

    def __init__(self) -> None:
        self.replies: deque[Any] = deque()
        self.asked: list[dict[str, Any]] = []
        self.url = ""


@contextmanager
def serving() -> Iterator[Wire]:
    """A server, up for as long as this is open."""
    wire = Wire()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            wire.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            reply = wire.replies.popleft()
            failed = isinstance(reply, int)
            body = (
                "".join(_event(event) for event in reply)
                if isinstance(reply, list)
                else json.dumps({} if failed else reply)
            )
            self.send_response(reply if failed else 200)
            self.send_header(
                "Content-Type",
                "text/event-stream" if isinstance(reply, list) else "application/json",
            )
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Tests are quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _event(event: dict[str, Any] | str) -> str:
    if isinstance(event, str):
        return f"data: {event}\n\n"
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"
