"""The message: what agents send each other, whole or as a promise that streams its tokens."""

from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any, ClassVar

from pydantic import ConfigDict

from selfeng_agents.frozen import Frozen
from selfeng_agents.promise import StreamedPromise
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import AppenderNotOpenError
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice
from selfeng_agents.streams import StreamAppender

TokenStreamer = Callable[[dict[str, Any]], AsyncIterable[str]]
"""Yields the tokens of a message. Items that it adds to the dict that it is called with become
fields of the message.
"""

_fill = object.__setattr__
_TEXT = {"text"}
_NOTHING: dict[str, Any] = {}


class Message(Frozen):
    """A frozen value with a text, or with a template that makes a text of the other fields;
    subclass it for other kinds.

    `content` and `content_template` are aliases of `text` and `text_template`, as in model APIs. A
    message without either reads as its fields in JSON.
    """

    __slots__ = ("_persisted", "_promise")
    referred_by_key: ClassVar[bool] = True

    text: str | None = None
    text_template: str | None = None

    def __init__(self, text: str | None = None, **fields: Any) -> None:
        if (
            "content" in fields
            and isinstance(fields["content"], str | None)
            and "content" not in type(self).model_fields
        ):
            content = fields.pop("content")
            text = content if text is None else text
        if "content_template" in fields:
            fields["text_template"] = fields.pop("content_template")
        super().__init__(text=text, **fields)

    @classmethod
    def of_text(cls, text: str) -> "Message":
        """A plain message, without the validation that a text does not need."""
        message = object.__new__(Message)
        _fill(message, "__dict__", {"class_": "Message", "text": text, "text_template": None})
        _fill(message, "__pydantic_fields_set__", _TEXT)
        _fill(message, "__pydantic_extra__", _NOTHING)
        _fill(message, "__pydantic_private__", None)
        return message

    @classmethod
    def promise(
        cls,
        text: str | None = None,
        *,
        message_token_streamer: "TokenStreamer | StreamAppender[str] | None" = None,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
        **known_beforehand: Any,
    ) -> "MessagePromise":
        """A promise of a message of this class, which streams the tokens of the streamer.

        The fields given here are in the message whatever the streamer adds, and readable before it
        comes.
        """
        if message_token_streamer is None:
            return cls(text, **known_beforehand).as_promise
        if text is not None:
            raise ValueError("Give a message its text or a streamer of tokens, not both.")
        return MessagePromise(
            message_token_streamer=message_token_streamer,
            message_class=cls,
            start_asap=start_asap,
            start_soon=start_soon,
            **known_beforehand,
        )

    @property
    def as_promise(self) -> "MessagePromise":
        """The promise of this message, always the same one."""
        try:
            promise: MessagePromise = self._promise
        except AttributeError:
            promise = MessagePromise(prefill_message=self)
            object.__setattr__(self, "_promise", promise)
        return promise

    def sub_messages(self) -> Iterator["Message"]:
        """Every message inside this one, at any depth, parts first."""
        yield from _messages_in(value for _, value in self.fields())

    def fields(self) -> Iterator[tuple[str, Any]]:
        textless = self.text is None and self.text_template is None
        yield from (
            (name, value)
            for name, value in super().fields()
            if not textless or name not in ("text", "text_template")
        )

    def metadata(self) -> dict[str, Any]:
        """The fields besides the text."""
        return {
            name: value
            for name, value in self.fields()
            if name not in ("class_", "text", "text_template")
        }

    @property
    def persistence_not_needed(self) -> bool:
        """Whether someone has persisted the message, or claims to."""
        return bool(getattr(self, "_persisted", False))

    def claim_persistence(self, claimed: bool = True) -> bool:
        """Whether this is the first call; the first caller must persist the message. With False the
        claim is given up.
        """
        changes = self.persistence_not_needed != claimed
        object.__setattr__(self, "_persisted", claimed)
        return changes

    async def aset_persistence_not_needed(self, value: bool = True) -> bool:
        """The same as `claim_persistence`."""
        return self.claim_persistence(value)

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other.message if isinstance(other, MessageToken) else other)

    def __hash__(self) -> int:
        return hash(str(self))

    def _as_string(self) -> str:
        if self.text_template is not None:
            return self.text_template.format(**{**dict(super().fields()), "content": self.text})
        if self.text is not None:
            return self.text
        content = self.get("content")
        return content if isinstance(content, str) else f"```json\n{self.full_json}\n```"

    def __getattr__(self, name: str) -> Any:
        if name == "content" and name not in (self.__pydantic_extra__ or ()):
            return self.text
        return super().__getattr__(name)


class MessageToken(str):
    """The single token of a message that did not come in tokens; equal to its text, and to the
    message.
    """

    __slots__ = ("message",)
    message: Message

    def __new__(cls, message: Message) -> "MessageToken":
        token = super().__new__(cls, message)
        token.message = message
        return token


class StrictMessage(Message):
    """A message with the declared fields and no others."""

    model_config = ConfigDict(extra="forbid")


def _messages_in(values: Any) -> Iterator[Message]:
    for value in values:
        if isinstance(value, Message):
            yield from value.sub_messages()
            yield value
        elif isinstance(value, Frozen):
            yield from _messages_in(item for _, item in value.fields())
        elif isinstance(value, tuple | frozenset):
            yield from _messages_in(value)


class MessageTokenAppender(StreamAppender[str]):
    """The writing end of a message's tokens, with the fields that are known only at the end."""

    __slots__ = ("metadata_so_far",)

    def __init__(self, capture_errors: Choice = DEFAULT) -> None:
        super().__init__(capture_errors)
        self.metadata_so_far: dict[str, Any] = {}

    @property
    def auxiliary_field_collector(self) -> dict[str, Any]:
        """An alias of `metadata_so_far`."""
        return self.metadata_so_far


class MessagePromise(StreamedPromise[str, Message]):
    """A promise of a message, which streams its tokens."""

    __slots__ = ("_known_fields", "_metadata", "_text", "message_class")
    _metadata: dict[str, Any]
    _known_fields: dict[str, Any] | Frozen

    def __init__(
        self,
        *,
        message_token_streamer: TokenStreamer | StreamAppender[str] | None = None,
        prefill_message: Message | None = None,
        message_class: type[Message] = Message,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
        **known_beforehand: Any,
    ) -> None:
        """A message that exists, or a class and the streamer of its tokens.

        Raises:
            ValueError: both are given, or neither.
            AppenderNotOpenError: the streamer is a MessageTokenAppender that was never opened, so
                nothing would ever end it.
        """
        if (prefill_message is None) == (message_token_streamer is None) or (
            prefill_message is not None and known_beforehand
        ):
            raise ValueError(
                "Give a promise of a message either the message, or a streamer of its tokens and "
                "what is known of it."
            )
        context = PromisingContext.get_current()
        self._prepare_message(context, message_class, known_beforehand)
        if prefill_message is not None:
            self.message_class = type(prefill_message)
            self._settle(prefill_message)
            return
        eager = resolve_choice(context.start_everything_asap_by_default, start_asap, start_soon)
        if isinstance(message_token_streamer, MessageTokenAppender):
            if not message_token_streamer.was_open:
                raise AppenderNotOpenError(
                    "Make the promise inside `with` the appender of its tokens, or nothing would "
                    "ever end it."
                )
            self._metadata = message_token_streamer.metadata_so_far
        if isinstance(message_token_streamer, StreamAppender):
            self._stream = message_token_streamer.stream
        elif message_token_streamer is not None:
            streamer = message_token_streamer
            self._stream = self._stream_from(lambda _: streamer(self._metadata), eager)
        if eager and context.is_observed:
            context.start(self._bring_about())

    @classmethod
    def of_text(cls, text: str, context: PromisingContext) -> "MessagePromise":
        """The promise of a plain message, which is created when awaited."""
        promise = cls.__new__(cls)
        promise._prepare_message(context, Message, _NOTHING)
        promise._text = text
        if context.is_observed:
            promise._settle(Message.of_text(text))
        return promise

    def _prepare_message(
        self,
        context: PromisingContext,
        message_class: type[Message],
        known_fields: dict[str, Any] | Frozen,
    ) -> None:
        self._prepare(context)
        self.message_class = message_class
        self._known_fields = known_fields
        self._metadata = {}
        self._text: str | None = None
        self._stream = None

    @property
    def is_there(self) -> bool:
        """Whether the message has come, or existed from the start."""
        return self._text is not None or isinstance(self._result, Message)

    @property
    def known_beforehand(self) -> Frozen:
        """The known fields of the message before it comes; the message itself once it exists."""
        if isinstance(self._result, Message):
            return self._result
        if not isinstance(self._known_fields, Frozen):
            self._known_fields = Frozen(**self._known_fields)
        return self._known_fields

    @property
    def preliminary_metadata(self) -> Frozen:
        """An alias of `known_beforehand`."""
        return self.known_beforehand

    def __str__(self) -> str:
        """The text of a message that is there."""
        if not self.is_there:
            return repr(self)
        return str(self._result) if self._text is None else self._text

    def _pieces_of_the_whole(self) -> Iterable[str]:
        if self._text is not None:
            self._settle(Message.of_text(self._text))
        return [MessageToken(self._result)]

    async def _bring_about(self) -> None:
        if self._text is not None:
            self._settle(Message.of_text(self._text))
            return
        tokens = self.stream
        await tokens.until_ended()
        if self._is_settled:
            return
        if tokens.failure is not None:
            self._settle(error=tokens.failure.error)
            return
        known_fields = (
            self._known_fields.as_kwargs()
            if isinstance(self._known_fields, Frozen)
            else self._known_fields
        )
        text = "".join(map(str, tokens.pieces))
        try:
            self._settle(self.message_class(**{**self._metadata, **known_fields, "text": text}))
        except Exception as error:  # noqa: BLE001  a subclass may refuse the fields, and awaiting the message raises that
            self._settle(error=error)
