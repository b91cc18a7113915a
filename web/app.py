"""The web application, and `python web/app.py`, or `selfeng serve`, which sets up and runs
everything.
"""

import asyncio
import errno
import gc
import ipaddress
import logging
import os
import secrets
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if __name__ == "__main__":
    # started as a file: packages are found from the project's folder
    sys.path[0] = str(Path(__file__).parents[1])
    if Path(sys.path[0], "src", "selfeng").is_dir():
        import src  # noqa: F401 - in a checkout the package need not be installed
    # off until `serve`: the objects of modules stay alive, and scanning them takes a tenth of the
    # start
    gc.disable()

from flask import Flask
from flask_socketio import SocketIO  # type: ignore[import-untyped]

from selfeng.core.errors import AgentError, ConfigurationError
from selfeng.core.files import LargeFiles
from selfeng.core.logs import log_to_stderr
from selfeng.core.network import join_network
from selfeng.core.process import exit_process, tune_process
from selfeng.core.settings import Settings, export_env_file, load_settings, make_folders
from selfeng.core.status import EngineStatus
from web.access import Access, AccessPage, RequestRate, shared_key, signing_key
from web.bridge import Bridge
from web.bundle import SHIPPED, load_bundle
from web.connections import Connections, Patience, TimedRequests
from web.conversation_routes import add_conversation_routes
from web.exchange_routes import BODIES, add_exchange_routes
from web.file_routes import add_file_routes
from web.lesson_routes import add_lesson_routes
from web.mcp_routes import LARGEST_CALL, add_mcp_routes
from web.mcp_server_routes import add_mcp_server_routes
from web.middleware import AccessMiddleware
from web.openai_routes import CHAT, RESPONSES, add_openai_routes
from web.payloads import FlaskJSON, WireJSON, WirePacket
from web.project_routes import add_project_routes
from web.routes import add_page_routes
from web.schedule_routes import add_schedule_routes
from web.server_routes import add_metrics_route, add_server_routes
from web.serving import Serving, serving
from web.settings_routes import add_settings_routes
from web.share_routes import add_share_operations, add_share_routes
from web.sockets import Sockets, socket_log
from web.tool_routes import add_editing_routes, add_grant_routes, add_health_routes, add_tool_routes
from web.turn_routes import add_turn_routes
from web.uploads import Uploads
from web.vendor import Vendor, load_vendor

if TYPE_CHECKING:
    from selfeng.engine import Engine

log = logging.getLogger("selfeng.web.app")

LARGEST_MESSAGE = 2_000_000
_LARGEST_CHAT = 24 * 1024 * 1024
"""Bytes of a conversation that a program sends, with its files in base64."""
_OTHER_PORT = (
    "end the program that uses the port, or set FLASK_PORT to another one (0: any free one)"
)
_OTHER_HOST = "set FLASK_HOST to an address of this machine, such as 127.0.0.1; 0.0.0.0 means all"
_OPEN = (
    "Port {port} can be reached from other machines. The token is required, but nothing is "
    "encrypted. "
    "FLASK_HOST=127.0.0.1 keeps the page to this machine."
)
_LONGEST_END = 1.6


def create_app(
    engine: "Engine", bridge: Bridge, settings: Settings, token: str, status_interval: float = 10.0
) -> tuple[Flask, SocketIO]:
    """The Flask application behind the access middleware, with Socket.IO attached; checks for a
    changed status at an interval.

    Raises:
        ConfigurationError: the page's libraries are not installed.
    """
    app = Flask(__name__)
    app.json = FlaskJSON(app)
    uploads = Uploads()
    bundle = None if settings.development else load_bundle()
    vendor = Vendor() if bundle and SHIPPED.is_dir() else load_vendor()
    add_page_routes(app, vendor, bundle, development=settings.development)
    add_rest_routes(app, bridge, engine, uploads, settings.large_files)
    add_metrics_route(app, bridge, engine)
    add_openai_routes(app, bridge, engine)
    add_share_routes(app, bridge, engine, vendor, bundle)
    add_mcp_routes(app, bridge, engine, settings)
    socketio = SocketIO(
        app,
        async_mode=settings.async_mode,
        cors_allowed_origins=[],  # the middleware checks origins
        json=WireJSON,
        serializer=WirePacket,
        max_http_buffer_size=LARGEST_MESSAGE,
        logger=socket_log(),
        engineio_logger=socket_log(),
    )
    # Flask-SocketIO opens a request for each event: for a path without a rule it would keep an
    # exception, a cycle of fifty objects for the garbage collector
    app.add_url_rule("/socket.io/", "socket", websocket=True)
    sockets = Sockets(socketio, bridge, engine, uploads)
    bridge.begin(
        watch_status(
            engine,
            lambda status: bridge.post(partial(sockets.tell_status, status)),
            status_interval,
            sockets.watched,
        )
    )
    key = shared_key(token) if settings.access_token else signing_key(settings.data_dir)
    access, access_page = Access(token, key), AccessPage(app)
    guarded = AccessMiddleware(
        app.wsgi_app,
        access,
        settings.flask_host,
        settings.allowed_hosts,
        access_page,
        bodies={
            "/api/v1/files": engine.file_limits.each or engine.file_limits.size,
            "/mcp": LARGEST_CALL,
            **dict.fromkeys((CHAT, RESPONSES), _LARGEST_CHAT),
            **BODIES,
        },
        programs=RequestRate(settings.program_requests_per_minute),
        hooks=RequestRate(hooks) if (hooks := settings.hook_requests_per_minute) else None,
        pause=bridge.pause,
        shared=lambda token: bridge.call(engine.shares.opened(token)),
        gone_page=access_page.render_gone,
        scheme="https" if settings.https_certificate else "http",
    )
    app.wsgi_app = TimedRequests(guarded)  # type: ignore[method-assign]
    return app, socketio


def add_rest_routes(
    app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads, large_files: LargeFiles
) -> None:
    """Add what programs and the page use below /api/v1."""
    add_server_routes(app, bridge, engine)
    add_turn_routes(app, bridge, engine, uploads)
    add_exchange_routes(app, bridge, engine)
    add_tool_routes(app, bridge, engine, uploads)
    add_editing_routes(app, bridge, engine)
    add_health_routes(app, bridge, engine)
    add_grant_routes(app, bridge, engine)
    add_conversation_routes(app, bridge, engine, uploads)
    add_file_routes(app, uploads, large_files)
    add_lesson_routes(app, bridge, engine)
    add_schedule_routes(app, bridge, engine, uploads)
    add_mcp_server_routes(app, bridge, engine)
    add_project_routes(app, bridge, engine)
    add_settings_routes(app, bridge, engine)
    add_share_operations(app, bridge, engine)


async def watch_status(
    engine: "Engine",
    changed: Callable[[EngineStatus], None],
    interval: float,
    watched: Callable[[], bool],
) -> None:
    """Read the engine's status every `interval` seconds and when it reports news; pass on changes.
    While somebody looks, the model's server is probed too. Runs until cancelled.
    """
    before: EngineStatus | None = None
    news, probe = asyncio.Event(), asyncio.create_task(_probe(engine))
    engine.readiness.changed.subscribe(news.set)
    engine.configuration.news.subscribe(news.set)
    while True:
        news.clear()
        if watched() and probe.done():
            probe = asyncio.create_task(_probe(engine))
        try:
            now = await engine.setup.status()
        except Exception:
            log.exception("could not read the engine's status")  # perhaps the next time
        else:
            if before is not None and now != before:
                changed(now)
            before = now
        with suppress(TimeoutError):
            async with asyncio.timeout(interval):
                await news.wait()


async def _probe(engine: "Engine") -> None:
    try:
        await engine.configuration.probe()
    except Exception:
        log.exception("could not probe the model's server")  # perhaps the next time


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound to the address but does not listen yet.

    Raises:
        ConfigurationError: the address is taken, or does not belong to this machine.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind)
    except (OSError, UnicodeError) as error:  # UnicodeError for an invalid host name
        raise ConfigurationError(
            f"FLASK_HOST={host}: {getattr(error, 'strerror', None) or error}", _OTHER_HOST
        ) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # connections inherit it; without it what is sent in two pieces may wait 40 ms
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise ConfigurationError(
                f"FLASK_HOST={host} is not an address of this machine", _OTHER_HOST
            ) from error
        raise ConfigurationError(
            f"port {port} on {host} can't be used: {error.strerror or error}", _OTHER_PORT
        ) from error
    return listener


def _listen(listener: socket.socket) -> None:
    try:
        listener.listen(1024)
    except OSError as error:  # another process bound the address too and was faster
        raise ConfigurationError(
            f"port {listener.getsockname()[1]} can't be used: {error.strerror}", _OTHER_PORT
        ) from error


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """The TLS context of the page's connections; None for http.

    Raises:
        ConfigurationError: certificate or key is missing, can't be read, or they don't fit.
    """
    certificate, key = settings.https_certificate, settings.https_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigurationError(
            f"HTTPS_{'KEY' if certificate else 'CERTIFICATE'} is not set", "set both, or neither"
        )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:
        raise ConfigurationError(
            f"HTTPS_CERTIFICATE={certificate} with HTTPS_KEY={key} can't be used: "
            f"{error.strerror or error}",
            "name a PEM file with the certificate, and one with its key, without a password",
        ) from error
    return context


def link(host: str, port: int, token: str, scheme: str = "http") -> str:
    """The address that opens the page on this machine."""
    name = "127.0.0.1" if host in {"0.0.0.0", "::"} else f"[{host}]" if ":" in host else host  # noqa: S104 - compared only
    return f"{scheme}://{name}:{port}/?token={quote(token, safe='')}"


def serve(
    engine: "Engine",
    bridge: Bridge,
    kind: Serving,
    settings: Settings,
    listener: socket.socket,
    *,
    status_interval: float = 10.0,
    patience: Patience | None = None,
) -> None:
    """Print the link and serve until SIGINT or SIGTERM, then end the engine; within two seconds, if
    necessary by force.
    """
    token = (
        settings.access_token.get_secret_value()
        if settings.access_token
        else secrets.token_urlsafe(24)
    )
    stop, tls = kind.event(), tls_context(settings)
    gc.freeze()
    gc.enable()
    try:
        app, _ = create_app(engine, bridge, settings, token, status_interval)

        def end(*_: object) -> None:
            force = threading.Timer(_LONGEST_END, os._exit, (0,))
            force.daemon = True
            force.start()
            bridge.post(stop.set)

        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGTERM, end)
        kind.spawn(bridge.pump)
        _listen(listener)
        address, port = listener.getsockname()[:2]
        if not tls and not ipaddress.ip_address(address).is_loopback:
            _report(_OPEN.format(port=port))
        scheme = "https" if tls else "http"
        sys.stdout.write(link(settings.flask_host, port, token, scheme) + "\n")
        sys.stdout.flush()
        log.info("serving the page on %s, port %d", address, port)
        kind.serve(
            app,
            listener,
            stop,
            Connections(settings.connections_max_per_address, patience=patience),
            tls,
        )
    finally:
        log.info("ending")
        bridge.close(engine.aclose)


def main() -> int:
    """Set up what is missing, then serve; only the link is printed to standard output."""
    log_to_stderr()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        export_env_file()
        join_network()
        settings = load_settings()
        log_to_stderr(settings.log_level)
        tls_context(settings)  # what is wrong is reported before anything is set up
        listener = bind(settings.flask_host, settings.flask_port)
        _run(settings, listener)
    except AgentError as error:
        sys.stderr.write(
            f"{error.message}\n" + (f"What to do: {error.remedy}\n" if error.remedy else "")
        )
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        sys.stderr.write(f"{error}\nWhat to do: free space there, or set another DATA_DIR\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def _run(settings: Settings, listener: socket.socket) -> None:
    from selfeng.bootstrap import build_engine
    from selfeng.provision.front_end import prepare_front_end

    make_folders(settings)
    prepare_front_end(_report)
    kind = serving(settings.async_mode)
    bridge = Bridge(kind)
    engine = bridge.run(build_engine(settings, durable=True))
    try:
        bridge.run(engine.learning.start())
        bridge.run(_set_up(engine))
        bridge.run(engine.recovery.start())
    except BaseException:
        bridge.close(engine.aclose)
        raise
    serve(engine, bridge, kind, settings, listener)


async def _set_up(engine: "Engine") -> None:
    """Start to set up what this machine lacks, and report it on the terminal."""
    engine.readiness.tell(_report)
    tune_process(engine.setup.start())


def _report(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    exit_process(main())
