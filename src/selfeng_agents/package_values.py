"""Names that only programs written for the package `miniagents` use, in addition to its agents: its
kinds of messages, types and tools.
"""

import logging
import traceback
from abc import ABC, abstractmethod
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from selfeng_agents.frozen import Frozen, serialized_fields
from selfeng_agents.interaction import InteractionContext
from selfeng_agents.message import Message, MessageToken, MessageTokenAppender
from selfeng_agents.mini_agent import MiniAgent
from selfeng_agents.models.anthropic_agent import anthropic_messages
from selfeng_agents.models.chat_messages import (
    AssistantMessage,
    LogPrompt,
    content_of,
    reply_with_tokens,
    streams_by_default,
)
from selfeng_agents.models.openai_agent import openai_messages
from selfeng_agents.promise import StreamedPromise
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import NoActiveContextError
from selfeng_agents.sentinels import DEFAULT, Choice
from selfeng_agents.sequence import MessageSequence, MessageType

__version__ = "0.0.33"
"""The version of the package whose names are all here."""
FROZEN_CLASS_FIELD = "class_"
FrozenType = Any
FAILED, END_OF_QUEUE, END_OF_UNORDERED_QUEUE = object(), object(), object()
In = TypeVar("In")
Out = TypeVar("Out")
PromiseResolver = Callable[[Any], Awaitable[Any]]
PromiseStreamer = Callable[[Any], AsyncIterable[Any]]
SequenceFlattener = Callable[[Any, Any], AsyncIterable[Any]]


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
            return (
                instance.text is not None
                or instance.text_template is not None
                or super().__instancecheck__(instance)
            )
        return bool(super().__instancecheck__(instance))


class TextMessage(Message, metaclass=_AnyMessageWithText):
    """A message that serializes its text as `content`; equal to a plain Message with the same
    content.
    """

    def serialize(self) -> dict[str, Any]:
        return {
            _LATER.get(name, name): value
            for name, value in serialized_fields(self, by_key=True).items()
        }

    def fields(self) -> Any:
        return Frozen.fields(self)

    def __eq__(self, other: object) -> bool:
        other = other.message if isinstance(other, MessageToken) else other
        if type(other) is Message or type(other) is type(self):
            return {**dict(Frozen.fields(self)), "class_": ""} == {
                **dict(Frozen.fields(other)),
                "class_": "",
            }
        return NotImplemented

    __hash__ = Message.__hash__


_LATER = {"text": "content", "text_template": "content_template"}


class FlatSequence(Generic[In, Out]):
    """A stream made from another by a function that yields any number of pieces for each piece."""

    def __init__(
        self,
        incoming_streamer: AsyncIterable[In] | None = None,
        *,
        normal_streamer: AsyncIterable[In] | None = None,
        flattener: Callable[[Any, In], AsyncIterator[Out]],
        sequence_promise_class: type[StreamedPromise[Any, Any]] = StreamedPromise,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
    ) -> None:
        """Raises: ValueError: there is no streamer."""
        source = incoming_streamer if incoming_streamer is not None else normal_streamer
        if source is None:
            raise ValueError("A sequence needs a streamer.")

        async def flat(_: object) -> AsyncIterator[Out]:
            async for piece in source:
                async for part in flattener(self, piece):
                    yield part

        self.sequence_promise: StreamedPromise[Out, tuple[Out, ...]] = sequence_promise_class(
            streamer=flat, start_asap=start_asap, start_soon=start_soon
        )


class LLMAgent(BaseModel, ABC):
    """Base of a model's agent as a class: a subclass gives the prompt in the server's format, and
    appends the tokens of the reply.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow", protected_namespaces=())

    ctx: InteractionContext
    model: str
    stream: bool | None = None
    """None: the context decides."""
    system: str | None = None
    response_metadata: Any = None
    response_message_class: type[Message] = AssistantMessage
    llm_logger_agent: Any = None
    """An agent, a switch, or None for the context's."""

    async def __call__(self) -> None:
        self.stream = streams_by_default(self.ctx) if self.stream is None else self.stream

        async def say(tokens: MessageTokenAppender, log: LogPrompt) -> None:
            prompt = await self._aprepare_message_dicts()
            log(prompt)
            await self._aproduce_tokens(prompt, tokens)

        metadata = {"model": self.model, **dict(self.response_metadata or {})}
        logger, extra = self.llm_logger_agent, self.model_extra or {}
        await reply_with_tokens(
            self.ctx,
            self.response_message_class,
            metadata,
            say,
            logger,
            stream=self.stream,
            **extra,
        )

    async def _aprepare_message_dicts(self) -> list[dict[str, Any]]:
        return await aprepare_dicts_for_openai(self.ctx.message_promises, system=self.system)

    @abstractmethod
    async def _aproduce_tokens(
        self, message_dicts: list[dict[str, Any]], token_appender: MessageTokenAppender
    ) -> None: ...


async def aprepare_dicts_for_openai(
    messages: MessageType, *, system: str | None = None
) -> list[dict[str, Any]]:
    """Messages in the format of OpenAI's servers."""
    return openai_messages(await MessageSequence.aresolve_messages(messages), system)


async def aprepare_dicts_for_anthropic(
    messages: MessageType,
    *,
    system: str | None = None,
    message_delimiter_for_same_role: str = "\n\n",
    fake_first_user_message: str = "/start",
) -> list[dict[str, Any]]:
    """Messages in Anthropic's format; what the system says is the last one, if there is any."""
    all_messages = await MessageSequence.aresolve_messages(messages)
    prompt, turns = anthropic_messages(
        all_messages, system, fake_first_user_message, message_delimiter_for_same_role
    )
    return [*turns, *([{"role": "system", "content": prompt}] if prompt else [])]


def message_to_llm_dict(message: Message, default_role: str = "user") -> dict[str, Any]:
    """Role and content of a message."""
    return {"role": message.get("role") or default_role, "content": content_of(message)}


def get_current_agent_trace() -> list[MiniAgent]:
    """The agent that runs here, its caller, and so on."""
    return InteractionContext.get_current().get_agent_trace()


def display_agent_trace(agent_trace: Iterable[MiniAgent] | None = None) -> str:
    """The aliases of the trace in one line."""
    return " <- ".join(
        agent.alias for agent in (get_current_agent_trace() if agent_trace is None else agent_trace)
    )


def cached_privately(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Call a method of a frozen value once, and keep the result outside of its fields."""

    @wraps(function)
    def cached(self: Any) -> Any:
        if self.__pydantic_private__ is None:
            object.__setattr__(self, "__pydantic_private__", {})
        cache = self.__pydantic_private__
        if function not in cache:
            cache[function] = function(self)
        return cache[function]

    return cached


class SingletonMeta(type):
    """Makes one instance of each class."""

    def __call__(cls) -> Any:
        if "_instance" not in vars(cls):
            cls._instance = super().__call__()
        return cls._instance


class Singleton(metaclass=SingletonMeta):
    """Base of classes with one instance."""


class ModelSingletonMeta(type(BaseModel), SingletonMeta):  # type: ignore[misc]  # pydantic's metaclass
    """The same for pydantic's models."""


class ModelSingleton(metaclass=ModelSingletonMeta):
    """Base of models with one instance."""


class MiniAgentsLogFormatter(logging.Formatter):
    """Shows an error with the agents that it comes from and, if the context wants it, without the
    runtime's own lines.
    """

    def __init__(
        self,
        *args: Any,
        packages_to_exclude: Iterable[Path] | None = None,
        include_agent_trace: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.packages_to_exclude = tuple(packages_to_exclude or (Path(__file__).parent,))
        self.include_agent_trace = include_agent_trace

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        exception = traceback.TracebackException(*ei)
        reduced = getattr(PromisingContext.find_current(), "log_reduced_tracebacks", False)
        if exception.stack and reduced:
            *before, last = exception.stack
            exception.stack[:] = [*filter(self._is_shown, before), last]
        lines = list(exception.format())
        with suppress(NoActiveContextError):
            lines += [f"Agent trace: {display_agent_trace()}\n"] * self.include_agent_trace
        return "".join(lines)

    def _is_shown(self, frame: traceback.FrameSummary) -> bool:
        return not any(Path(frame.filename).is_relative_to(p) for p in self.packages_to_exclude)
