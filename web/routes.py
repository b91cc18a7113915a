"""The HTTP routes: the page, its files, and the REST side of the engine."""

import json
import logging
from typing import TYPE_CHECKING, TypeVar

import flask
from flask import Flask, Response
from markupsafe import Markup
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest, HTTPException, NotFound

from selfeng.core.errors import (
    AgentError,
    LimitReached,
    RequestError,
    ResourceBusy,
    ResourceNotFound,
    ToolModified,
    ToolNameInvalid,
    ToolNotFound,
    VersionConflict,
    VersionNotFound,
    WorkspaceError,
)
from selfeng.core.stage import STAGES
from selfeng.core.value import Value
from selfeng.graph import TURN_SVG
from selfeng.store.conversation_list import LONGEST_TITLE, ConversationChange
from web.bridge import Bridge
from web.middleware import error_body, nonce_of, owner
from web.payloads import (
    LAST_SEQ,
    LONGEST_LESSON,
    LessonWords,
    lesson_line,
    plain,
    problem,
    tool_line,
    tool_page,
)
from web.vendor import Vendor

if TYPE_CHECKING:
    from selfeng.engine import Engine

V = TypeVar("V", bound=Value)

log = logging.getLogger(f"selfeng.{__name__}")

_STAGE_WORDS = json.dumps(
    [stage.model_dump(include={"name", "title", "now", "icon"}) for stage in STAGES.values()],
    ensure_ascii=False,
).replace("<", "\\u003c")
"""The page's words for each stage, as JSON that can be embedded in it."""
_FOR_GOOD = 365 * 24 * 3600
_STATUS: dict[type[AgentError], int] = {
    ResourceNotFound: 404,
    ResourceBusy: 409,
    LimitReached: 429,
    RequestError: 400,
    ToolNotFound: 404,
    ToolNameInvalid: 404,
    VersionNotFound: 404,
    WorkspaceError: 404,
    ToolModified: 409,
    VersionConflict: 409,
}


def add_routes(app: Flask, bridge: Bridge, engine: "Engine", vendor: Vendor) -> None:
    """Add all routes of the server; access is checked before any of them."""

    @app.get("/")
    def page() -> str:
        return flask.render_template(
            "index.html",
            import_map=Markup(vendor.import_map),  # noqa: S704 - made of our own table, "<" escaped
            stages=Markup(_STAGE_WORDS),  # noqa: S704 - the same
            csp_nonce=nonce_of(flask.request.environ),
            preload=list(vendor.addresses.values()),
        )

    @app.get("/vendor/<path:name>")
    def library_file(name: str) -> Response:
        if name not in vendor.files:
            raise NotFound
        response = flask.send_file(
            vendor.files[name], mimetype="text/javascript", max_age=_FOR_GOOD
        )
        response.cache_control.immutable = True
        response.cache_control.public, response.cache_control.private = False, True
        return response

    @app.get("/api/health")
    def health() -> Response:
        return flask.jsonify(plain(bridge.call(engine.status())))

    @app.get("/api/tools")
    def tools() -> Response:
        return flask.jsonify({"tools": [tool_line(t) for t in bridge.call(engine.library.tools())]})

    @app.get("/api/tools/<name>")
    def tool(name: str) -> Response:
        found = bridge.call(engine.library.get(name))
        return flask.jsonify(
            tool_page(
                found,
                bridge.call(engine.examples(owner(), found)),
                bridge.call(engine.used_requests(owner(), name)),
                bridge.call(engine.habits(owner(), name)),
            )
        )

    @app.get("/api/graph")
    def graph() -> Response:
        return flask.jsonify({"svg": TURN_SVG.read_text("utf-8")})

    @app.get("/api/lessons")
    def lessons() -> Response:
        return flask.jsonify(
            {"lessons": [lesson_line(one) for one in bridge.call(engine.learning.lessons())]}
        )

    @app.patch("/api/lessons/<lesson_id>")
    def edit_lesson(lesson_id: str) -> Response:
        words = _body(LessonWords, f"{{trigger, advice}}, each of 1 to {LONGEST_LESSON} characters")
        return flask.jsonify(
            lesson_line(bridge.call(engine.learning.edit(lesson_id, words.trigger, words.advice)))
        )

    @app.delete("/api/lessons/<lesson_id>")
    def remove_lesson(lesson_id: str) -> Response:
        bridge.call(engine.learning.remove(lesson_id))
        return flask.jsonify({})

    @app.get("/api/conversations")
    def conversations() -> Response:
        text = flask.request.args.get("q", "")[:LONGEST_TITLE]
        mine = bridge.call(engine.conversations(owner(), text))
        return flask.jsonify({"conversations": [plain(c) for c in mine]})

    @app.patch("/api/conversations/<conversation_id>")
    def change_conversation(conversation_id: str) -> Response:
        change = _body(
            ConversationChange,
            f"one or more of title (1 to {LONGEST_TITLE} characters), pinned, deleted, seen",
        )
        bridge.call(engine.change_conversation(owner(), conversation_id, change))
        return flask.jsonify({})

    @app.get("/api/conversations/<conversation_id>/records")
    def records(conversation_id: str) -> Response:
        text = flask.request.args.get("after", "0")
        after = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else LAST_SEQ + 1
        if after > LAST_SEQ:
            raise BadRequest(f"after={text[:20]!r} is not the number of a record")
        found = bridge.call(engine.history(owner(), conversation_id, after))
        return flask.jsonify({"records": [plain(r) for r in found]})

    app.register_error_handler(Exception, _report)


def _body(kind: type[V], remedy: str) -> V:
    """Raises: BadRequest, which says to send `remedy`."""
    try:
        return kind.model_validate_json(flask.request.get_data())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:80] or "the body"
        raise BadRequest(f"{place}: {first['msg']}; send {remedy}") from None


def _report(error: Exception) -> Response:
    """JSON below /api/, plain text elsewhere."""
    match error:
        case HTTPException(code=int(status)):
            told = {"message": error.description or error.name, "remedy": ""}
        case AgentError():
            status, told = (
                next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 503),
                problem(error),
            )
        case _:
            log.error("a request failed", exc_info=error)
            status, told = 500, problem(error)
    if flask.request.path.startswith("/api/"):
        response = flask.jsonify(error_body(**told))
    else:
        response = Response(
            " ".join(filter(None, (told["message"], told["remedy"]))) + "\n", mimetype="text/plain"
        )
    response.status_code = status
    if isinstance(error, HTTPException):
        response.headers.extend((k, v) for k, v in error.get_headers() if k == "Allow")
    return response
