"""The error message: an error in place of a message, where errors are wanted as messages."""

import traceback
from collections.abc import AsyncIterator

from selfeng_agents.message import Message, MessagePromise
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.replay_stream import Reader, ReplayStream


class ErrorMessage(Message):
    """The text of an error, after the text that came before it."""

    @classmethod
    def from_error(cls, error: BaseException, context: PromisingContext) -> "ErrorMessage":
        """The error by its type and text, or by its traceback if the context has
        `error_tracebacks_in_messages`.
        """
        return cls(text=_describe(error, context))


class ForgivingPromise(MessagePromise):
    """The message of another promise; an error ends its text and makes it an ErrorMessage, instead
    of being raised.
    """

    __slots__ = ("_strict",)

    def __init__(self, strict: MessagePromise) -> None:
        self._prepare_message(strict._context, strict.message_class, strict._known_fields)
        self._stream = strict.stream
        self._strict = strict

    @classmethod
    def forgiving(cls, promise: MessagePromise) -> MessagePromise:
        """The promise itself if it can't fail."""
        return (
            promise if promise.is_there or isinstance(promise, ForgivingPromise) else cls(promise)
        )

    def __aiter__(self) -> AsyncIterator[str]:
        return _ForgivingReader(self.stream, self._context)

    async def _bring_about(self) -> None:
        try:
            self._settle(await self._strict)
        except Exception as error:  # noqa: BLE001  errors are wanted as messages
            partial_text = "".join(map(str, self.stream.pieces))
            self._settle(
                ErrorMessage(
                    text=partial_text + "\n" * bool(partial_text) + _describe(error, self._context)
                )
            )


class _ForgivingReader(Reader[str]):
    """A reader that gets an error as its last token."""

    __slots__ = ("_context",)

    def __init__(self, stream: ReplayStream[str], context: PromisingContext) -> None:
        super().__init__(stream)
        self._context = context

    async def __anext__(self) -> str:
        try:
            return await super().__anext__()
        except StopAsyncIteration:
            raise
        except Exception as error:  # noqa: BLE001  errors are wanted as messages
            return "\n" * bool(self._stream.pieces) + _describe(error, self._context)


def _describe(error: BaseException, context: PromisingContext) -> str:
    if context.error_tracebacks_in_messages:
        return "".join(traceback.format_exception(error))
    return f"{type(error).__name__}: {error}"
