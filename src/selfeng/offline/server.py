"""The offline server: an OpenAI-compatible HTTP server on loopback whose replies an author writes."""

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

from selfeng.offline.completion import Author
from selfeng.offline.transmission import Transmission
from selfeng.offline.wire import Rejection, WireRequest, Writer

log = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"
_NO_RETRY = {"x-should-retry": "false"}
"""The official SDK obeys it."""


class OfflineServer:
    """Serves `/v1/chat/completions` and `/v1/models` from a thread of its own, to whoever has the API key.

    The author is called on the server's event loop and must not block; what it raises is answered with status 500, except
    a `Rejection`, which says its own.
    """

    def __init__(self, author: Author, *, model: str = "offline", api_key: str | None = None, port: int = 0, delay: float = 0.008) -> None:
        """`port` 0: any free one; `delay`: seconds between two pieces of a streamed reply, so that they can be watched."""
        self._author, self._delay, self._port = author, delay, port
        self.model = model
        self.api_key = api_key or secrets.token_urlsafe(24)
        self.left = threading.Event()
        """Set when a client left before it had its whole reply."""
        self._thread: threading.Thread | None = None
        self._server: _Server | None = None

    @property
    def base_url(self) -> str:
        """What a client needs as its base URL; known once the server has started."""
        return f"http://{_LOOPBACK}:{self._port}/v1"

    def start(self) -> None:
        """Bind and serve. Raises: OSError: the port is taken."""
        if self._thread is not None:
            raise RuntimeError("the offline server runs already")
        listener = socket.create_server((_LOOPBACK, self._port))
        self._port = listener.getsockname()[1]
        # Its own logger is silenced: it would report clients that leave, and speak up where nobody configured logging.
        config = uvicorn.Config(
            self._app(), loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None, log_level=logging.CRITICAL + 1,
            access_log=False, server_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="offline-server", daemon=True)
        self._thread.start()
        self._server.ready.wait()

    def stop(self) -> None:
        """End, cutting off replies under way; a server that does not run stays so."""
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

    def _guarded(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """`answer` for those who have the key, with every failure as an error in OpenAI's form."""

        async def endpoint(request: Request) -> Response:
            try:
                scheme, _, key = request.headers.get("authorization", "").partition(" ")
                if scheme.lower() != "bearer" or not secrets.compare_digest(key.encode(), self.api_key.encode()):
                    raise Rejection(401, "Incorrect API key provided.", code="invalid_api_key")
                return await answer(request)
            except Rejection as rejection:
                return JSONResponse(rejection.body, rejection.status, rejection.headers)

        return endpoint

    async def _models(self, _request: Request) -> Response:
        model = {"id": self.model, "object": "model", "created": 0, "owned_by": "offline"}
        return JSONResponse({"object": "list", "data": [model]})

    async def _complete(self, request: Request) -> Response:
        asked = self._parsed(await request.body())
        try:
            completion = self._author.complete(asked)
        except Rejection:
            raise
        except Exception as error:
            log.exception("the author of the offline model failed")
            raise Rejection(500, f"{type(error).__name__}: {error}", type="server_error", headers=_NO_RETRY) from error
        assert self._server is not None
        writer = Writer(asked, completion)
        return Transmission(writer, stream=asked.stream, delay=self._delay, ended=self._server.ended, left=self.left)

    def _parsed(self, body: bytes) -> WireRequest:
        """Raises: Rejection."""
        try:
            fields: Any = json.loads(body)
            asked = WireRequest.model_validate({**fields, "body": fields})
        except ValidationError as error:
            detail = error.errors()[0]
            param = ".".join(map(str, detail["loc"]))
            raise Rejection(400, f"{param}: {detail['msg']}", param=param) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise Rejection(400, "The body of the request is not a JSON object.") from error
        if not asked.messages:
            raise Rejection(400, "messages: there are none", param="messages")
        if asked.model != self.model:
            message = f"The model {asked.model!r} does not exist; this server has {self.model!r}."
            raise Rejection(404, message, param="model", code="model_not_found")
        return asked


class _Server(uvicorn.Server):
    """A server that another thread can wait for and end at once."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self.ended = asyncio.Event()

    def end(self) -> None:
        self.should_exit = self.force_exit = True
        self._loop.call_soon_threadsafe(self.ended.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As inherited; then who is still connected is cut off, or the sockets would stay open."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    async def main_loop(self) -> None:
        """As inherited, but woken by the end, where that looks ten times a second whether it has come."""
        await self.on_tick(0)
        await self.ended.wait()


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse(Rejection(error.status_code, error.detail).body, error.status_code, error.headers)
