"""The operations of the server itself: its state, the graph of a turn, the API in OpenAPI."""

import asyncio
from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from selfeng.core.status import EngineStatus
from selfeng.turns.graph_run import TURN_SVG
from web.bridge import Bridge
from web.operations import openapi, operation
from web.resources import Drawing

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_server_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes; access is checked before any of them but `/healthz`."""

    @app.get("/healthz")
    def alive() -> Response:
        bridge.call(asyncio.sleep(0))
        return Response("ok\n", mimetype="text/plain")

    @app.get("/api/v1/openapi.json")
    def description() -> Response:
        return flask.jsonify(openapi(app))

    @app.get("/api/v1/health")
    @operation()
    def health() -> EngineStatus:
        """Show the state of model, sandbox, library and set-up."""
        return bridge.call(engine.setup.status())

    @app.get("/api/v1/graph")
    @operation()
    def graph() -> Drawing:
        """Show the graph of a turn, as SVG."""
        return Drawing(svg=TURN_SVG.read_text("utf-8"))


def add_metrics_route(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the route, and count from now on."""
    from selfeng.doors.metrics import Metrics

    metrics = Metrics(engine)

    async def listen() -> None:
        metrics.listen()

    bridge.run(listen())

    @app.get("/metrics")
    def exposed() -> Response:
        text = bridge.call(metrics.exposition())
        return Response(text, content_type="text/plain; version=0.0.4; charset=utf-8")
