"""The routes of projects: the list, one of them, its files, all of them as a zip, and its end. What runs on one begins by the socket."""

import io

import flask
from flask import Flask, Response

from selfeng.core.files import BINARY, media_type
from selfeng.core.pictures import PICTURES
from web.bridge import Bridge
from web.gate import visitor_of
from web.port import Engine
from web.wire import plain


def add_project_routes(app: Flask, bridge: Bridge, engine: Engine) -> None:
    """Access was checked before any of them is reached, and the origin of those that change something."""

    @app.get("/api/projects")
    def projects() -> Response:
        return flask.jsonify({"projects": [plain(p) for p in bridge.call(engine.projects.projects(_owner()))]})

    @app.get("/api/projects/<project_id>")
    def project(project_id: str) -> Response:
        return flask.jsonify(plain(bridge.call(engine.projects.project(_owner(), project_id))))

    @app.delete("/api/projects/<project_id>")
    def delete_project(project_id: str) -> Response:
        bridge.call(engine.projects.delete(_owner(), project_id))
        return flask.jsonify({})

    @app.get("/api/projects/<project_id>/zip")
    def archive(project_id: str) -> Response:
        name, content = bridge.call(engine.projects.archive(_owner(), project_id))
        return flask.send_file(io.BytesIO(content), mimetype="application/zip", as_attachment=True, download_name=f"{name}.zip")

    @app.get("/api/projects/<project_id>/files/<path:path>")
    def project_file(project_id: str, path: str) -> Response:
        """Only pictures are shown in place, and only under their own type; anything else is a download of bytes."""
        found = bridge.call(engine.projects.file(_owner(), project_id, path))
        kind = media_type(found.path, found.content)
        shown = kind in PICTURES and "download" not in flask.request.args
        name = found.path.rpartition("/")[2]
        mimetype = kind if kind in PICTURES else BINARY
        return flask.send_file(io.BytesIO(found.content), mimetype=mimetype, as_attachment=not shown, download_name=name)


def _owner() -> str:
    return visitor_of(flask.request.environ).owner
