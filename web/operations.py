"""Operations: the routes of the REST API. The annotations of a view describe its parameters and
response: each request is checked against them, and OpenAPI lists them.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from typing import Any, get_args, get_type_hints

import flask
from flask import Flask, Response
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import JsonSchemaMode, models_json_schema
from werkzeug.routing import Rule

from selfeng.core.errors import FailureCause, FailureKind, RequestError
from selfeng.core.places import VERSION
from selfeng.core.value import Value, first_problem
from web.payloads import WireJSON, form_of, plain

View = Callable[..., BaseModel | Response]
JSON = "application/json"
_REFERENCE = "#/components/schemas/{model}"
_SECURITY = "token"


class ErrorDetail(Value):
    """An error and its remedy."""

    message: str
    remedy: str = ""
    """"" if there is nothing to do."""
    kind: FailureKind = "request"
    """The kind of the failure."""
    cause: FailureCause = ""
    """Within a kind, what went wrong."""
    values: Mapping[str, str | float] = {}
    """Names and numbers in the message."""
    fields: Mapping[str, Any] = {}
    """The problem of each setting, by its name."""


class ErrorAnswer(Value):
    """The form of every error."""

    error: ErrorDetail


class Done(Value):
    """It was done; there is nothing more to say."""


@dataclass(frozen=True)
class Operation:
    """The parameters of a route and its response."""

    path: Mapping[str, TypeAdapter[Any]]
    query: type[BaseModel] | None
    body: type[BaseModel] | None
    takes: str
    """Media type of a body that is not JSON."""
    headers: Mapping[str, str]
    """Those that it reads, with what they say."""
    answers: Mapping[int, tuple[type[BaseModel] | None, Sequence[str]]]
    """By status: the value, or None for bytes, and the media types."""
    text: str


def operation(
    *,
    status: int = 200,
    takes: str = "",
    media: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> Callable[[View], Callable[..., Response]]:
    """Make an operation of a view. It gets the values of its path by name, and as `query` and
    `body` values of their types; its return value becomes JSON with this status.

    `takes` is the media type of a body that the view reads itself; `media` are those of its
    responses with 200 other than JSON; `headers` describes the headers that it reads, by name.
    """

    def decorate(view: View) -> Callable[..., Response]:
        hints = get_type_hints(view, include_extras=True)
        answer = _model_in(hints.pop("return"))
        query, body = hints.pop("query", None), hints.pop("body", None)
        path = {name: TypeAdapter(hint) for name, hint in hints.items()}
        answers: dict[int, tuple[type[BaseModel] | None, Sequence[str]]] = {}
        if answer:
            answers[status] = answer, [JSON]
        if media:
            shared = [JSON] if answer and status == 200 else []
            answers[200] = answer if shared else None, [*shared, *media]

        @wraps(view)
        def checked(**arguments: Any) -> Response:
            arguments = {name: _value(path[name], name, text) for name, text in arguments.items()}
            if query:
                arguments["query"] = _query(query)
            if body:
                arguments["body"] = body_as(body)
            answered = view(**arguments)
            if isinstance(answered, Response):
                return answered
            response = flask.jsonify(plain(answered))
            response.status_code = status
            return response

        text = inspect.getdoc(view) or ""
        spec = Operation(path, query, body, takes, headers or {}, answers, text)
        checked.operation = spec  # type: ignore[attr-defined]
        return checked

    return decorate


def body_as(kind: type[Any]) -> Any:
    """The body of the request as such a value. Raises: RequestError."""
    try:
        data = WireJSON.loads(flask.request.get_data())
    except ValueError as error:
        raise RequestError(f"the body is not JSON: {error}", form_of(kind)) from None
    if not isinstance(data, dict):
        raise RequestError("the body is not a JSON object", form_of(kind))
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise RequestError(first_problem(error, "the body"), form_of(kind)) from None


def operations(app: Flask) -> Iterator[tuple[Rule, str, Operation]]:
    """The operations of an application by their paths, each with its route and method."""
    for rule in sorted(app.url_map.iter_rules(), key=lambda rule: rule.rule):
        spec = getattr(app.view_functions.get(rule.endpoint), "operation", None)
        if isinstance(spec, Operation):
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
                yield rule, method, spec


def openapi(app: Flask) -> dict[str, Any]:
    """The operations in OpenAPI 3.1."""
    specs = list(operations(app))
    inputs: dict[type[BaseModel], JsonSchemaMode] = {
        spec.body: "validation" for _, _, spec in specs if spec.body
    }
    outputs: dict[type[BaseModel], JsonSchemaMode] = {
        model: "serialization"
        for _, _, spec in specs
        for model, _ in spec.answers.values()
        if model
    }
    outputs[ErrorAnswer] = "serialization"
    references, components = models_json_schema(
        [*inputs.items(), *outputs.items()], ref_template=_REFERENCE
    )

    def content(model: type[BaseModel] | None, mode: JsonSchemaMode, media: Sequence[str]) -> Any:
        return {
            name: {"schema": references[model, mode] if model and name == JSON else {}}
            for name in media
        }

    wrong = content(ErrorAnswer, "serialization", [JSON])
    problem = {"description": "What is wrong.", "content": wrong}
    paths: dict[str, dict[str, Any]] = {}
    for rule, method, spec in specs:
        summary, _, details = spec.text.partition("\n\n")
        described: dict[str, Any] = {
            "operationId": rule.endpoint,
            "summary": " ".join(summary.split()),
            "parameters": list(_parameters(spec)),
            "responses": {
                **{
                    str(status): {
                        "description": HTTPStatus(status).phrase,
                        "content": content(model, "serialization", media),
                    }
                    for status, (model, media) in spec.answers.items()
                },
                "4XX": problem,
                "5XX": problem,
            },
        }
        if details:
            described["description"] = details
        if spec.body or spec.takes:
            request_content = content(spec.body, "validation", [spec.takes or JSON])
            described["requestBody"] = {"required": True, "content": request_content}
        path = "".join(text if is_literal else f"{{{text}}}" for is_literal, text in _pieces(rule))
        paths.setdefault(path, {})[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Self-Engineering Agent", "version": VERSION},
        "security": [{_SECURITY: []}],
        "paths": paths,
        "components": {
            "schemas": components.get("$defs", {}),
            "securitySchemes": {_SECURITY: {"type": "http", "scheme": "bearer"}},
        },
    }


def _pieces(rule: Rule) -> Iterator[tuple[bool, str]]:
    """The literal parts of a route, and the names of its values."""
    for part in re.split(r"(<[^>]+>)", rule.rule):
        yield (False, part[1:-1].rpartition(":")[2]) if part.startswith("<") else (True, part)


def _parameters(spec: Operation) -> Iterator[dict[str, Any]]:
    for name, adapter in spec.path.items():
        schema = adapter.json_schema()
        if schema.get("type") == "string":
            schema = {"minLength": 1, **schema}
        yield {"name": name, "in": "path", "required": True, "schema": schema}
    if spec.query:
        query_schema = spec.query.model_json_schema(ref_template=_REFERENCE)
        for name, schema in query_schema["properties"].items():
            needed = name in query_schema.get("required", ())
            yield {"name": name, "in": "query", "required": needed, "schema": schema}
    for name, text in spec.headers.items():
        schema = {"type": "string"}
        yield {"name": name, "in": "header", "description": text, "schema": schema}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The value among what a view may return, if any."""
    parts = get_args(annotation) or (annotation,)
    return next((part for part in parts if issubclass(part, BaseModel)), None)


def _value(adapter: TypeAdapter[Any], name: str, text: str) -> Any:
    """A value of the path. Raises: RequestError."""
    try:
        return adapter.validate_python(text)
    except ValidationError as error:
        raise RequestError(first_problem(error, name), "correct the address") from None


def _query(kind: type[BaseModel]) -> BaseModel:
    """The query of the request as such a value. Raises: RequestError."""
    try:
        return kind.model_validate(flask.request.args.to_dict())
    except ValidationError as error:
        raise RequestError(first_problem(error, "the query"), form_of(kind)) from None
