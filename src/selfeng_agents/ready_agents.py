"""Agents that programs for the package `miniagents` find there: chains, dialogs, histories,
files.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from selfeng_agents import console
from selfeng_agents.history import ChatHistoryMD, InMemoryChatHistory
from selfeng_agents.interaction import InteractionContext
from selfeng_agents.loops import Link, achain, achain_loop
from selfeng_agents.message import Message
from selfeng_agents.mini_agent import MiniAgent, miniagent
from selfeng_agents.package_values import TextMessage
from selfeng_agents.sentinels import AWAIT

GLOBAL_MESSAGE_HISTORY: list[Message] = []


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
async def in_memory_history_agent(
    ctx: InteractionContext,
    message_list: list[Message] = GLOBAL_MESSAGE_HISTORY,
    return_full_history: bool = False,
) -> None:
    """Adds the messages to a list, and passes on either them or the whole list."""
    if not return_full_history:
        ctx.reply(ctx.message_promises)
    async for promise in ctx.message_promises:
        message_list.append(await promise)
    if return_full_history:
        ctx.reply(message_list)


@miniagent
async def dialog_loop(
    ctx: InteractionContext,
    assistant_agent: Link,
    user_agent: Link = console.console_user_agent,
    history_agent: MiniAgent | None = None,
    prompt_at_the_end: bool = True,
) -> None:
    """A loop of a person and an assistant, which gets the messages of this call as its prompt.

    The history is that of `user_agent`, or of `history_agent`; the default person's is in memory.
    """
    if user_agent is console.console_user_agent:
        history_agent = history_agent or in_memory_history_agent.fork(message_list=[])
    if (prompt := await ctx.message_promises) and isinstance(assistant_agent, MiniAgent):
        place: dict[str, Any] = {"prompt_suffix" if prompt_at_the_end else "prompt_prefix": prompt}
        assistant_agent = prompt_agent.fork(target_agent=assistant_agent, **place)
    remember = history_agent and history_agent.fork(return_full_history=True)
    ctx.reply(
        agent_loop.inquire(
            agents=[user_agent, remember, AWAIT, assistant_agent], raise_keyboard_interrupt=False
        )
    )


@miniagent
async def user_agent(
    ctx: InteractionContext,
    output_agent: Link,
    input_agent: Link,
    history_agent: Link = in_memory_history_agent,
) -> None:
    """A person, composed of an agent that shows, one that asks, and one that remembers."""
    if isinstance(history_agent, MiniAgent):
        history_agent = history_agent.fork(return_full_history=True)
    ctx.reply(await achain([output_agent, input_agent, history_agent], ctx.message_promises) or ())


@miniagent(alias="MARKDOWN_HISTORY_AGENT")
async def markdown_history_agent(
    ctx: InteractionContext,
    *,
    history_md_file: str | Path = "CHAT.md",
    default_role: str = "assistant",
    return_full_history: bool = False,
    only_write: bool | None = None,
    history_message_factory: Callable[..., Message] = TextMessage,
    append: bool = True,
    skip_empty: bool = True,
    ignore_no_history: bool = False,
) -> None:
    """Stores the messages in a Markdown file, and passes on either them or the whole file, by
    default without blank messages.

    `append=False` begins a new file. A message with `no_history` is not stored, unless that is
    ignored. `only_write=True` replies with nothing, `only_write=False` with the whole file.
    """
    return_full_history = return_full_history or only_write is False
    if not (return_full_history or only_write):
        ctx.reply(ctx.message_promises)
    history = ChatHistoryMD(history_md_file, default_role)
    if not append:
        await history.aclear()
    async for promise in ctx.message_promises:
        message = await promise
        if ignore_no_history or not message.get("no_history"):
            await history.akeep((message,))
    if return_full_history:
        ctx.reply(
            history_message_factory(**message.as_kwargs())
            for message in await history.aload_chat_history()
            if str(message).strip() or not skip_empty
        )


@miniagent
async def file_output_agent(ctx: InteractionContext, file: str | Path, **options: Any) -> None:
    """Writes the messages to a file as one text, as it comes, and passes them on; the options are
    those of `join_messages`.
    """
    ctx.reply(ctx.message_promises)
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    with Path(file).open("w", encoding="utf-8", newline="", buffering=1) as output:  # noqa: ASYNC230  a line at a time
        async for token in ctx.message_promises.as_single_promise(**options):
            output.write(str(token))


GLOBAL_CHAT_HISTORY = InMemoryChatHistory()
console_user_agent = console.console_user_agent.fork(chat_history=GLOBAL_CHAT_HISTORY)
