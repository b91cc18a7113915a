"""What only later versions of `miniagents` have, in terms of the runtime."""

from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Any, Generic, TypeVar

from selfeng.runtime.frozen import Frozen, serialized_fields
from selfeng.runtime.message import Message, MessageToken
from selfeng.runtime.promise import StreamedPromise
from selfeng.runtime.sentinels import DEFAULT, Choice

In = TypeVar("In")
Out = TypeVar("Out")


class Token(str):
    """A piece of a message; the runtime's tokens are plain text."""

    __slots__ = ()


class TextToken(Token):
    """A piece of text."""

    __slots__ = ()

    def __new__(cls, content: str | None = None, **metadata: Any) -> "TextToken":
        return super().__new__(cls, content or "")

    @property
    def content(self) -> str:
        return str(self)


class _AnyMessageWithText(type(Message)):  # type: ignore[misc]  # pydantic's metaclass
    def __instancecheck__(cls, instance: object) -> bool:
        if cls is TextMessage and isinstance(instance, Message):
            return instance.text is not None or instance.text_template is not None or super().__instancecheck__(instance)
        return bool(super().__instancecheck__(instance))


class TextMessage(Message, metaclass=_AnyMessageWithText):
    """A message whose text is called content where it is serialized; equal to a plain Message that says the same."""

    def serialize(self) -> dict[str, Any]:
        return {_LATER.get(name, name): value for name, value in serialized_fields(self, by_key=True).items()}

    def fields(self) -> Any:
        return Frozen.fields(self)

    def __eq__(self, other: object) -> bool:
        other = other.message if isinstance(other, MessageToken) else other
        if type(other) is Message or type(other) is type(self):
            return {**dict(Frozen.fields(self)), "class_": ""} == {**dict(Frozen.fields(other)), "class_": ""}
        return NotImplemented

    __hash__ = Message.__hash__


_LATER = {"text": "content", "text_template": "content_template"}


class FlatSequence(Generic[In, Out]):
    """A stream made of another one by a function that gives any number of pieces for each of its pieces."""

    def __init__(
        self,
        incoming_streamer: AsyncIterable[In] | None = None,
        *,
        normal_streamer: AsyncIterable[In] | None = None,
        flattener: Callable[[Any, In], AsyncIterator[Out]],
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
    ) -> None:
        source = incoming_streamer if incoming_streamer is not None else normal_streamer
        if source is None:
            raise ValueError("A sequence needs a streamer.")

        async def flat(_: object) -> AsyncIterator[Out]:
            async for piece in source:
                async for part in flattener(self, piece):
                    yield part

        self.sequence_promise: StreamedPromise[Out, tuple[Out, ...]] = StreamedPromise(
            streamer=flat, start_asap=start_asap, start_soon=start_soon
        )
