"""The transmission of one reply: whole or as server-sent events, for as long as the client stays and the server runs."""

import asyncio
import json
import threading

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from selfeng.offline.wire import Writer


class _Broken(Exception):
    """Ends the connection in the middle of a reply: uvicorn closes it when an application fails."""


class Transmission(Response):
    """Sends what a writer wrote."""

    def __init__(self, writer: Writer, *, stream: bool, delay: float, ended: asyncio.Event, left: threading.Event) -> None:
        super().__init__()
        self._writer, self._flaws = writer, writer.flaws
        self._stream, self._delay = stream, delay
        self._ended, self._left = ended, left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_departure(receive))
        ending = asyncio.ensure_future(self._ended.wait())
        self._watched = {leaving, ending}
        try:
            if self._flaws.served_as is not None:
                await self._send_whole(send, self._flaws.content, self._flaws.served_as)
            elif self._stream:
                await self._send_events(send)
            else:
                await self._send_whole(send, json.dumps(self._writer.body(), ensure_ascii=False), "application/json")
        except _Broken:
            if not leaving.done():
                raise
            self._left.set()
        finally:
            for watch in self._watched:
                watch.cancel()

    async def _send_whole(self, send: Send, text: str, kind: str) -> None:
        content = text.encode()
        await _start(send, kind, len(content))
        if self._flaws.stop_after is not None:
            await self._fail(send)
        await send({"type": "http.response.body", "body": content})

    async def _send_events(self, send: Send) -> None:
        await _start(send, "text/event-stream")
        for number, data in enumerate(self._writer.chunks()):
            if number == self._flaws.stop_after:
                await self._fail(send)
            await _event(send, data)
            await self._pause(self._delay)
        await _event(send, "[DONE]")
        await send({"type": "http.response.body", "body": b""})

    async def _fail(self, send: Send) -> None:
        if self._flaws.then == "hang":
            await self._pause(None)
        if self._flaws.then == "error":
            await _event(send, json.dumps({"error": {"message": "The engine is overloaded.", "type": "server_error"}}))
            await self._pause(self._delay)
        raise _Broken

    async def _pause(self, seconds: float | None) -> None:
        """Raises: _Broken: the client left, or the server ends."""
        await asyncio.sleep(0)
        done, _ = await asyncio.wait(self._watched, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if done:
            raise _Broken


async def _start(send: Send, kind: str, length: int | None = None) -> None:
    headers = [(b"content-type", kind.encode()), *([(b"content-length", str(length).encode())] if length is not None else [])]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _event(send: Send, data: str) -> None:
    await send({"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True})


async def _departure(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
