"""The chunks of a streamed reply as servers send them, and the pieces of replies, from data that
the SDK does not validate.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx2
from openai import APIError, AsyncOpenAI, AsyncStream
from openai._models import construct_type
from openai._streaming import ServerSentEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta
from pydantic import BaseModel, ValidationError

from selfeng.core.errors import ModelError, ModelReplyInvalid
from selfeng.core.model_server import ModelServer
from selfeng.models.chat import CallPiece, Piece, Tokens
from selfeng.models.model_failures import broken_off, erroneous
from selfeng.models.responses import ResponseEvents

ModelT = TypeVar("ModelT", bound=BaseModel)
_REST_SECONDS = 1.0
"""Within which a connection must end after the end mark."""


class Chunks(AsyncStream[ChatCompletionChunk]):
    """The SDK's stream ends the same way whether the end mark came or the connection closed; this
    one tells them apart. It also takes a thirtieth of the time to read a chunk that is as OpenAI's
    are: many turns stream at once, and share one loop.
    """

    def __init__(
        self, opened: httpx2.Response, sdk: AsyncOpenAI, events: ResponseEvents | None
    ) -> None:
        as_sent: Any = object
        super().__init__(cast_to=as_sent, response=opened, client=sdk)
        self._events = events
        self._first: ChatCompletionChunk | None = None
        self.announced = False
        """Whether the end mark, `[DONE]`, has come."""

    async def begin(self) -> None:
        """Wait for the first chunk, which may be an error instead."""
        self._first = await anext(self, None)

    async def __anext__(self) -> ChatCompletionChunk:
        if self._first:
            first, self._first = self._first, None
            return first
        data: Any = await super().__anext__()
        if self._events:
            while (chunk := self._events.chunk(data)) is None:
                data = await super().__anext__()
            data = chunk
        if isinstance(data, dict):
            if error := data.get("error") or _failed(data):
                raise APIError(str(_message(error)), self.response.request, body=error)
            if isinstance(groq_fields := data.get("x_groq"), Mapping) and groq_fields.get("usage"):
                data = {**data, "usage": groq_fields["usage"]}
        try:
            return ChatCompletionChunk.model_validate(data)
        except ValidationError:  # as other servers' are
            return as_built(ChatCompletionChunk, data)

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        """The events before the end mark. The connection is read to its end, so that it can be
        used again and no iterator is left to the garbage collector.
        """
        events = super()._iter_events()
        async for event in events:
            if event.data.startswith("[DONE]"):
                self.announced = True
                with suppress(TimeoutError):
                    async with asyncio.timeout(_REST_SECONDS):
                        async for _ in events:
                            pass
                return
            yield event


def as_built(kind: type[ModelT], fields: object) -> ModelT:
    """A value of the SDK, which is not validated."""
    value: Any = construct_type(type_=kind, value=fields)
    built: ModelT = value
    return built


def _failed(chunk: Mapping[str, Any]) -> Any:
    """An error in Groq's own field, or in a choice."""
    if isinstance((groq_fields := chunk.get("x_groq")), Mapping) and groq_fields.get("error"):
        return groq_fields["error"]
    choices = chunk.get("choices") or [{}]
    return choices[0].get("error") if isinstance(choices[0], Mapping) else None


def _message(error: Any) -> Any:
    return error.get("message") or error if isinstance(error, Mapping) else error


_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers send what the model thinks aloud."""

_LENGTHS = (
    "max_model_len",
    "loaded_context_length",
    "n_ctx",
    "num_ctx",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx_train",
)
"""How servers name the context length of a model, the one in use before the largest possible."""


def piece_of(chunk: ChatCompletionChunk) -> Piece:
    """The piece of a reply in one chunk of a stream."""
    choice = chunk.choices[0] if chunk.choices else None
    finish = (choice.finish_reason if choice else None) or ""
    return _piece(choice.delta if choice else None, finish, chunk.usage)


def whole_of(completion: ChatCompletion, server: ModelServer, *, capped: bool) -> Piece:
    """A reply that is not streamed, as one piece; `capped`: the request limited its length."""
    choice = completion.choices[0] if completion.choices else None
    if not choice or not choice.message:
        return Piece(usage=_tokens(completion.usage), error=_without_message(completion, server))
    finish = "cap" if capped and choice.finish_reason == "length" else choice.finish_reason
    piece = _piece(choice.message, finish or "stop", completion.usage)
    if piece.finish != "error" or piece.refusal:
        return piece
    return piece._replace(error=broken_off(server, (choice.model_extra or {}).get("error")))


def _piece(message: ChatCompletionMessage | ChoiceDelta | None, finish: str, usage: Any) -> Piece:
    if not message:
        return Piece(finish=finish, usage=_tokens(usage))
    return Piece(
        text=text_of(message.content),
        thought=thoughts_of(message),
        refusal=text_of(message.refusal),
        calls=[_call(call) for call in message.tool_calls or ()],
        finish=finish,
        usage=_tokens(usage),
    )


def _call(call: Any) -> CallPiece:
    index, function = getattr(call, "index", None), getattr(call, "function", None)
    return CallPiece(
        number=index if isinstance(index, int) else None,
        id=call.id or "",
        name=(function and function.name) or "",
        arguments=function and function.arguments,
    )


def _tokens(usage: Any) -> Tokens | None:
    if not usage:
        return None
    return Tokens(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        cached=_count(getattr(usage, "prompt_tokens_details", None), "cached_tokens"),
    )


def _count(counts: object, name: str) -> int:
    count = getattr(counts, name, None)
    return count if isinstance(count, int) and count > 0 else 0


def _without_message(completion: ChatCompletion, server: ModelServer) -> ModelError:
    """Some gateways answer 200 with an error of the provider behind them."""
    if error := (completion.model_extra or {}).get("error"):
        return erroneous(server, error)
    return ModelReplyInvalid(
        f"the reply of {server.model} holds no message",
        "try again, or set another OPENAI_MODEL",
        model=server.model,
    )


def text_of(content: Any) -> str:
    """The text of a `content`, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def thoughts_of(message: ChatCompletionMessage | ChoiceDelta | None) -> str:
    """The model's thoughts, where the server sends them in a field of their own."""
    fields = (message.model_extra or {}) if message else {}
    return next(filter(None, (text_of(fields.get(name)) for name in _FIELDS)), "")


def context_length_in(fields: Any) -> int | None:
    """The context length, in tokens, in a server's description of a model, at any depth."""
    if not isinstance(fields, Mapping):
        return None
    candidates = (
        *(fields.get(name) for name in _LENGTHS),
        *map(context_length_in, fields.values()),
    )
    return next((length for length in candidates if isinstance(length, int) and length > 0), None)
