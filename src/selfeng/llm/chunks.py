"""The chunks of a streamed reply, which know whether their end was announced."""

from collections.abc import AsyncIterator

from openai import AsyncOpenAI, AsyncStream
from openai._streaming import ServerSentEvent
from openai.types.chat import ChatCompletionChunk


class Chunks(AsyncStream[ChatCompletionChunk]):
    """The SDK's stream; that one ends in the same way whether the end mark came or the connection was closed."""

    def __init__(self, opened: AsyncStream[ChatCompletionChunk], sdk: AsyncOpenAI) -> None:
        super().__init__(cast_to=ChatCompletionChunk, response=opened.response, client=sdk)
        self.announced = False
        """Whether the end mark, `[DONE]`, has come."""

    async def _iter_events(self) -> AsyncIterator[ServerSentEvent]:
        async for event in super()._iter_events():
            self.announced = event.data.startswith("[DONE]")
            yield event
