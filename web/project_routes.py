"""The routes of projects: the list, one of them, its files, all of them as a zip, and deletion.
Actions on a project start through the socket.
"""

import io
from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from selfeng.core.files import media_type
from web.bridge import Bridge
from web.file_routes import send
from web.middleware import owner
from web.payloads import plain

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_project_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/projects")
    def projects() -> Response:
        return flask.jsonify(
            {"projects": [plain(p) for p in bridge.call(engine.projects.projects(owner()))]}
        )

    @app.get("/api/v1/projects/<project_id>")
    def project(project_id: str) -> Response:
        return flask.jsonify(plain(bridge.call(engine.projects.project(owner(), project_id))))

    @app.delete("/api/v1/projects/<project_id>")
    def delete_project(project_id: str) -> Response:
        bridge.call(engine.projects.delete(owner(), project_id))
        return flask.jsonify({})

    @app.get("/api/v1/projects/<project_id>/zip")
    def archive(project_id: str) -> Response:
        name, content = bridge.call(engine.projects.archive(owner(), project_id))
        return flask.send_file(
            io.BytesIO(content),
            mimetype="application/zip",
            as_attachment=True,
            download_name=f"{name}.zip",
        )

    @app.get("/api/v1/projects/<project_id>/files/<path:path>")
    def project_file(project_id: str, path: str) -> Response:
        found = bridge.call(engine.projects.file(owner(), project_id, path))
        return send(
            found.path.rpartition("/")[2], found.content, media_type(found.path, found.content)
        )
