"""The person at the console as an agent."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from selfeng.runtime.history import ChatHistory, InMemoryChatHistory
from selfeng.runtime.interaction import InteractionContext
from selfeng.runtime.mini_agent import MiniAgent, miniagent
from selfeng.runtime.models.chat_messages import UserMessage
from selfeng.runtime.promising_errors import EndOfLoop
from selfeng.runtime.sequence import MessageType


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


@miniagent
async def console_user_agent(
    ctx: InteractionContext,
    chat_history: ChatHistory | None = None,
    read: Callable[[str], str] | None = None,
    write: Callable[[str], object] = _write,
    default_alias: str = "assistant",
) -> None:
    """Shows the messages as they come, asks the person, and replies with everything that was said.

    That is the whole history, if there is one; otherwise the messages and the person's. `exit`, or
    the end of the input, ends the loop. `read` is called in a thread, with the text of the
    question; the default is `input`.
    """
    async for promise in ctx.message_promises:
        known = promise.known_beforehand
        write(f"\n{known.get('agent_alias') or known.get('role') or default_alias}: ")
        async for token in promise:
            write(str(token))
        write("\n")
    try:
        said = await asyncio.to_thread(read or input, "\nUSER: ")
    except EOFError:
        said = "exit"
    if said.strip() == "exit":
        raise EndOfLoop("The person has left.")
    everything: list[MessageType] = [
        ctx.message_promises,
        *([UserMessage(text=said)] if said.strip() else []),
    ]
    if chat_history is None:
        ctx.reply(everything)
    else:
        await chat_history.logging_agent.inquire(everything)
        ctx.reply(await chat_history.aload_chat_history())


def create_console_user_agent(chat_history: ChatHistory | None = None, **options: Any) -> MiniAgent:
    """A console with its own history, in memory by default."""
    return console_user_agent.fork(chat_history=chat_history or InMemoryChatHistory(), **options)
