"""The offline server: an OpenAI-compatible HTTP server on loopback whose replies an author
writes.
"""

import asyncio
import json
import logging
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any, Self

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from selfeng.core.prompt import PROMPT_NAME
from selfeng_offline.completion import Author, CompletionRequest
from selfeng_offline.wire import Rejection, Writer

log = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"
_NO_RETRY = {"x-should-retry": "false"}
"""The official SDK obeys this header."""


class OfflineServer:
    """Serves `/v1/chat/completions` and `/v1/models` from its own thread, to clients with the API
    key.

    The author is called on the server's event loop and must not block; its exceptions are answered
    with status 500, except a `Rejection`, which has its own status.
    """

    def __init__(
        self,
        author: Author,
        *,
        model: str = "offline",
        api_key: str | None = None,
        port: int = 0,
        delay: float = 0.008,
    ) -> None:
        """`port` 0: any free one; `delay`: seconds between two pieces of a streamed reply, so that
        they can be watched.
        """
        self._author, self._delay, self._port = author, delay, port
        self.model = model
        self.api_key = api_key or secrets.token_urlsafe(24)
        self.left = threading.Event()
        """Set when a client left before it had its whole reply."""
        self._thread: threading.Thread | None = None
        self._server: _Server | None = None

    @property
    def base_url(self) -> str:
        """The base URL for clients; known once the server has started."""
        return f"http://{_LOOPBACK}:{self._port}/v1"

    def start(self) -> None:
        """Bind and serve. Raises: OSError: the port is taken."""
        if self._thread is not None:
            raise RuntimeError("the offline server runs already")
        listener = socket.create_server((_LOOPBACK, self._port))
        # Connections inherit it. asyncio sets it only on sockets that name their protocol, and
        # without it a reply in two writes waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = listener.getsockname()[1]
        # Its own logger is silenced: it would report clients that leave, even if no logging is
        # configured.
        config = uvicorn.Config(
            self._app(), loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None, log_level=logging.CRITICAL + 1,  # noqa: E501
            access_log=False, server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = _Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="offline-server", daemon=True
        )
        self._thread.start()
        self._server.ready.wait()

    def stop(self) -> None:
        """Stop, cutting off replies in progress; does nothing if the server is not running."""
        if self._thread is not None and self._server is not None:
            self._server.end()
            self._thread.join()
        self._thread = self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/models", self._guarded(self._models)),
                Route("/v1/chat/completions", self._guarded(self._complete), methods=["POST"]),
            ],
            exception_handlers={HTTPException: _http_error},
        )

    def _guarded(
        self, answer: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """`answer` for clients with the key, with every failure as an error in OpenAI's form."""

        async def endpoint(request: Request) -> Response:
            try:
                scheme, _, key = request.headers.get("authorization", "").partition(" ")
                if scheme.lower() != "bearer" or not secrets.compare_digest(
                    key.encode(), self.api_key.encode()
                ):
                    raise Rejection(401, "Incorrect API key provided.", code="invalid_api_key")
                return await answer(request)
            except Rejection as rejection:
                return JSONResponse(rejection.body, rejection.status, rejection.headers)

        return endpoint

    async def _models(self, _request: Request) -> Response:
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "offline"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _complete(self, request: Request) -> Response:
        completion_request = self._parsed(
            await request.body(), request.headers.get(PROMPT_NAME, "")
        )
        try:
            completion = self._author.complete(completion_request)
        except Rejection:
            raise
        except Exception as error:
            log.exception("the author of the offline model failed")
            raise Rejection(
                500, f"{type(error).__name__}: {error}", type="server_error", headers=_NO_RETRY
            ) from error
        assert self._server is not None
        writer = Writer(completion_request, completion)
        return _Transmission(
            writer,
            stream=completion_request.stream,
            delay=self._delay,
            stopping=self._server.stopping,
            client_left=self.left,
        )

    def _parsed(self, body: bytes, prompt: str) -> CompletionRequest:
        """Raises: Rejection."""
        try:
            fields: Any = json.loads(body)
            completion_request = CompletionRequest.model_validate(
                {**fields, "body": fields, "prompt": prompt}
            )
        except ValidationError as error:
            detail = error.errors()[0]
            param = ".".join(map(str, detail["loc"]))
            raise Rejection(400, f"{param}: {detail['msg']}", param=param) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise Rejection(400, "The body of the request is not a JSON object.") from error
        if not completion_request.messages:
            raise Rejection(400, "messages: there are none", param="messages")
        if completion_request.model != self.model:
            model = completion_request.model
            message = f"The model {model!r} does not exist; this server has {self.model!r}."
            raise Rejection(404, message, param="model", code="model_not_found")
        return completion_request


class _Broken(Exception):
    """Ends the connection in the middle of a reply: uvicorn closes it when an application fails."""


class _Transmission(Response):
    """Sends one reply: whole or as server-sent events, for as long as the client stays and the
    server runs.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        stream: bool,
        delay: float,
        stopping: asyncio.Event,
        client_left: threading.Event,
    ) -> None:
        super().__init__()
        self._writer, self._flaws = writer, writer.flaws
        self._stream, self._delay = stream, delay
        self._stopping, self._client_left = stopping, client_left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        leaving = asyncio.ensure_future(_departure(receive))
        self._watched = {leaving, asyncio.ensure_future(self._stopping.wait())}
        try:
            if self._flaws.served_as is not None:
                await self._send_whole(send, self._flaws.content, self._flaws.served_as)
            elif self._stream:
                await self._send_events(send)
            else:
                await self._send_whole(
                    send, json.dumps(self._writer.body(), ensure_ascii=False), "application/json"
                )
        except _Broken:
            if not leaving.done():
                raise
            self._client_left.set()
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
            await _event(
                send,
                json.dumps(
                    {"error": {"message": "The engine is overloaded.", "type": "server_error"}}
                ),
            )
            await self._pause(self._delay)
        raise _Broken

    async def _pause(self, seconds: float | None) -> None:
        """Raises: _Broken: the client left, or the server is stopping."""
        await asyncio.sleep(0)
        finished_tasks, _ = await asyncio.wait(
            self._watched, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        if finished_tasks:
            raise _Broken


async def _start(send: Send, kind: str, length: int | None = None) -> None:
    headers = [
        (b"content-type", kind.encode()),
        *([(b"content-length", str(length).encode())] if length is not None else []),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


async def _event(send: Send, data: str) -> None:
    await send(
        {"type": "http.response.body", "body": f"data: {data}\n\n".encode(), "more_body": True}
    )


async def _departure(receive: Receive) -> None:
    """Returns when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


class _Server(uvicorn.Server):
    """A server that another thread can wait for and end at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.stopping = asyncio.Event()

    def end(self) -> None:
        self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self.stopping.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As inherited; then cut off remaining clients, or the sockets would stay open."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    async def main_loop(self) -> None:
        """As inherited, but woken by the end instead of polling for it ten times a second."""
        await self.on_tick(0)
        await self.stopping.wait()


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse(
        Rejection(error.status_code, error.detail).body, error.status_code, error.headers
    )
