"""A chat with a model: the request, the reply, and the protocol of the providers that carry them,
apart from every provider's own types.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from selfeng.core.errors import ModelError
from selfeng.core.model_server import ModelServer
from selfeng.core.prompt import ChatMessage, FunctionSchema, Prompt
from selfeng.core.value import Value
from selfeng.prompts.agent_thread import is_result, read_call

Message = Mapping[str, Any]
"""In the form of `chat.completions`: `role` and `content`, a text or parts of which some are
pictures (`image_url`); `tool_calls` of the assistant, and `tool_call_id` of their results, whose
role is `tool`.
"""


class ChatRequest(Value):
    """One request to a model.

    `prompt` is the name of the prompt that the messages come from; `streamed`: a whole reply is
    gathered from a stream, where the server can do that; `functions` are what the model may call,
    `choice` states whether it must call one of them (`named`: the first); `strict`: the arguments
    of a call must fit the function's schema; `reply` has name and schema of the JSON object that
    the reply must be.
    """

    messages: tuple[Message, ...]
    prompt: str = ""
    streamed: bool = False
    functions: tuple[FunctionSchema, ...] = ()
    choice: Literal["auto", "required", "named"] = "auto"
    strict: bool = False
    reply: FunctionSchema | None = None

    @property
    def plain(self) -> bool:
        """Whether the model may reply as it likes."""
        return not (self.functions or self.reply)


class ModelCall(Value):
    """A function call as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON text, if the model made no mistake; "" if there are none."""


class CallPiece(NamedTuple):
    """A part of a function call.

    `number` is the place of the call in the reply; None if the server does not say: an `id` begins
    a call. `arguments` are a part of the JSON text; or the whole object, as some servers send it,
    or nothing.
    """

    number: int | None
    id: str
    name: str
    arguments: Any


class Tokens(Value):
    """The usage of one model call, 0 if the server does not say; `cached` is the part of `input`
    that the server had cached.
    """

    input: int
    output: int
    cached: int = 0


class Piece(NamedTuple):
    """A part of a reply, or all of one that is not streamed.

    `thought` is what the model thinks aloud, where the server sends it apart from the text;
    `finish` is at the end `stop`, `tool_calls`, `length`, `cap` (the request limited the
    length), `content_filter` or `error`, and a stream without it broke off; `usage` counts the
    whole call so far; `error`: why there is no reply.
    """

    text: str = ""
    thought: str = ""
    refusal: str = ""
    calls: Sequence[CallPiece] = ()
    finish: str = ""
    usage: Tokens | None = None
    error: ModelError | None = None


class Pieces(Protocol):
    """A reply in pieces, such as an async generator of them. Raises what `Provider.send` raises,
    but for RequestRefused.
    """

    async def __anext__(self) -> Piece: ...

    async def aclose(self) -> None: ...


Guard = Callable[[Callable[[], Awaitable[Pieces]]], Awaitable[Pieces]]
"""Runs one request within the bounds of its turn."""


class ListedModel(NamedTuple):
    """A model, and its tokens of prompt and reply together, if the server says."""

    id: str
    context_length: int | None


class Provider(Protocol):
    """Sends requests to one model by its provider's API. An installed package provides one as an
    entry point of the group `selfeng.models`: a function of a ModelServer and the number of retries
    after 429, 5xx and broken connections. OPENAI_API selects it by its name.

    Every failure is an error of `selfeng.models.model_failures` or `selfeng.core.errors`; none may
    have the key in it. Belongs to one event loop.
    """

    @property
    def server(self) -> ModelServer: ...

    @property
    def habits(self) -> tuple[str, ...]:
        """How requests to this server differ from the usual, for people."""

    async def aclose(self) -> None: ...

    async def models(self, patience: float | None = None) -> Sequence[ListedModel]:
        """The server's list; `patience` is in seconds, without retries. Raises:
        ModelUnavailable.
        """

    def forward(
        self, body: Mapping[str, Any], *, path: str
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """See `LLMClient.forward`. Raises: ModelUnavailable, ModelRefused."""

    async def send(
        self, request: ChatRequest, guard: Guard, *, streamed: bool, cap: int | None = None
    ) -> Pieces:
        """Begin a reply, of at most `cap` tokens; each attempt goes through the guard.

        Raises:
            RequestRefused: the server does not take the request in this form; a plainer one may
                work.
            TooLong: the prompt, or the cap, is longer than the model takes.
            ModelUnavailable, ModelRefused: see `ModelClient`.
        """


asked_again: ContextVar[Callable[[int], object]] = ContextVar(
    "asked_again", default=lambda attempt: None
)
"""Called with the number of the attempt, from 2, when a provider repeats a request by itself."""


class ModelReply(Value):
    """A whole reply."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    cut_off: bool = False
    """Whether the length limit ended it."""


@dataclass
class Memory:
    """The first strategy of a ladder that this server accepts; kept between calls."""

    strategy: int = 0
    ignored: int = 0
    """How many replies in a row did not follow it, without proving that none ever will."""


def messages_of(prompt: Prompt) -> tuple[Message, ...]:
    """The prompt's messages in wire format."""
    return tuple({"role": m.role, "content": _content(m)} for m in prompt.messages)


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    if not message.pictures:
        return message.content
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in message.pictures]
    return [{"type": "text", "text": message.content}, *pictures]


def with_native_calls(messages: Sequence[Message], names: Collection[str]) -> tuple[Message, ...]:
    """The messages, with an agent's calls of these functions and their results as native tool
    calls. A call that ended the agent's work has no result.
    """
    native: list[Message] = []
    waiting = native_id = ""
    for number, message in enumerate(messages):
        role, content, id = message["role"], message["content"], f"call{number:05}"
        answered = bool(waiting) and role == "user" and is_result(content, waiting)
        if waiting:
            text = content if answered else "{}"
            native.append({"role": "tool", "tool_call_id": native_id, "content": text})
        call = read_call(content) if role == "assistant" else None
        waiting, native_id = (call.name, id) if call and call.name in names else ("", "")
        if call and waiting:
            function = {"name": call.name, "arguments": json.dumps(call.arguments)}
            native_call = {"id": id, "type": "function", "function": function}
            native.append({"role": "assistant", "content": None, "tool_calls": [native_call]})
        elif not answered:
            native.append(message)
    return tuple(native)


def with_words(messages: Sequence[Message], words: str) -> tuple[Message, ...]:
    """The messages with a paragraph appended to the last one, so that roles still alternate."""
    *before, last = messages
    match last["content"]:
        case str(text):
            return (*before, {**last, "content": f"{text}\n\n{words}"})
        case parts:
            return (*before, {**last, "content": [*parts, {"type": "text", "text": words}]})


class ReceivedCalls:
    """The calls of functions in a reply, whose arguments may come in pieces; in addition, whether
    the length limit ended it, and the model's thoughts.
    """

    def __init__(self) -> None:
        self._parts: dict[int, tuple[str, str, str]] = {}
        self.cut_off, self.thoughts = False, ""

    def take(self, pieces: Sequence[CallPiece]) -> str:
        """Take these pieces; returns them as text."""
        added_text = ""
        for piece in pieces:
            last = len(self._parts) - (0 if piece.id or not self._parts else 1)
            index = last if piece.number is None else piece.number
            id, name, arguments = self._parts.get(index, ("", "", ""))
            more = piece.arguments or ""
            more_text = more if isinstance(more, str) else json.dumps(more)
            self._parts[index] = (id or piece.id, name or piece.name, arguments + more_text)
            added_text += piece.name + more_text
        return added_text

    @property
    def arguments(self) -> str:
        """Those of the first call, as far as they have come."""
        return self._parts[min(self._parts)][2] if self._parts else ""

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        parts = [self._parts[index] for index in sorted(self._parts)]
        return tuple(
            ModelCall(id=id or f"call_{number}", name=name, arguments=arguments)
            for number, (id, name, arguments) in enumerate(parts)
        )
