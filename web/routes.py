"""The HTTP routes: the page, its files, and the REST side of the engine."""

import gzip
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

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
from selfeng.core.tool import Candidate
from selfeng.core.value import Value
from selfeng.graph import TURN_SVG
from selfeng.provision.configuration import SettingsInvalid
from selfeng.store.conversation_list import LONGEST_TITLE, ConversationChange
from web.bridge import Bridge
from web.bundle import STATIC, Bundle
from web.middleware import error_response, nonce_of, owner
from web.payloads import (
    LAST_SEQ,
    LONGEST_LESSON,
    LONGEST_TEXT,
    LessonWords,
    found_line,
    lesson_line,
    plain,
    problem,
    tool_line,
    tool_page,
)
from web.texts import LANGUAGES, address_of_texts, catalogue_module, language_of, text
from web.vendor import Vendor, embedded

if TYPE_CHECKING:
    from selfeng.engine import Engine

V = TypeVar("V", bound=Value)

log = logging.getLogger(f"selfeng.{__name__}")

_STAGES = embedded([stage.model_dump(include={"name", "icon"}) for stage in STAGES.values()])
"""Names and icons of the stages, as JSON that can be embedded in the page."""
_FOR_GOOD = 365 * 24 * 3600
_MOST_FOUND = 20
_WORTH_ZIPPING = 2_000
"""Characters."""
_STATUS: dict[type[AgentError], int] = {
    SettingsInvalid: 422,
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


def kept_for_good(response: Response) -> Response:
    """The response for an address whose content never changes, and that is no page."""
    cache = response.cache_control
    cache.max_age, cache.immutable, cache.no_cache = _FOR_GOOD, True, None
    cache.public, cache.private = False, True
    response.headers.setdefault("Content-Security-Policy", "default-src 'none'")
    return response


def _takes_gzip() -> bool:
    return flask.request.accept_encodings.quality("gzip") > 0


def _zipped(content: bytes, mimetype: str) -> Response:
    """A response for good, of content that gzip has compressed."""
    if _takes_gzip():
        response = Response(content, mimetype=mimetype, headers={"Content-Encoding": "gzip"})
    else:
        response = Response(gzip.decompress(content), mimetype=mimetype)
    response.vary.add("Accept-Encoding")
    return kept_for_good(response)


def page_parts(vendor: Vendor, bundle: Bundle | None, entry: str, root: str = "") -> dict[str, Any]:
    """What the template of a page needs that begins with the script `entry`; everything that it
    loads is below the path `root`.
    """
    language = language_of(flask.request)
    texts = address_of_texts(language)
    imports = {**({} if bundle else vendor.addresses), "#texts": texts}
    if bundle:
        script, *chunks = (f"/bundle/{name}" for name in bundle.scripts[entry])
        style = f"/bundle/{bundle.style}"
    else:
        script, chunks, style = f"/static/{entry}", [], "/static/style.css"
    import_map = {"imports": {name: root + path for name, path in imports.items()}}
    return {
        "language": language,
        "nonce": nonce_of(flask.request.environ),
        "theme": Markup((STATIC / "theme.js").read_text("utf-8")),  # noqa: S704 - our own file
        "import_map": Markup(embedded(import_map)),  # noqa: S704 - "<" escaped
        "stages": Markup(_STAGES),  # noqa: S704 - the same
        "needs_javascript": text(language, "page-needs-javascript"),
        "script": root + script,
        "style": root + style,
        "preload": [root + address for address in (*chunks, texts)],
    }


def add_routes(
    app: Flask,
    bridge: Bridge,
    engine: "Engine",
    vendor: Vendor,
    bundle: Bundle | None,
    *,
    development: bool,
) -> None:
    """Add all routes of the server; access is checked before any of them. Without a bundle the page
    loads its modules as they are.
    """

    @app.get("/")
    def page() -> str:
        return flask.render_template("index.html", **page_parts(vendor, bundle, "script.js"))

    if development:

        @app.get("/gallery")
        def gallery() -> str:
            return flask.render_template("gallery.html", **page_parts(vendor, None, "gallery.js"))

    @app.get("/bundle/<name>")
    def bundled_file(name: str) -> Response:
        if bundle is None or name not in bundle.files:
            raise NotFound
        kind = {".js": "text/javascript", ".css": "text/css"}.get(Path(name).suffix)
        return _zipped(bundle.files[name], kind or "application/json")

    @app.get("/vendor/<path:name>")
    def library_file(name: str) -> Response:
        if name not in vendor.files:
            raise NotFound
        return kept_for_good(Response(vendor.module(name), mimetype="text/javascript"))

    @app.get("/texts/<name>")
    def texts(name: str) -> Response:
        modules = dict(map(catalogue_module, LANGUAGES))
        if name not in modules:
            raise NotFound
        return _zipped(gzip.compress(modules[name]), "text/javascript")

    @app.get("/api/v1/health")
    def health() -> Response:
        return flask.jsonify(plain(bridge.call(engine.status())))

    @app.get("/api/v1/tools")
    def tools() -> Response:
        text = flask.request.args.get("q", "").strip()[:LONGEST_TEXT]
        if text:
            found = bridge.call(_found(engine, owner(), text))
            return flask.jsonify({"tools": [found_line(text, *one) for one in found]})
        last = {name: at.isoformat() for name, at in bridge.call(engine.last_uses(owner())).items()}
        lines = map(tool_line, bridge.call(engine.library.tools()))
        return flask.jsonify({"tools": [{**t, "last_used": last.get(t["name"])} for t in lines]})

    @app.get("/api/v1/tools/<name>")
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

    @app.get("/api/v1/graph")
    def graph() -> Response:
        return flask.jsonify({"svg": TURN_SVG.read_text("utf-8")})

    @app.get("/api/v1/lessons")
    def lessons() -> Response:
        return flask.jsonify(
            {"lessons": [lesson_line(one) for one in bridge.call(engine.learning.lessons())]}
        )

    @app.patch("/api/v1/lessons/<lesson_id>")
    def edit_lesson(lesson_id: str) -> Response:
        words = body_as(
            LessonWords, f"{{trigger, advice}}, each of 1 to {LONGEST_LESSON} characters"
        )
        return flask.jsonify(
            lesson_line(bridge.call(engine.learning.edit(lesson_id, words.trigger, words.advice)))
        )

    @app.delete("/api/v1/lessons/<lesson_id>")
    def remove_lesson(lesson_id: str) -> Response:
        bridge.call(engine.learning.remove(lesson_id))
        return flask.jsonify({})

    @app.get("/api/v1/conversations")
    def conversations() -> Response:
        text = flask.request.args.get("q", "")[:LONGEST_TITLE]
        mine = bridge.call(engine.conversations(owner(), text))
        listed = [c.model_dump(mode="json", exclude={"created_at"}) for c in mine]
        return flask.jsonify({"conversations": listed})

    @app.patch("/api/v1/conversations/<conversation_id>")
    def change_conversation(conversation_id: str) -> Response:
        change = body_as(
            ConversationChange,
            f"one or more of title (1 to {LONGEST_TITLE} characters), pinned, deleted, seen",
        )
        bridge.call(engine.change_conversation(owner(), conversation_id, change))
        return flask.jsonify({})

    @app.get("/api/v1/conversations/<conversation_id>/records")
    def records(conversation_id: str) -> Response:
        text = flask.request.args.get("after", "0")
        after = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else LAST_SEQ + 1
        if after > LAST_SEQ:
            raise BadRequest(f"after={text[:20]!r} is not the number of a record")
        found = bridge.call(engine.history(owner(), conversation_id, after))
        return flask.jsonify({"records": [plain(r) for r in found]})

    app.register_error_handler(Exception, _report)
    app.after_request(_zip)


def _zip(response: Response) -> Response:
    """Long lists shrink to a tenth, and a page to a half."""
    shrinks = response.is_json or response.mimetype == "text/html"
    is_long = shrinks and (response.content_length or 0) >= _WORTH_ZIPPING
    is_ready = response.direct_passthrough or "Content-Encoding" in response.headers
    if is_long and not is_ready and _takes_gzip():
        response.set_data(gzip.compress(response.get_data(), compresslevel=6))
        response.headers["Content-Encoding"] = "gzip"
        response.vary.add("Accept-Encoding")
    return response


async def _found(
    engine: "Engine", visitor: str, text: str
) -> list[tuple[Candidate, tuple[str, ...], tuple[str, ...]]]:
    """What the search finds for a text, the best first, each with the requests of its tool that the
    visitor may see.
    """
    return [
        (
            one,
            await engine.examples(visitor, one.tool),
            await engine.used_requests(visitor, one.tool.name),
        )
        for one in await engine.library.matches(text, _MOST_FOUND)
    ]


def body_as(kind: type[V], remedy: str) -> V:
    """Raises: BadRequest, which says to send `remedy`."""
    try:
        return kind.model_validate_json(flask.request.get_data())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:80] or "the body"
        raise BadRequest(f"{place}: {first['msg']}; send {remedy}") from None


def _report(error: Exception) -> Response:
    """JSON below /api/v1/, plain text elsewhere."""
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
    response = error_response(flask.request, status, **told) or Response(
        " ".join(filter(None, (told["message"], told["remedy"]))) + "\n",
        status,
        mimetype="text/plain",
    )
    if isinstance(error, HTTPException):
        response.headers.extend((k, v) for k, v in error.get_headers() if k == "Allow")
    return response
