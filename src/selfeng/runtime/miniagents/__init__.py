"""What only programs written for the package `miniagents` use: its agents and values, built on the
runtime.

With this folder on the path, `import miniagents` finds `miniagents.py` beside this file, which has
all names of that package.
"""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

from selfeng.runtime.frozen import Frozen, serialized_fields
from selfeng.runtime.history import ChatHistoryMD
from selfeng.runtime.interaction import InteractionContext
from selfeng.runtime.loops import Link, achain, achain_loop
from selfeng.runtime.message import Message, MessageToken
from selfeng.runtime.mini_agent import MiniAgent, miniagent
from selfeng.runtime.models import anthropic_agent, openai_agent
from selfeng.runtime.models.chat_messages import content_of, role_of
from selfeng.runtime.promise import StreamedPromise
from selfeng.runtime.sentinels import AWAIT, DEFAULT, Choice

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


@miniagent
async def agent_chain(ctx: InteractionContext, agents: Iterable[Link]) -> None:
    """Replies with what the last agent of the chain replies."""
    ctx.reply(await achain(agents, ctx.message_promises) or ())


@miniagent
async def agent_loop(
    ctx: InteractionContext, agents: Iterable[Link], raise_keyboard_interrupt: bool = True
) -> None:
    """Runs a loop of agents, until one ends it."""
    try:
        await achain_loop(agents, ctx.message_promises)
    except KeyboardInterrupt:
        if raise_keyboard_interrupt:
            raise


@miniagent
async def prompt_agent(
    ctx: InteractionContext,
    *,
    target_agent: MiniAgent,
    prompt_prefix: Any = (),
    prompt_suffix: Any = (),
    **arguments: Any,
) -> None:
    """Puts messages before and after those that it passes on."""
    ctx.reply(
        target_agent.inquire([prompt_prefix, ctx.message_promises, prompt_suffix], **arguments)
    )


@miniagent
async def dialog_loop(
    ctx: InteractionContext, user_agent: Link, assistant_agent: Link, prompt_at_the_end: bool = True
) -> None:
    """A loop of a person and an assistant, which gets the messages of this call as its prompt."""
    prompt = await ctx.message_promises
    if prompt and isinstance(assistant_agent, MiniAgent):
        place: dict[str, Any] = {"prompt_suffix" if prompt_at_the_end else "prompt_prefix": prompt}
        assistant_agent = prompt_agent.fork(target_agent=assistant_agent, **place)
    ctx.reply(
        agent_loop.inquire(
            agents=[user_agent, AWAIT, assistant_agent], raise_keyboard_interrupt=False
        )
    )


@miniagent
async def user_agent(
    ctx: InteractionContext, output_agent: Link, input_agent: Link, history_agent: Link = None
) -> None:
    """A person, composed of an agent that shows, one that asks, and one that remembers."""
    if isinstance(history_agent, MiniAgent):
        history_agent = history_agent.fork(return_full_history=True)
    ctx.reply(await achain([output_agent, input_agent, history_agent], ctx.message_promises) or ())


@miniagent
async def in_memory_history_agent(
    ctx: InteractionContext, message_list: list[Message], return_full_history: bool = False
) -> None:
    """Adds the messages to a list, and passes on either them or the whole list."""
    if not return_full_history:
        ctx.reply(ctx.message_promises)
    message_list.extend(await ctx.message_promises)
    if return_full_history:
        ctx.reply(message_list)


@miniagent(alias="MARKDOWN_HISTORY_AGENT")
async def markdown_history_agent(
    ctx: InteractionContext,
    *,
    history_md_file: str | Path = "CHAT.md",
    default_role: str = "assistant",
    return_full_history: bool = False,
) -> None:
    """Stores the messages in a Markdown file, and passes on either them or the whole file."""
    if not return_full_history:
        ctx.reply(ctx.message_promises)
    history = ChatHistoryMD(history_md_file, default_role)
    await history.akeep(
        tuple(message for message in await ctx.message_promises if not message.get("no_history"))
    )
    if return_full_history:
        ctx.reply(await history.aload_chat_history())


def create_openai_agent(
    reply_metadata: dict[str, Any] | None = None, **arguments: Any
) -> MiniAgent:
    """The runtime's agent with arguments preset."""
    return openai_agent.fork(response_metadata=reply_metadata, **arguments)


def create_anthropic_agent(
    reply_metadata: dict[str, Any] | None = None, **arguments: Any
) -> MiniAgent:
    """The runtime's agent with arguments preset."""
    return anthropic_agent.fork(response_metadata=reply_metadata, **arguments)


def message_to_llm_dict(message: Message) -> dict[str, Any]:
    """Role and content of a message."""
    return {"role": role_of(message), "content": content_of(message)}


def get_current_agent_trace() -> list[MiniAgent]:
    """The agent that runs here, its caller, and so on."""
    return InteractionContext.get_current().get_agent_trace()


def display_agent_trace(agent_trace: Iterable[MiniAgent] | None = None) -> str:
    """The aliases of the trace in one line."""
    return " <- ".join(
        agent.alias for agent in (get_current_agent_trace() if agent_trace is None else agent_trace)
    )
