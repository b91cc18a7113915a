"""The route of the MCP server. The protocol's modules are loaded at its first request, as that
takes a second.
"""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any

import flask
from flask import Flask, Response

from selfeng.core.settings import Settings
from web.access import PERSON
from web.asgi import LEFT, respond
from web.bridge import Bridge

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from selfeng.engine import Engine

LARGEST_CALL = 20 * 1024 * 1024
"""Bytes of a request: files in base64, and more."""
_MOST_SESSIONS = 1000
"""Of clients before 2026; one without a request for half an hour ends."""


class McpApp:
    """The ASGI application, for the one person that all visitors with the token are."""

    def __init__(self, engine: "Engine", settings: Settings) -> None:
        self._engine, self._settings = engine, settings
        self._running: asyncio.Task[None] | None = None
        self._sessions: asyncio.Future[StreamableHTTPSessionManager] | None = None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if self._running is None or self._sessions is None:
            self._sessions = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._sessions))
        both: set[asyncio.Future[Any]] = {self._running, self._sessions}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if self._running.done():
            self._running.result()
        await self._sessions.result().handle_request(scope, receive, send)

    async def _run(self, ready: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        """Serve until the engine ends."""
        await asyncio.to_thread(import_module, "selfeng.doors.engine_tools")
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from selfeng.doors.engine_tools import EngineTools
        from selfeng.doors.mcp_server import mcp_server

        source = EngineTools(self._engine, PERSON, self._settings.mcp_tools)
        # hosts and origins are the access middleware's matter
        sessions = StreamableHTTPSessionManager(
            mcp_server(source, _disconnect_event, source),
            max_request_body_size=LARGEST_CALL,
            max_sessions=_MOST_SESSIONS,
        )
        async with sessions.run():
            ready.set_result(sessions)
            await asyncio.Event().wait()


def add_mcp_routes(app: Flask, bridge: Bridge, engine: "Engine", settings: Settings) -> None:
    """Add the route; access is checked before it, as before any other."""
    served = McpApp(engine, settings)

    @app.get("/mcp")
    @app.post("/mcp")
    @app.delete("/mcp")
    def mcp() -> Response:
        flask.request.max_content_length = LARGEST_CALL
        return respond(bridge, served, flask.request)


def _disconnect_event(request: "Request") -> asyncio.Event:
    event: asyncio.Event = request.scope["state"][LEFT]
    return event
