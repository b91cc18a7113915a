"""The two servers that can run Flask-SocketIO, and their concurrency: green or real threads."""

import errno
import logging
import os
import socket
import ssl
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from flask import Flask

from web.connections import CONNECTION, Connections

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment
    from werkzeug.serving import BaseWSGIServer

AsyncMode = Literal["eventlet", "threading"]

log = logging.getLogger("selfeng.web.http")

_BETTER_LATER = {
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOBUFS,
    errno.ENOMEM,
    errno.ECONNABORTED,
    errno.EPROTO,
}
"""Errors of accepting that do not concern the listening socket itself."""
_PAUSE = 0.1
LOOK = 0.2
"""Seconds after which a waiting main thread looks for a signal: the kernel may hand it to another
thread, and that wakes no one.
"""
_NEVER_REACHED = (
    100_000  # connections that eventlet serves at once, as it stops accepting at its own bound
)


class Event(Protocol):
    """Like `threading.Event`."""

    def set(self) -> None: ...
    def clear(self) -> None: ...
    def wait(self, timeout: float | None = None) -> bool: ...


class Serving(Protocol):
    """A server with its kind of threads."""

    name: AsyncMode

    def event(self) -> Event: ...

    def spawn(self, work: Callable[[], None]) -> None:
        """Run `work` in the background; the process does not wait for it."""
        ...

    def receive(self, connection: socket.socket) -> bytes:
        """Wait for bytes; b"" when the other side has closed."""
        ...

    def serve(
        self,
        app: Flask,
        listener: socket.socket,
        stop: Event,
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Serve on a listening socket until `stop` is set, by https with `tls`; every request's
        environment has its connection.
        """
        ...


class Eventlet:
    """Green threads; nothing is monkey-patched, so blocking calls belong on the engine's side of
    the bridge.
    """

    name: AsyncMode = "eventlet"

    def __init__(self) -> None:
        os.environ.setdefault(
            "EVENTLET_NO_GREENDNS", "yes"
        )  # names are looked up elsewhere, and importing it takes a while
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # eventlet announces its retirement; `async_mode` is the way out
            import eventlet  # type: ignore[import-untyped]
            import eventlet.greenio  # type: ignore[import-untyped]
            import eventlet.hubs  # type: ignore[import-untyped]
            import eventlet.wsgi  # type: ignore[import-untyped]
            from eventlet.green import ssl as green_ssl  # type: ignore[import-untyped]
            from eventlet.green import threading as green
        self._eventlet, self._green, self._green_ssl = eventlet, green, green_ssl

    def event(self) -> Event:
        event: Event = self._green.Event()
        return event

    def spawn(self, work: Callable[[], None]) -> None:
        self._eventlet.spawn(work)

    def receive(self, connection: socket.socket) -> bytes:
        self._eventlet.hubs.trampoline(connection, read=True)
        return connection.recv(4096)

    def serve(
        self,
        app: Flask,
        listener: socket.socket,
        stop: Event,
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        eventlet, wsgi = self._eventlet, self._eventlet.wsgi

        wrapped = partial(self._wrapped, tls)

        class Door:
            """The listening socket: errors of accepting never end the server, and earlier
            connections are served first.
            """

            green = eventlet.greenio.GreenSocket(listener)
            family, getsockname, close = listener.family, green.getsockname, green.close

            def accept(self) -> Any:
                while True:
                    try:
                        peer, address = self.green.accept()
                    except OSError as error:
                        if error.errno not in _BETTER_LATER:
                            raise
                        connections.make_room()
                        eventlet.sleep(_PAUSE)
                    else:
                        eventlet.sleep(0)
                        return wrapped(peer), address

        class Protocol(wsgi.HttpProtocol):  # type: ignore[misc, name-defined]
            def __init__(self, state: Any, server: Any) -> None:
                self.client_connection = connections.opened(state[1], state[0][0])
                if self.client_connection is None:
                    return
                try:
                    with suppress(ssl.SSLError):  # it speaks no TLS
                        super().__init__(state, server)
                finally:
                    connections.closed(self.client_connection)

            def get_environ(self) -> dict[str, Any]:
                more = {"wsgi.url_scheme": _scheme(tls), CONNECTION: self.client_connection}
                return {**super().get_environ(), **more}

            def log_message(self, format: str, *args: Any) -> None:
                log.debug(format, *args)

        pool = eventlet.GreenPool(_NEVER_REACHED)
        server = eventlet.spawn(
            wsgi.server,
            Door(),
            app,
            log=log,
            log_output=False,
            debug=False,
            protocol=Protocol,
            custom_pool=pool,
            minimum_chunk_size=0,  # short events of a stream are sent when they are made
        )
        server.link(lambda _: stop.set())
        while not stop.wait(LOOK):
            pass
        listener.close()

    def _wrapped(self, tls: ssl.SSLContext | None, peer: Any) -> Any:
        """The connection as it is encrypted; its handshake comes with the first reading, so that
        nobody waits for it.
        """
        if tls is None:
            return peer
        options = {"server_side": True, "do_handshake_on_connect": False, "_context": tls}
        return self._green_ssl.GreenSSLSocket(peer, **options)


class Threading:
    """A thread per request or socket, on Werkzeug's server."""

    name: AsyncMode = "threading"

    def event(self) -> Event:
        return threading.Event()

    def spawn(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True).start()

    def receive(self, connection: socket.socket) -> bytes:
        return connection.recv(4096)

    def serve(
        self,
        app: Flask,
        listener: socket.socket,
        stop: Event,
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        server = self._server(app, listener, connections, tls)

        def run() -> None:
            try:
                server.serve_forever(poll_interval=0.1)
            finally:
                stop.set()

        self.spawn(run)
        while not stop.wait(LOOK):
            pass
        server.shutdown()
        listener.close()

    @staticmethod
    def _server(
        app: Flask,
        listener: socket.socket,
        connections: Connections,
        tls: ssl.SSLContext | None,
    ) -> "BaseWSGIServer":
        from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

        class Handler(WSGIRequestHandler):
            """Quiet, and silent about versions."""

            def handle(self) -> None:
                self.client_connection = connections.opened(self.connection, self.client_address[0])
                if self.client_connection is None:
                    return
                try:
                    super().handle()
                finally:
                    connections.closed(self.client_connection)

            def make_environ(self) -> "WSGIEnvironment":
                more = {"wsgi.url_scheme": _scheme(tls), CONNECTION: self.client_connection}
                return {**super().make_environ(), **more}

            def log(self, type: str, message: str, *args: Any) -> None:
                log.debug(message, *args)

            def version_string(self) -> str:
                return "web"

        class Server(ThreadedWSGIServer):
            def get_request(self) -> Any:
                try:
                    peer, address = super().get_request()
                    return _wrapped(tls, peer), address
                except OSError as error:
                    if error.errno in _BETTER_LATER:
                        connections.make_room()
                        time.sleep(_PAUSE)
                    raise

            def handle_error(self, request: Any, client_address: Any) -> None:
                log.warning("a connection was ended: %s", f"{sys.exception()!r}"[:200])

        host, port = listener.getsockname()[:2]
        return Server(host, port, app, handler=Handler, fd=listener.fileno())


def _wrapped(tls: ssl.SSLContext | None, peer: socket.socket) -> socket.socket:
    """As `Eventlet._wrapped`."""
    return tls.wrap_socket(peer, True, do_handshake_on_connect=False) if tls else peer


def _scheme(tls: ssl.SSLContext | None) -> str:
    return "https" if tls else "http"


def serving(mode: AsyncMode) -> Serving:
    return Eventlet() if mode == "eventlet" else Threading()
