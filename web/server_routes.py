"""The routes of other MCP servers: which there are, their tools, and what is always allowed."""

from typing import TYPE_CHECKING, Any

import flask
from flask import Flask, Response

from selfeng.core.value import Value
from web.bridge import Bridge
from web.routes import body_as

if TYPE_CHECKING:
    from selfeng.engine import Engine

_FORM = '{"tool": "…"}, or {} for all tools of the server'


class ServerToolNamed(Value):
    """A tool of the server in the path."""

    tool: str = ""
    """What the server calls it; "" for all."""


def add_server_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. They wait for no server: one that is not connected is shown as such."""

    @app.get("/api/servers")
    def other_servers() -> Response:
        return flask.jsonify({"servers": _lines(bridge, engine)})

    @app.post("/api/servers/<name>/allow")
    def allow_server_tool(name: str) -> Response:
        bridge.call(engine.servers.allow_named(name, body_as(ServerToolNamed, _FORM).tool))
        return flask.jsonify({"servers": _lines(bridge, engine)})

    @app.post("/api/servers/<name>/revoke")
    def revoke_server_tool(name: str) -> Response:
        bridge.call(engine.servers.revoke(name, body_as(ServerToolNamed, _FORM).tool))
        return flask.jsonify({"servers": _lines(bridge, engine)})


def _lines(bridge: Bridge, engine: "Engine") -> list[dict[str, Any]]:
    return [server.as_json() for server in bridge.call(engine.servers.servers())]
