"""Files: the operation that takes one for the next request, and how files and values are sent."""

import io
from functools import partial
from pathlib import Path

import flask
from flask import Flask, Response
from werkzeug.exceptions import BadRequest, LengthRequired

from selfeng.core.errors import RequestError
from selfeng.core.files import BINARY, PIECE, File, LargeFiles, name_problem, shown_name
from selfeng.core.pictures import PICTURES
from selfeng.core.result import Result, ResultFormat
from web.middleware import owner
from web.operations import operation
from web.payloads import UploadName
from web.resources import UploadedFile
from web.uploads import Uploads

_ENDINGS: dict[ResultFormat, str] = {"csv": ".csv", "json": ".json", "text": ".txt"}


def add_file_routes(app: Flask, uploads: Uploads, large_files: LargeFiles) -> None:
    """Add the route. Access and the declared size of a body are checked before it."""

    @app.post("/api/v1/files")
    @operation(takes=BINARY)
    def upload(query: UploadName) -> UploadedFile:
        """Send a file ahead of the request or call that names it."""
        name = query.name
        if problem := name_problem(name):
            message = f"{shown_name(name)!r} can't be the name of a file: {problem}"
            raise RequestError(message, "rename it", cause="name", name=shown_name(name))
        if flask.request.content_length is None:
            raise LengthRequired("the length of the file must be sent first, as Content-Length")
        pieces = iter(partial(flask.request.stream.read, PIECE), b"")
        file = large_files.take(name, pieces)
        return UploadedFile(**dict(file.reference()), id=uploads.put(owner(), file))


def send_file(file: File) -> Response:
    """A response with a file of a conversation."""
    reference = file.reference()
    content = file.large.path if file.large else file.content
    response = send(file.name, content, reference.media_type, etag=reference.sha256)
    response.cache_control.no_cache, response.cache_control.private = True, True
    return response


def send_result(result: Result) -> Response:
    """A response with a value of a conversation, in the format that the request names."""
    form = flask.request.args.get("format", "")
    if not form:
        response = flask.Response(result.content, mimetype="application/json")
    elif form in _ENDINGS:
        # Excel takes a file that is not in ASCII for UTF-8 only by its BOM.
        text = result.in_format(form)
        coded = text.encode("utf-8" if text.isascii() or form != "csv" else "utf-8-sig")
        etag = f"{result.reference.sha256}{form}"
        response = send(f"result{_ENDINGS[form]}", coded, BINARY, etag=etag)
    else:
        raise BadRequest(f"unknown format {form[:20]!r}; use {', '.join(_ENDINGS)}, or none")
    response.cache_control.no_cache, response.cache_control.private = True, True
    return response


def send(name: str, content: bytes | Path, media_type: str, *, etag: str | bool = True) -> Response:
    """A response with a file: pictures are shown inline under their own type; anything else is a
    download of bytes.
    """
    picture = media_type in PICTURES
    return flask.send_file(
        io.BytesIO(content) if isinstance(content, bytes) else content,
        mimetype=media_type if picture else BINARY,
        as_attachment=not picture or "download" in flask.request.args,
        download_name=name,
        etag=etag,
    )
