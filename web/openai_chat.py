"""Chat completions of the agent: the requests, and answers whole and in chunks."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import flask
from flask import Response
from pydantic import Field

from web.event_streams import KEEP_ALIVE, sent
from web.openai_requests import (
    AGENT,
    SentMessage,
    SentValue,
    check_count,
    demands_call,
    is_for_model,
)
from web.openai_turn import AnswerPiece, TurnAnswer


class ChatCompletion(SentValue):
    """A request for a chat completion."""

    model: str
    messages: Annotated[tuple[SentMessage, ...], Field(min_length=1)]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    n: int | None = None
    tools: Any = None
    tool_choice: Any = None
    functions: Any = None
    function_call: Any = None
    response_format: Any = None

    def check(self) -> None:
        """Raises: OpenAIError: the agent can't do it."""
        check_count(self.n)

    @property
    def is_for_model(self) -> bool:
        demands = demands_call(self.tools, self.tool_choice) or demands_call(
            self.functions, self.function_call
        )
        return is_for_model(
            self.messages,
            streamed=bool(self.stream),
            demands=demands,
            form=self.response_format,
        )

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of its fields that the agent has no use for."""
        return tuple(name for name in ("tools", "functions") if getattr(self, name))


def answer_chat(request: ChatCompletion, answer: TurnAnswer) -> Response:
    """The agent's answer in the form that the request asks for."""
    if request.stream:
        with_usage = bool((request.stream_options or {}).get("include_usage"))
        return sent(_chunks(answer, with_usage=with_usage))
    pieces = [piece for group in answer.pieces() for piece in group or ()]
    if answer.failure:
        return answer.failed()
    text = "".join(piece.text for piece in pieces if not piece.is_step)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if steps := "".join(piece.text for piece in pieces if piece.is_step):
        message["reasoning_content"] = steps
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return flask.jsonify(
        {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}
    )


def _head(answer: TurnAnswer, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer.story.turn}",
        "object": kind,
        "created": answer.started_at,
        "model": AGENT,
    }


def _usage(answer: TurnAnswer) -> dict[str, int]:
    prompt_tokens, completion_tokens = answer.tokens
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def _chunks(answer: TurnAnswer, *, with_usage: bool) -> Iterator[bytes]:
    """The answer as server-sent events; leaving it stops the turn."""

    def chunk(delta: dict[str, str], end: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return _event({**_head(answer, "chat.completion.chunk"), "choices": [choice], **more})

    has_started = False
    for pieces in answer.pieces():
        if pieces is None:
            yield KEEP_ALIVE
            continue
        if not has_started:
            yield chunk({"role": "assistant", "content": ""})
            has_started = True
        yield from (chunk(_delta(piece)) for piece in pieces)
    if answer.failure:
        yield _event(answer.failure)
    else:
        yield chunk({}, "stop", **({} if with_usage else {"usage": _usage(answer)}))
        if with_usage:
            head = _head(answer, "chat.completion.chunk")
            yield _event({**head, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _delta(piece: AnswerPiece) -> dict[str, str]:
    return {"reasoning_content" if piece.is_step else "content": piece.text}


def _event(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()
