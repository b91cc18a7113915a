"""The routes of a tool's versions, its standing and its learned requests. Changes apply to all
visitors; requests are shown to their owner only.
"""

from typing import TYPE_CHECKING, TypeVar

import flask
from flask import Flask, Response
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest

from selfeng.core.value import Value
from web.bridge import Bridge
from web.middleware import owner
from web.payloads import (
    LAST_SEQ,
    Forget,
    Rollback,
    tool_line,
    tool_page,
    version_line,
    version_page,
)

if TYPE_CHECKING:
    from selfeng.engine import Engine

ValueT = TypeVar("ValueT", bound=Value)


def add_version_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/tools/<name>/versions")
    def versions(name: str) -> Response:
        return flask.jsonify(
            {"versions": [version_line(v) for v in bridge.call(engine.library.versions(name))]}
        )

    @app.get("/api/v1/tools/<name>/versions/<number>")
    def version(name: str, number: str) -> Response:
        found = bridge.call(engine.library.version(name, _number("version", number)))
        return flask.jsonify(version_page(found, bridge.call(engine.examples(owner(), found))))

    @app.get("/api/v1/tools/<name>/diff")
    def diff(name: str) -> Response:
        before, after = (_number(end, flask.request.args.get(end, "")) for end in ("from", "to"))
        return flask.jsonify(
            {
                "from": before,
                "to": after,
                "diff": bridge.call(engine.difference(name, before, after)),
            }
        )

    @app.post("/api/v1/tools/<name>/rollback")
    def rollback(name: str) -> Response:
        asked = _body(Rollback, '{"to": 1}, with the number of a version')
        return flask.jsonify(tool_line(bridge.call(engine.library.rollback(name, asked.to))))

    @app.post("/api/v1/tools/<name>/retire")
    def retire(name: str) -> Response:
        return flask.jsonify(tool_line(bridge.call(engine.library.retire(name))))

    @app.post("/api/v1/tools/<name>/restore")
    def restore(name: str) -> Response:
        return flask.jsonify(tool_line(bridge.call(engine.library.restore(name))))

    @app.post("/api/v1/tools/<name>/forget")
    def forget(name: str) -> Response:
        asked = _body(Forget, '{"request": "…"}, with a request of yours that the tool has served')
        left = bridge.call(engine.forget_request(owner(), name, asked.request))
        tool = bridge.call(engine.library.get(name))
        examples = bridge.call(engine.examples(owner(), tool))
        return flask.jsonify(
            tool_page(tool, examples, left, bridge.call(engine.habits(owner(), name)))
        )


def _body(form: type[ValueT], described: str) -> ValueT:
    """The body of the request as a value. Raises: BadRequest."""
    try:
        return form.model_validate(flask.request.get_json(silent=True))
    except ValidationError as error:
        raise BadRequest(f"the body must be JSON of the form {described}") from error


def _number(what: str, text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
    if not 0 < number <= LAST_SEQ:
        raise BadRequest(f"{what}={text[:20]!r} is not the number of a version")
    return number
