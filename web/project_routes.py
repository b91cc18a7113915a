"""The routes of projects: the list, one of them, its files, all of them as a zip, and deletion.
Actions on a project start through the socket.
"""

import io
from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from selfeng.core.files import BINARY, media_type
from selfeng.core.pictures import PICTURES
from selfeng.projects.service import ProjectDetail
from web.bridge import Bridge
from web.file_routes import send
from web.middleware import owner
from web.operations import Done, operation
from web.resources import ProjectList

if TYPE_CHECKING:
    from selfeng.engine import Engine

_ZIP = "application/zip"


def add_project_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/projects")
    @operation()
    def projects() -> ProjectList:
        """List your projects."""
        return ProjectList(projects=bridge.call(engine.projects.projects(owner())))

    @app.get("/api/v1/projects/<project_id>")
    @operation()
    def project(project_id: str) -> ProjectDetail:
        """Show a project with its files, hashes and backups."""
        return bridge.call(engine.projects.project(owner(), project_id))

    @app.delete("/api/v1/projects/<project_id>")
    @operation()
    def delete_project(project_id: str) -> Done:
        """Delete a project with its files and backups."""
        bridge.call(engine.projects.delete(owner(), project_id))
        return Done()

    @app.get("/api/v1/projects/<project_id>/zip")
    @operation(media=[_ZIP])
    def archive(project_id: str) -> Response:
        """Download the files of a project."""
        name, content = bridge.call(engine.projects.archive(owner(), project_id))
        return flask.send_file(
            io.BytesIO(content),
            mimetype=_ZIP,
            as_attachment=True,
            download_name=f"{name}.zip",
        )

    @app.get("/api/v1/projects/<project_id>/files/<path:path>")
    @operation(media=[BINARY, *sorted(PICTURES)])
    def project_file(project_id: str, path: str) -> Response:
        """Get a file of a project; pictures have their own type."""
        file = bridge.call(engine.projects.file(owner(), project_id, path))
        return send(file.path.rpartition("/")[2], file.content, media_type(file.path, file.content))
