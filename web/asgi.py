"""ASGI behind WSGI: an application on the engine's loop answers a request of the page's server,
piece by piece. It receives `http.disconnect` when the client leaves.
"""

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from flask import Request, Response

from web.bridge import Bridge, EngineSilent
from web.connections import CONNECTION, ClientConnection

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Scope

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}
"""Headers that are the server's own."""
_COMMENT = b": begun\r\n\r\n"
"""The first piece of a stream of events, since WSGI servers send the head together with one."""


LEFT = "left"
"""Where the scope's state has an `asyncio.Event` that is set once the response has ended, or its
client is gone: for what the application leaves to tasks of its own.
"""


def respond(bridge: Bridge, app: "ASGIApp", request: Request) -> Response:
    """The application's response.

    Raises:
        EngineSilent: the engine is ending.
    """
    body, scope = request.get_data(), _scope(request)
    connection: ClientConnection = request.environ[CONNECTION]

    async def answer(send: Callable[["Message"], None], disconnected: asyncio.Event) -> None:
        messages = [{"type": "http.request", "body": body}]
        scope["state"] = {LEFT: disconnected}

        async def receive() -> "Message":
            if messages:
                return messages.pop()
            await disconnected.wait()
            return {"type": "http.disconnect"}

        async def pass_on(message: "Message") -> None:
            send(message)

        try:
            await app(scope, receive, pass_on)
        finally:
            disconnected.set()

    messages = bridge.stream(answer, connection.has_left)
    start = next(messages, None)
    if start is None:
        raise EngineSilent("the server is ending, or the client has left", "try again")
    headers = {n: v for n, v in map(_decoded, start["headers"]) if n not in _HOP_BY_HOP}
    pieces: Iterator[bytes] = (message["body"] for message in messages if message.get("body"))
    if headers.get("content-type", "").startswith("text/event-stream"):
        pieces = chain([_COMMENT], pieces)
    response = Response(pieces, start["status"], headers)
    response.call_on_close(messages.close)
    return response


def _scope(request: Request) -> "Scope":
    headers = [(n.lower().encode("latin-1"), v.encode("latin-1")) for n, v in request.headers]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "root_path": "",
        "query_string": request.query_string,
        "headers": headers,
    }


def _decoded(header: tuple[bytes, bytes]) -> tuple[str, str]:
    name, value = header
    return name.decode("latin-1").lower(), value.decode("latin-1")
