"""The operations of other MCP servers: which there are, their tools, and what is always allowed."""

from typing import TYPE_CHECKING

from flask import Flask

from web.bridge import Bridge
from web.operations import operation
from web.payloads import ServerToolNamed
from web.resources import OtherServer, OtherServerList

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_mcp_server_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. They wait for no server: one that is not connected is shown as such."""

    def listed() -> OtherServerList:
        known_servers = bridge.call(engine.servers.servers())
        servers = (OtherServer.model_validate(server.as_json()) for server in known_servers)
        return OtherServerList(servers=tuple(servers))

    @app.get("/api/v1/servers")
    @operation()
    def other_servers() -> OtherServerList:
        """List the other MCP servers, with what each listed last."""
        return listed()

    @app.post("/api/v1/servers/<name>/allow")
    @operation()
    def allow_server_tool(name: str, body: ServerToolNamed) -> OtherServerList:
        """Always allow a tool as its server describes it now, or all tools of the server."""
        bridge.call(engine.servers.allow_named(name, body.tool))
        return listed()

    @app.post("/api/v1/servers/<name>/revoke")
    @operation()
    def revoke_server_tool(name: str, body: ServerToolNamed) -> OtherServerList:
        """Ask again before a tool is called, or any tool of the server."""
        bridge.call(engine.servers.revoke(name, body.tool))
        return listed()
