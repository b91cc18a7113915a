"""The two servers that can stand behind Flask-SocketIO, and the concurrency that each brings: green or real threads."""

import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from flask import Flask

from web.port import AsyncMode

if TYPE_CHECKING:
    from werkzeug.serving import BaseWSGIServer

logger = logging.getLogger("web.http")


class Event(Protocol):
    """As `threading.Event`."""

    def set(self) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...


class Serving(Protocol):
    """A server with its kind of threads."""

    name: AsyncMode

    def event(self) -> Event: ...

    def spawn(self, work: Callable[[], None]) -> None:
        """Run `work` beside everything else; the process does not wait for it."""
        ...

    def receive(self, connection: socket.socket) -> bytes:
        """Wait for bytes; b"" when the other side has closed."""
        ...

    def serve(self, app: Flask, listener: socket.socket, stop: Event) -> None:
        """Serve on a listening socket until `stop` is set."""
        ...


class Eventlet:
    """Green threads; nothing is monkey-patched, so whatever blocks belongs on the engine's side of the bridge."""

    name: AsyncMode = "eventlet"

    def __init__(self) -> None:
        os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")  # names are looked up elsewhere, and importing it takes a while
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # eventlet announces its retirement; `async_mode` is the way out
            import eventlet  # type: ignore[import-untyped]
            import eventlet.greenio  # type: ignore[import-untyped]
            import eventlet.hubs  # type: ignore[import-untyped]
            import eventlet.wsgi  # type: ignore[import-untyped]
            from eventlet.green import threading as green  # type: ignore[import-untyped]
        self._eventlet, self._green = eventlet, green

    def event(self) -> Event:
        event: Event = self._green.Event()
        return event

    def spawn(self, work: Callable[[], None]) -> None:
        self._eventlet.spawn(work)

    def receive(self, connection: socket.socket) -> bytes:
        self._eventlet.hubs.trampoline(connection, read=True)
        return connection.recv(4096)

    def serve(self, app: Flask, listener: socket.socket, stop: Event) -> None:
        green = self._eventlet.greenio.GreenSocket(listener)
        server = self._eventlet.spawn(self._eventlet.wsgi.server, green, app, log=logger, log_output=False, debug=False)
        server.link(lambda _: stop.set())
        stop.wait()
        listener.close()


class Threading:
    """A thread per request or socket, on Werkzeug's server."""

    name: AsyncMode = "threading"

    def event(self) -> Event:
        return threading.Event()

    def spawn(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def receive(self, connection: socket.socket) -> bytes:
        return connection.recv(4096)

    def serve(self, app: Flask, listener: socket.socket, stop: Event) -> None:
        server = self._server(app, listener)

        def run() -> None:
            try:
                server.serve_forever(poll_interval=0.1)
            finally:
                stop.set()

        self.spawn(run)
        stop.wait()
        server.shutdown()
        listener.close()

    @staticmethod
    def _server(app: Flask, listener: socket.socket) -> "BaseWSGIServer":
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Handler(WSGIRequestHandler):
            """Quiet, and silent about versions."""

            def log(self, type: str, message: str, *args: Any) -> None:
                logger.debug(message, *args)

            def version_string(self) -> str:
                return "web"

        host, port = listener.getsockname()[:2]
        return make_server(host, port, app, threaded=True, request_handler=Handler, fd=listener.fileno())


def serving(mode: AsyncMode) -> Serving:
    return Eventlet() if mode == "eventlet" else Threading()
