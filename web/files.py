"""The routes of files: what a page sends for its next request, and what it may have of a conversation."""

import io

import flask
from flask import Flask, Response
from werkzeug.exceptions import BadRequest, LengthRequired

from selfeng.core.files import BINARY, File, name_problem, shown_name
from selfeng.core.pictures import PICTURES
from web.bridge import Bridge
from web.gate import visitor_of
from web.port import Engine
from web.uploads import Uploads
from web.wire import plain


def add_file_routes(app: Flask, bridge: Bridge, engine: Engine, uploads: Uploads) -> None:
    """Access was checked before any of them is reached, and so was the size that a body claims."""

    @app.post("/api/files")
    def upload() -> Response:
        name = flask.request.args.get("name", "")
        if problem := name_problem(name):
            raise BadRequest(f"{shown_name(name)!r} can't be the name of a file: {problem}")
        if flask.request.content_length is None:
            raise LengthRequired("the length of a file must be told before it is sent")
        file = File(name=name, content=flask.request.get_data(cache=False))
        return flask.jsonify({"id": uploads.put(_owner(), file), **plain(file.reference())})

    @app.get("/api/conversations/<conversation_id>/files/<sha256>/<name>")
    def file(conversation_id: str, sha256: str, name: str) -> Response:
        """Only pictures are shown in place, and only under their own type; anything else is a download of bytes."""
        found = bridge.call(engine.file(_owner(), conversation_id, sha256, name))
        kind = found.reference().media_type
        shown = kind in PICTURES and "download" not in flask.request.args
        response = flask.send_file(
            io.BytesIO(found.content),
            mimetype=kind if kind in PICTURES else BINARY,
            as_attachment=not shown,
            download_name=found.name,
            etag=sha256,
        )
        response.cache_control.no_cache, response.cache_control.private = True, True
        return response


def _owner() -> str:
    return visitor_of(flask.request.environ).owner
