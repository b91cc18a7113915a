"""Responses that are sent piece by piece, of what the engine gives one after the other."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing
from typing import TypeVar

import flask
from flask import Response

from web.bridge import Bridge
from web.connections import CONNECTION, ClientConnection

T = TypeVar("T")

EVENT_STREAM = "text/event-stream"
KEEP_ALIVE = b": keep-alive\n\n"
"""Sent in place of an event after a silence."""
_ALIVE = 10.0
"""Seconds of silence after which a stream says that it is alive."""


def streamed(bridge: Bridge, items: AsyncGenerator[T, None]) -> Generator[T | None, None, None]:
    """The items as they come, and None after each silence; closed when the client has left. The
    response may begin any time after them.
    """
    connection: ClientConnection = flask.request.environ[CONNECTION]

    async def pass_on(send: Callable[[T | None], None], disconnected: asyncio.Event) -> None:
        leaving = asyncio.ensure_future(disconnected.wait())
        async with aclosing(items):
            while True:
                coming = asyncio.ensure_future(anext(items))
                while not coming.done() and not leaving.done():
                    await asyncio.wait(
                        (coming, leaving), timeout=_ALIVE, return_when=asyncio.FIRST_COMPLETED
                    )
                    if not coming.done() and not leaving.done():
                        send(None)
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait((coming,))
                    return
                try:
                    send(coming.result())
                except StopAsyncIteration:
                    leaving.cancel()
                    return

    with closing(bridge.stream(pass_on, connection.has_left)) as stream:
        for item in stream:
            connection.await_work(_ALIVE)
            yield item


def sent(body: Iterator[bytes], status: int = 200, media_type: str = EVENT_STREAM) -> Response:
    """A response that is sent piece by piece."""
    return Response(flask.stream_with_context(body), status, content_type=media_type)
