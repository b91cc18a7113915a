"""The routes for programs that know an OpenAI-compatible server: `/v1/models`,
`/v1/chat/completions` and `/v1/responses`.

The model `selfeng` is the agent: the last message is its request. The model behind the agent is
there, too, under its own name, for what the agent does not do: calls of a program's own tools, a
reply of a given form, and the titles and tags that Open WebUI asks for. A header of each answer
says which of the two gave it.
"""

import json
from typing import TYPE_CHECKING, Any

import flask
from flask import Flask, Response

from selfeng.core.errors import ModelUnavailable, ResourceNotFound
from web.bridge import Bridge
from web.error_forms import OpenAIError
from web.event_streams import sent, streamed
from web.middleware import owner
from web.openai_chat import ChatCompletion, answer_chat
from web.openai_requests import AGENT
from web.openai_turn import TurnAnswer, begin_turn, said_until
from web.operations import body_as

if TYPE_CHECKING:
    from selfeng.engine import Engine
    from web.openai_responses import ResponseRequest

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
_ANSWERED_BY, _IGNORED = "Selfeng-Answered-By", "Selfeng-Ignored"
_NO_RESPONSES = "use /v1/chat/completions if the server of the model has no /v1/responses"


def add_openai_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access and the declared size of a body are checked before any of them."""

    def models() -> list[dict[str, Any]]:
        owners_by_model = {
            AGENT: "selfeng",
            engine.configuration.client.model: "the server of the model",
        }
        return [
            {"id": name, "object": "model", "created": 0, "owned_by": whose}
            for name, whose in owners_by_model.items()
        ]

    @app.get("/v1/models")
    def list_models() -> Response:
        return flask.jsonify({"object": "list", "data": models()})

    @app.get("/v1/models/<path:name>")
    def one_model(name: str) -> Response:
        for model in models():
            if model["id"] == name:
                return flask.jsonify(model)
        raise _unknown_model(name)

    @app.post(CHAT)
    def complete_chat() -> Response:
        request: ChatCompletion = body_as(ChatCompletion)
        if _is_for_model(engine, request):
            return _forwarded(bridge, engine, CHAT, _body())
        answer = TurnAnswer.begin(bridge, engine, request.messages)
        return _by_agent(answer_chat(request, answer), request)

    _add_response_routes(app, bridge, engine)


def _add_response_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """A response is a turn, which its id names; nothing else is kept of it."""

    def response_of(turn_id: str) -> dict[str, Any]:
        from web.openai_responses import AgentResponse

        records = bridge.call(engine.conversations.records(owner(), turn_id))
        return AgentResponse(TurnAnswer(bridge, engine, (record for record in records))).as_json()

    def turn_named(response_id: str) -> str:
        """The id of the turn. Raises: OpenAIError: the agent gave no such response."""
        if turn_id := _turn_id(bridge, engine, response_id):
            return turn_id
        raise OpenAIError(
            404,
            f"the agent gave no response {response_id[:80]!r}; create one",
            code="not_found",
        )

    @app.post(RESPONSES)
    def create_response() -> Response:
        from web.openai_responses import ResponseRequest

        request: ResponseRequest = body_as(ResponseRequest)
        previous = request.previous_response_id or ""
        turn_id = _turn_id(bridge, engine, previous) if previous else ""
        if _is_for_model(engine, request):
            body = _body()
            if turn_id:  # which the server of the model does not know
                del body["previous_response_id"]
                body["input"] = [*_said_until(bridge, engine, turn_id), *_input_items(body)]
            return _forwarded(bridge, engine, RESPONSES, body)
        if previous and not turn_id:
            raise OpenAIError(
                400,
                f"the agent gave no response {previous[:80]!r}; send the whole conversation as "
                "input, or leave previous_response_id out",
                code="previous_response_not_found",
                param="previous_response_id",
            )
        return _by_agent(_response(bridge, engine, request, turn_id), request)

    @app.get(f"{RESPONSES}/<response_id>")
    def retrieve_response(response_id: str) -> Response:
        if flask.request.args.get("stream") == "true":
            raise OpenAIError(
                400,
                "stream=true: a response is streamed once, when it is created; leave stream out",
                code="unsupported_parameter",
                param="stream",
            )
        return flask.jsonify(response_of(turn_named(response_id)))

    @app.post(f"{RESPONSES}/<response_id>/cancel")
    def cancel_response(response_id: str) -> Response:
        turn_id = turn_named(response_id)
        bridge.call(engine.stop(owner(), turn_id))
        for _ in streamed(bridge, engine.conversations.follow(owner(), turn_id)):
            pass
        return flask.jsonify(response_of(turn_id))


def _response(
    bridge: Bridge, engine: "Engine", request: "ResponseRequest", previous: str
) -> Response:
    """The agent's response in the form that the request asks for."""
    from web.openai_responses import AgentResponse

    if request.background:
        turn = bridge.call(begin_turn(engine, owner(), request.input, previous))
        if request.stream:
            records = streamed(bridge, engine.conversations.follow(owner(), turn.turn_id))
        else:
            stored_records = bridge.call(engine.conversations.records(owner(), turn.turn_id))
            records = (record for record in stored_records)
        answer = TurnAnswer(bridge, engine, records)
    else:
        answer = TurnAnswer.begin(bridge, engine, request.input, previous)
    response = AgentResponse(answer, request.echoed)
    if request.stream:
        return sent(response.events())
    body = response.as_json()
    if answer.story.gave_up or not (answer.story.outcome or request.background):
        return answer.failed()
    return flask.jsonify(body)


def _is_for_model(engine: "Engine", request: "ChatCompletion | ResponseRequest") -> bool:
    """Raises: OpenAIError: the model is unknown, or the agent can't do what is asked for."""
    if request.model != AGENT:
        if request.model != engine.configuration.client.model:
            raise _unknown_model(request.model)
        return True
    request.check()
    return request.is_for_model


def _forwarded(bridge: Bridge, engine: "Engine", path: str, body: dict[str, Any]) -> Response:
    """The answer of the model behind the agent, as it comes."""
    below = path.removeprefix("/v1")
    items = streamed(bridge, engine.forward(owner(), body, below))
    try:
        head = next((item for item in items if item is not None), b"")
    except ModelUnavailable as error:
        if error.cause not in ("rejected", "unknown_model"):
            raise
        remedy = _NO_RESPONSES if path == RESPONSES else error.remedy
        # programs ask again by themselves after a 5xx
        raise OpenAIError(400, f"{error.message} ({remedy})", code="model_refused") from error
    assert not isinstance(head, bytes), "a reply begins with its head"
    response = sent((item for item in items if isinstance(item, bytes)), *head)
    response.headers[_ANSWERED_BY] = "model"
    return response


def _by_agent(response: Response, request: "ChatCompletion | ResponseRequest") -> Response:
    response.headers[_ANSWERED_BY] = "agent"
    if request.ignored:
        response.headers[_IGNORED] = ", ".join(request.ignored)
    return response


def _turn_id(bridge: Bridge, engine: "Engine", response_id: str) -> str:
    """The id of the turn that has this response; "" if it is unknown."""
    from web.openai_responses import PREFIX

    turn_id = response_id.removeprefix(PREFIX)
    try:
        bridge.call(engine.conversations.records(owner(), turn_id))
    except ResourceNotFound:
        return ""
    return turn_id


def _said_until(bridge: Bridge, engine: "Engine", turn_id: str) -> list[dict[str, Any]]:
    messages = bridge.call(said_until(engine, owner(), turn_id))
    return [message.model_dump() for message in messages]


def _input_items(body: dict[str, Any]) -> list[Any]:
    items = body["input"]
    return [{"role": "user", "content": items}] if isinstance(items, str) else items


def _body() -> dict[str, Any]:
    body: dict[str, Any] = json.loads(flask.request.get_data())
    return body


def _unknown_model(name: str) -> OpenAIError:
    return OpenAIError(
        404,
        f"there is no model {name[:80]!r}; GET /v1/models lists those that are there",
        code="model_not_found",
        param="model",
    )
