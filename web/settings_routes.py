"""The routes of the settings: read, changed and tried by whoever has opened the page."""

from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from web.bridge import Bridge
from web.payloads import SettingsChange, plain
from web.routes import body_as

if TYPE_CHECKING:
    from selfeng.engine import Engine

_FORM = '{"changes": {"openai_model": "…"}}, null to take a choice back'


def add_settings_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. No answer has a key in it."""
    configuration = engine.configuration

    @app.get("/api/v1/settings")
    def settings() -> Response:
        return flask.jsonify(plain(configuration.view()))

    @app.patch("/api/v1/settings")
    def change_settings() -> Response:
        bridge.call(configuration.change(body_as(SettingsChange, _FORM).changes))
        return flask.jsonify(plain(configuration.view()))

    @app.post("/api/v1/settings/models")
    def models() -> Response:
        found = bridge.call(configuration.models(body_as(SettingsChange, _FORM).changes))
        return flask.jsonify({"models": found})
