"""The routes of files, those for the page's next request and those of a conversation, and of the
values that its tools returned.
"""

import io
import re
from typing import TYPE_CHECKING

import flask
from flask import Flask, Response
from werkzeug.exceptions import BadRequest, LengthRequired

from selfeng.core.files import BINARY, File, name_problem, shown_name
from selfeng.core.pictures import PICTURES
from selfeng.core.result import Result, ResultFormat
from web.bridge import Bridge
from web.exports import as_json, as_markdown
from web.middleware import owner
from web.payloads import plain
from web.uploads import Uploads

_ENDINGS: dict[ResultFormat, str] = {"csv": ".csv", "json": ".json", "text": ".txt"}

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_file_routes(app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads) -> None:
    """Add the routes. Access and the declared size of a body are checked before any of them."""

    @app.post("/api/v1/files")
    def upload() -> Response:
        name = flask.request.args.get("name", "")
        if problem := name_problem(name):
            raise BadRequest(f"{shown_name(name)!r} can't be the name of a file: {problem}")
        if flask.request.content_length is None:
            raise LengthRequired("the length of the file must be sent first, as Content-Length")
        file = File(name=name, content=flask.request.get_data(cache=False))
        return flask.jsonify({"id": uploads.put(owner(), file), **plain(file.reference())})

    @app.get("/api/v1/conversations/<conversation_id>/files/<sha256>/<name>")
    def file(conversation_id: str, sha256: str, name: str) -> Response:
        return send_file(bridge.call(engine.file(owner(), conversation_id, sha256, name)))

    @app.get("/api/v1/conversations/<conversation_id>/results/<sha256>")
    def result(conversation_id: str, sha256: str) -> Response:
        return send_result(bridge.call(engine.result(owner(), conversation_id, sha256)))

    @app.get("/api/v1/conversations/<conversation_id>/export.<form>")
    def export(conversation_id: str, form: str) -> Response:
        if form not in ("md", "json"):
            raise BadRequest(f"unknown format {form[:20]!r}; use md or json")
        found, records = bridge.call(engine.exported(owner(), conversation_id))
        text = as_markdown(found.title, records) if form == "md" else as_json(found, records)
        return send(f"{_file_name(found.title)}.{form}", text.encode(), BINARY)


def _file_name(title: str) -> str:
    """A title as the name of a file, without what a system may refuse in one."""
    return re.sub(r"[^\w -]+", " ", title).strip()[:80].strip() or "conversation"


def send_file(file: File) -> Response:
    """A response with a file of a conversation."""
    reference = file.reference()
    response = send(file.name, file.content, reference.media_type, etag=reference.sha256)
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


def send(name: str, content: bytes, media_type: str, *, etag: str | bool = True) -> Response:
    """A response with a file: pictures are shown inline under their own type; anything else is a
    download of bytes.
    """
    picture = media_type in PICTURES
    return flask.send_file(
        io.BytesIO(content),
        mimetype=media_type if picture else BINARY,
        as_attachment=not picture or "download" in flask.request.args,
        download_name=name,
        etag=etag,
    )
