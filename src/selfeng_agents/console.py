"""The person at the console as an agent."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from selfeng_agents.history import ChatHistory, InMemoryChatHistory
from selfeng_agents.interaction import InteractionContext
from selfeng_agents.mini_agent import MiniAgent, miniagent
from selfeng_agents.models.chat_messages import UserMessage
from selfeng_agents.promising_errors import EndOfLoop


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@miniagent
async def console_output_agent(
    ctx: InteractionContext,
    assistant_style: str | int | None = None,
    mention_aliases: bool = True,
    default_role: str = "assistant",
    write: Callable[[str], object] = _write,
) -> None:
    """Shows the messages as they come, and passes them on.

    `assistant_style`, or the field `console_style` of a message, is an ANSI code such as `92;1`.
    """
    ctx.reply(ctx.message_promises)
    async for promise in ctx.message_promises:
        fields = promise.known_beforehand
        style = fields.get("console_style") or assistant_style
        before, after = (f"\033[{style}m", "\033[0m") if style else ("", "")
        if mention_aliases:
            name = fields.get("agent_alias") or fields.get("role") or default_role
            write(f"\n{before}{name}: {after}")
        async for token in promise:
            write(f"{before}{token}{after}")
        write("\n")


@miniagent
async def console_input_agent(
    ctx: InteractionContext,
    greeting: str = "",
    read: Callable[[str], str] | None = None,
    write: Callable[[str], object] = _write,
) -> None:
    """Passes on the messages, asks the person when all have come, and adds what is said.

    The greeting comes where there is no message yet. `exit`, or the end of the input, ends the
    loop. `read` is called in a thread, with the text of the question; the default is `input`.
    """
    ctx.reply(ctx.message_promises)
    if not await ctx.message_promises and greeting:
        write(f"{greeting}\n")
    try:
        text = await asyncio.to_thread(read or input, "\nUSER: ")
    except EOFError:
        text = "exit"
    if text.strip() == "exit":
        raise EndOfLoop("The person has left.")
    if text.strip():
        ctx.reply(UserMessage(text=text))


@miniagent
async def console_user_agent(
    ctx: InteractionContext,
    chat_history: ChatHistory | None = None,
    history_agent: MiniAgent | None = None,
    default_alias: str = "assistant",
    write: Callable[[str], object] = _write,
    **options: Any,
) -> None:
    """Shows the messages as they come, asks the person, and replies with everything that was said.

    That is the whole history, of an agent or an object, if there is one; otherwise the messages and
    the person's. The options are those of `console_input_agent`.
    """
    output = console_output_agent.inquire(
        ctx.message_promises, default_role=default_alias, write=write
    )
    everything = console_input_agent.inquire(output, write=write, **options)
    if history_agent is not None:
        ctx.reply(history_agent.inquire(everything, return_full_history=True))
    elif chat_history is not None:
        await chat_history.logging_agent.inquire(everything)
        ctx.reply(await chat_history.aload_chat_history())
    else:
        ctx.reply(everything)


def create_console_user_agent(chat_history: ChatHistory | None = None, **options: Any) -> MiniAgent:
    """A console with its own history, in memory by default."""
    return console_user_agent.fork(chat_history=chat_history or InMemoryChatHistory(), **options)
