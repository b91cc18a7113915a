"""The routes for programs that know an OpenAI-compatible server: `/v1/models` and
`/v1/chat/completions`.

The model `selfeng` is the agent: the last message is its request, and the messages before find the
conversation again. The model behind the agent is there, too, under its own name, for what the
agent does not do: functions of the program's own, a reply of a given form, and the titles and tags
that Open WebUI asks for.
"""

import base64
import binascii
import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from itertools import chain
from mimetypes import guess_extension
from typing import TYPE_CHECKING, Annotated, Any

import flask
from flask import Flask, Response
from pydantic import ConfigDict, Field
from werkzeug.exceptions import BadRequest, NotFound

from selfeng.core.events import Record
from selfeng.core.files import File, FileReference, name_problem, shown_name
from selfeng.core.pictures import PICTURES
from selfeng.core.status import Asked
from selfeng.core.value import Value
from selfeng.core.visible import visible
from selfeng.core.words import shortened
from selfeng.doors.turn_story import TurnStory
from web.bridge import Bridge
from web.error_forms import openai_error_body
from web.event_streams import KEEP_ALIVE, sent, streamed
from web.middleware import owner
from web.operations import body_as
from web.payloads import LONGEST_TEXT

if TYPE_CHECKING:
    from selfeng.engine import Engine

AGENT = "selfeng"
"""The name of the agent among the models."""
PATH = "/v1/chat/completions"
_JOB = "### Task:"
"""How Open WebUI begins what it asks for itself: titles, tags, further questions."""
_OWN = ("tools", "functions", "response_format")
"""What the agent has instead: tools of its library, and its own words."""


class _Sent(Value):
    """A part of a request; fields that are unknown here are ignored, as programs send many."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Address(_Sent):
    url: str


class _Attached(_Sent):
    filename: str = "file"
    file_data: str = ""


class _Part(_Sent):
    type: str
    text: str = ""
    image_url: _Address | None = None
    file: _Attached | None = None


class _Message(_Sent):
    role: str
    content: str | tuple[_Part, ...] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")

    def files(self) -> tuple[File, ...]:
        """The files that came with it.

        Raises: BadRequest: one is not in the message itself, or has no name that a file may have.
        """
        parts = self.content if isinstance(self.content, tuple) else ()
        found = []
        for number, part in enumerate(parts, 1):
            if part.type == "image_url" and part.image_url:
                found.append(_file(f"image{number}", part.image_url.url))
            elif part.type == "file" and part.file:
                found.append(_file(part.file.filename, part.file.file_data))
            elif part.type != "text":
                raise BadRequest(
                    f"parts of type {part.type[:40]!r} are not taken; send text, image_url or file"
                )
        return tuple(found)


class _ChatRequest(_Sent):
    model: str
    messages: Annotated[tuple[_Message, ...], Field(min_length=1)]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    tools: Any = None
    functions: Any = None
    response_format: Any = None

    @property
    def is_job(self) -> bool:
        """Whether Open WebUI asks for itself. Where it adds what it has retrieved, a request of a
        person begins in the same way, but is streamed.
        """
        asked = [message.text for message in self.messages if message.role == "user"]
        return not self.stream and len(asked) == 1 and asked[0].lstrip().startswith(_JOB)


def add_openai_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access and the declared size of a body are checked before any of them."""

    def models() -> list[dict[str, Any]]:
        named = {AGENT: "selfeng", engine.configuration.client.model: "the server of the model"}
        return [
            {"id": name, "object": "model", "created": 0, "owned_by": whose}
            for name, whose in named.items()
        ]

    @app.get("/v1/models")
    def list_models() -> Response:
        return flask.jsonify({"object": "list", "data": models()})

    @app.get("/v1/models/<path:name>")
    def one_model(name: str) -> Response:
        for model in models():
            if model["id"] == name:
                return flask.jsonify(model)
        raise _unknown(name)

    @app.post(PATH)
    def complete() -> Response:
        request: _ChatRequest = body_as(_ChatRequest)
        if request.model == AGENT and not request.is_job:
            return _turn(bridge, engine, owner(), request)
        if request.model not in (AGENT, engine.configuration.client.model):
            raise _unknown(request.model)
        body = json.loads(flask.request.get_data())
        items = streamed(bridge, engine.configuration.client.forward(body))
        head = next((item for item in items if item is not None), b"")
        assert not isinstance(head, bytes), "a reply begins with its head"
        return sent((item for item in items if isinstance(item, bytes)), *head)


def _turn(bridge: Bridge, engine: "Engine", owner: str, request: _ChatRequest) -> Response:
    for name in _OWN:
        if getattr(request, name) not in (None, [], {"type": "text"}):
            raise BadRequest(
                f"the agent takes no {name}, as it has tools of its own; "
                f"send this to the model {engine.configuration.client.model}"
            )
    if request.messages[-1].role != "user":
        raise BadRequest("the last message is not of the user; end with what is asked for")
    begun = _begin(engine, owner, request.messages, request.messages[-1].files())
    records = streamed(bridge, engine.turn(owner, begun))
    first = next(records, None)  # what refuses the request comes instead of it
    answer = _Answer(bridge, engine, owner)
    if request.stream:
        with_usage = bool((request.stream_options or {}).get("include_usage"))
        return sent(_stream(answer, first, records, with_usage))
    pieces = [piece for record in (first, *records) if record for piece in answer.take(record)]
    if failure := answer.failure:
        response = flask.jsonify(failure)
        response.status_code = 422  # programs ask again by themselves after a 5xx
        return response
    message: dict[str, Any] = {"role": "assistant", "content": _joined(pieces, "content")}
    if steps := _joined(pieces, "reasoning_content"):
        message["reasoning_content"] = steps
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return flask.jsonify(
        {**answer.head("chat.completion"), "choices": [choice], "usage": answer.usage}
    )


async def _begin(
    engine: "Engine", owner: str, messages: Sequence[_Message], files: Sequence[File]
) -> Asked:
    """Begin the turn, in the conversation whose requests were the earlier messages of the user. If
    there is none, as when it was begun with another model, the request has all that was said.
    """
    *before, last = messages
    requests = [message.text for message in before if message.role == "user"]
    conversation_id = await engine.conversation_with(owner, requests) if requests else None
    text = last.text
    if requests and conversation_id is None:
        said = "\n".join(f"{m.role}: {m.text}" for m in before if m.role != "system" and m.text)
        room = LONGEST_TEXT - len(text) - 100
        if room > 0:
            text += f"\n\nThe conversation before this request:\n{shortened(said, room)}"
    return await engine.ask(owner, conversation_id, text, files)


class _Answer:
    """Makes what a program gets of a turn from its records."""

    def __init__(self, bridge: Bridge, engine: "Engine", owner: str) -> None:
        self._bridge, self._engine, self._owner = bridge, engine, owner
        self._story, self._created = TurnStory(), 0

    def head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self._story.turn}",
            "object": kind,
            "created": self._created,
            "model": AGENT,
        }

    @property
    def usage(self) -> dict[str, int]:
        spent = self._story.usage
        return {
            "prompt_tokens": spent.input_tokens,
            "completion_tokens": spent.output_tokens,
            "total_tokens": spent.input_tokens + spent.output_tokens,
        }

    @property
    def failure(self) -> dict[str, Any] | None:
        """Why there is no answer, as the body of an error."""
        if self._story.outcome and not self._story.gave_up:
            return None
        return openai_error_body(422, self._story.whole_text, "")

    def take(self, record: Record) -> Iterator[dict[str, str]]:
        """The pieces of a message that the record adds, each with `content` or
        `reasoning_content`.
        """
        step = self._story.step
        content = self._story.add(record)
        self._created = self._created or int(record.at.timestamp())
        if self._story.step != step:
            yield {"reasoning_content": f"{visible(self._story.step)}\n"}
        if self._story.outcome and not self._story.gave_up:
            content += "".join(map(self._linked, self._story.files.values()))
        if content:
            yield {"content": content}

    def _linked(self, file: FileReference) -> str:
        """Markdown that shows a picture, or leads to another file."""
        conversation = self._story.conversation
        if file.media_type in PICTURES:
            found = self._bridge.call(
                self._engine.file(self._owner, conversation, file.sha256, file.name)
            )
            data = base64.b64encode(found.content).decode()
            return f"\n\n![{file.name}](data:{file.media_type};base64,{data})"
        path = flask.url_for(
            "file",
            conversation_id=conversation,
            sha256=file.sha256,
            name=file.name,
            _external=True,
        )
        return f"\n\n[{file.name}]({path})"


def _stream(
    answer: _Answer,
    first: Record | None,
    records: Generator[Record | None],
    with_usage: bool,
) -> Iterator[bytes]:
    """The answer as server-sent events; leaving it stops the turn."""

    def chunk(delta: dict[str, str], end: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return _event({**answer.head("chat.completion.chunk"), "choices": [choice], **more})

    begun = False
    with closing(records):
        for record in chain((first,), records):
            if record is None:
                yield KEEP_ALIVE
                continue
            pieces = list(answer.take(record))
            if not begun:
                yield chunk({"role": "assistant", "content": ""})
                begun = True
            yield from map(chunk, pieces)
    if answer.failure:
        yield _event(answer.failure)
    else:
        yield chunk({}, "stop", **({} if with_usage else {"usage": answer.usage}))
        if with_usage:
            head = answer.head("chat.completion.chunk")
            yield _event({**head, "choices": [], "usage": answer.usage})
    yield b"data: [DONE]\n\n"


def _event(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def _joined(pieces: Sequence[dict[str, str]], kind: str) -> str:
    return "".join(piece.get(kind, "") for piece in pieces)


def _file(name: str, address: str) -> File:
    """A file from a data URI. Raises: BadRequest."""
    head, comma, data = address.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise BadRequest(
            f"{shown_name(name)!r} is not in the message; send it as data:<type>;base64,<content>"
        )
    if "." not in name:
        name += guess_extension(head.removeprefix("data:").partition(";")[0]) or ""
    if problem := name_problem(name):
        raise BadRequest(f"{shown_name(name)!r} can't be the name of a file: {problem}")
    with suppress(binascii.Error):
        return File(name=name, content=base64.b64decode(data, validate=True))
    raise BadRequest(f"{shown_name(name)!r} is not valid base64")


def _unknown(name: str) -> NotFound:
    return NotFound(f"there is no model {name[:80]!r}; GET /v1/models lists those that are there")
