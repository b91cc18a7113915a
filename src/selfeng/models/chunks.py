"""The chunks of a streamed reply, as servers send them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx2
from openai import APIError, AsyncOpenAI, AsyncStream
from openai._models import construct_type
from openai._streaming import ServerSentEvent
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, ValidationError

from selfeng.models.responses import ResponseEvents

ModelT = TypeVar("ModelT", bound=BaseModel)
_REST_SECONDS = 1.0
"""Within which a connection that goes on after the end mark must end."""


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
