"""The forms in which errors leave: JSON where programs read it, OpenAI's form below /v1."""

import json
from typing import Any

import flask
from werkzeug import Request
from werkzeug.exceptions import HTTPException

_CODES = {
    401: "invalid_api_key",
    404: "not_found",
    405: "method_not_allowed",
    429: "rate_limit_exceeded",
}
"""OpenAI's codes of errors, by status."""

HOOKS = "/hooks/"
"""Where a signature of the request takes the place of the token, if the settings open it."""


class OpenAIError(HTTPException):
    """An error below /v1 with a `code` of its own, about the field `param` if that is named."""

    def __init__(self, status: int, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = status
        self.fields = {"code": code, "param": param}


def error_body(message: str, remedy: str, **more: Any) -> dict[str, dict[str, Any]]:
    """The JSON form of every error."""
    return {"error": {"message": message, "remedy": remedy, **more}}


def openai_error_body(status: int, message: str, remedy: str, **more: Any) -> dict[str, Any]:
    """The JSON form of an error below /v1, as OpenAI has it; `more` are its code and param."""
    text = " ".join(filter(None, (message, remedy and f"({remedy})")))
    kind = "server_error" if status >= 500 else "invalid_request_error"
    fields = {"type": kind, "param": None, "code": _CODES.get(status)}
    return {"error": {"message": text, **fields, **more}}


def error_response(
    request: Request, status: int, message: str, remedy: str, **more: Any
) -> flask.Response | None:
    """The response for an error where programs read JSON; None elsewhere."""
    if is_openai(request):
        fields = {name: more[name] for name in ("code", "param") if name in more}
        body = openai_error_body(status, message, remedy, **fields)
    elif request.path.startswith(("/api/", HOOKS)) or is_socket(request):
        body = error_body(message, remedy, **more)
    else:
        return None
    return flask.Response(json.dumps(body), status, mimetype="application/json")


def served_paths(request: Request) -> str:
    """A remedy for a path that is not served; "" where programs don't read it."""
    if is_openai(request):
        return "GET /v1/models, POST /v1/chat/completions and POST /v1/responses are"
    if request.path.startswith("/api/"):
        return "GET /api/v1/openapi.json lists the paths and methods that are"
    return ""


def is_openai(request: Request) -> bool:
    """Whether its path belongs to the OpenAI-compatible routes."""
    return request.path == "/v1" or request.path.startswith("/v1/")


def is_socket(request: Request) -> bool:
    """Whether it is a request of Socket.IO."""
    return request.path.startswith("/socket.io")
