"""The routes of the page and its files, and the handling of errors on all routes."""

import gzip
import logging
from itertools import product, starmap
from pathlib import Path
from typing import Any

import flask
from flask import Flask, Response
from markupsafe import Markup
from werkzeug.exceptions import HTTPException, NotFound

from selfeng.core.errors import (
    AgentError,
    LimitReached,
    NotConsented,
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
from selfeng.provision.configuration import SettingsInvalid
from web.bundle import DIAGRAM, STATIC, Bundle
from web.error_forms import OpenAIError, error_response, served_paths
from web.middleware import nonce_of
from web.payloads import problem
from web.texts import (
    IMPORTS,
    LANGUAGES,
    addresses_of_texts,
    catalogue_module,
    language_of,
    text,
)
from web.vendor import Vendor, embedded

log = logging.getLogger(f"selfeng.{__name__}")

_STAGES = embedded([stage.model_dump(include={"name", "icon"}) for stage in STAGES.values()])
"""Names and icons of the stages, as JSON that can be embedded in the page."""
_DIAGRAM_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; sandbox allow-scripts; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Cache-Control": "private, no-cache",
}
"""Mermaid sets styles of its own, which the page's policy forbids."""
_FOR_GOOD = 365 * 24 * 3600
_WORTH_ZIPPING = 2_000
"""Characters."""
_RETRY_AFTER = "5"
"""Seconds until a client asks again for what a full queue or a part that is away refused."""
_STATUS: dict[type[AgentError], int] = {
    SettingsInvalid: 422,
    ResourceNotFound: 404,
    ResourceBusy: 409,
    LimitReached: 429,
    RequestError: 400,
    NotConsented: 403,
    ToolNotFound: 404,
    ToolNameInvalid: 404,
    VersionNotFound: 404,
    WorkspaceError: 404,
    ToolModified: 409,
    VersionConflict: 409,
}


def kept_for_good(response: Response) -> Response:
    """The response for an address whose content never changes, and that is not a page."""
    cache = response.cache_control
    cache.max_age, cache.immutable, cache.no_cache = _FOR_GOOD, True, None
    cache.public, cache.private = False, True
    response.headers.setdefault("Content-Security-Policy", "default-src 'none'")
    return response


def _takes_gzip() -> bool:
    return flask.request.accept_encodings.quality("gzip") > 0


def _zipped(content: bytes, mimetype: str) -> Response:
    """A response of content that gzip has compressed."""
    if _takes_gzip():
        response = Response(content, mimetype=mimetype, headers={"Content-Encoding": "gzip"})
    else:
        response = Response(gzip.decompress(content), mimetype=mimetype)
    response.vary.add("Accept-Encoding")
    return response


def page_parts(vendor: Vendor, bundle: Bundle | None, entry: str, root: str = "") -> dict[str, Any]:
    """The values for the template of a page that begins with the script `entry`; everything that it
    loads is below the path `root`.
    """
    language = language_of(flask.request)
    texts = addresses_of_texts(language)
    imports = {**({} if bundle else vendor.addresses), **texts}
    if bundle:
        script, *chunks = (f"/bundle/{name}" for name in bundle.scripts[Path(entry).name])
        style = f"/bundle/{bundle.style}"
    else:
        script, chunks, style = f"/{entry}", [], "/static/style.css"
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
        "preload": [root + address for address in (*chunks, texts["#texts"])],
    }


def add_page_routes(
    app: Flask, vendor: Vendor, bundle: Bundle | None, *, development: bool
) -> None:
    """Add the routes; access is checked before any of them. Without a bundle the page loads its
    modules as they are.
    """

    @app.get("/")
    def page() -> str:
        return flask.render_template("index.html", **page_parts(vendor, bundle, "static/script.js"))

    if development:

        @app.get("/gallery")
        def gallery() -> str:
            parts = page_parts(vendor, None, "gallery/gallery.js")
            return flask.render_template("gallery.html", **parts)

        @app.get("/gallery/<name>")
        def gallery_file(name: str) -> Response:
            return flask.send_from_directory(STATIC.with_name("gallery"), name)

    @app.get("/bundle/<name>")
    def bundled_file(name: str) -> Response:
        if bundle is None or name not in bundle.files:
            raise NotFound
        kind = {".js": "text/javascript", ".css": "text/css"}.get(Path(name).suffix)
        return kept_for_good(_zipped(bundle.files[name], kind or "application/json"))

    @app.get("/diagram")
    def diagram_frame() -> Response:
        if bundle is None:
            raise NotFound
        response = _zipped(bundle.files[DIAGRAM], "text/html")
        response.headers.update(_DIAGRAM_HEADERS)
        response.add_etag()
        response.make_conditional(flask.request)
        return response

    @app.get("/vendor/<path:name>")
    def library_file(name: str) -> Response:
        if name not in vendor.files:
            raise NotFound
        return kept_for_good(Response(vendor.module(name), mimetype="text/javascript"))

    @app.get("/texts/<name>")
    def texts(name: str) -> Response:
        modules = dict(starmap(catalogue_module, product(LANGUAGES, IMPORTS)))
        if name not in modules:
            raise NotFound
        return kept_for_good(_zipped(gzip.compress(modules[name]), "text/javascript"))

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


def _report(error: Exception) -> Response:
    """JSON below /api/v1/ and /v1/, plain text elsewhere."""
    body: dict[str, Any]
    match error:
        case OpenAIError(code=int(status), description=str(message), fields=fields):
            body = {"message": message, "remedy": "", **fields}
        case HTTPException(code=int(status)) if error is flask.request.routing_exception:
            request_line = f"{flask.request.method} {flask.request.path[:80]}"
            body = {
                "message": f"{request_line} is not served",
                "remedy": served_paths(flask.request),
            }
        case HTTPException(code=int(status)):
            body = {"message": error.description or error.name, "remedy": ""}
        case AgentError():
            status, body = (
                next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 503),
                problem(error),
            )
        case _:
            log.error("a request failed", exc_info=error)
            status, body = 500, problem(error)
    response = error_response(flask.request, status, **body) or Response(
        " ".join(filter(None, (body["message"], body["remedy"]))) + "\n",
        status,
        mimetype="text/plain",
    )
    if status in (429, 503):
        response.headers["Retry-After"] = _RETRY_AFTER
    if isinstance(error, HTTPException):
        response.headers.extend((k, v) for k, v in error.get_headers() if k == "Allow")
    return response
