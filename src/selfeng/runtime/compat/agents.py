"""The agents that `miniagents` brings, on the runtime's loops, histories and console."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from selfeng.runtime.agent import MiniAgent, miniagent
from selfeng.runtime.history import ChatHistoryMD
from selfeng.runtime.interaction import InteractionContext
from selfeng.runtime.loops import Link, achain, achain_loop
from selfeng.runtime.message import Message
from selfeng.runtime.models import anthropic_agent, openai_agent
from selfeng.runtime.models.chat import content_of, role_of
from selfeng.runtime.sentinels import AWAIT


@miniagent
async def agent_chain(ctx: InteractionContext, agents: Iterable[Link]) -> None:
    """Replies with what the last agent of the chain does."""
    ctx.reply(await achain(agents, ctx.message_promises) or ())


@miniagent
async def agent_loop(ctx: InteractionContext, agents: Iterable[Link], raise_keyboard_interrupt: bool = True) -> None:
    """Runs a loop of agents, until one ends it."""
    try:
        await achain_loop(agents, ctx.message_promises)
    except KeyboardInterrupt:
        if raise_keyboard_interrupt:
            raise


@miniagent
async def prompt_agent(
    ctx: InteractionContext, *, target_agent: MiniAgent, prompt_prefix: Any = (), prompt_suffix: Any = (), **arguments: Any
) -> None:
    """Puts messages before and after those that it passes on."""
    ctx.reply(target_agent.inquire([prompt_prefix, ctx.message_promises, prompt_suffix], **arguments))


@miniagent
async def dialog_loop(ctx: InteractionContext, user_agent: Link, assistant_agent: Link, prompt_at_the_end: bool = True) -> None:
    """A loop of a person and an assistant, who gets the messages of this call as its prompt."""
    prompt = await ctx.message_promises
    if prompt and isinstance(assistant_agent, MiniAgent):
        place: dict[str, Any] = {"prompt_suffix" if prompt_at_the_end else "prompt_prefix": prompt}
        assistant_agent = prompt_agent.fork(target_agent=assistant_agent, **place)
    ctx.reply(agent_loop.inquire(agents=[user_agent, AWAIT, assistant_agent], raise_keyboard_interrupt=False))


@miniagent
async def user_agent(ctx: InteractionContext, output_agent: Link, input_agent: Link, history_agent: Link = None) -> None:
    """A person, made of an agent that shows, one that asks, and one that remembers."""
    if isinstance(history_agent, MiniAgent):
        history_agent = history_agent.fork(return_full_history=True)
    ctx.reply(await achain([output_agent, input_agent, history_agent], ctx.message_promises) or ())


@miniagent
async def in_memory_history_agent(ctx: InteractionContext, message_list: list[Message], return_full_history: bool = False) -> None:
    """Adds the messages to a list, and passes them on, or all that is in the list."""
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
    """Keeps the messages in a Markdown file, and passes them on, or all that is in the file."""
    if not return_full_history:
        ctx.reply(ctx.message_promises)
    history = ChatHistoryMD(history_md_file, default_role)
    await history.akeep(tuple(message for message in await ctx.message_promises if not message.get("no_history")))
    if return_full_history:
        ctx.reply(await history.aload_chat_history())


def create_openai_agent(reply_metadata: dict[str, Any] | None = None, **arguments: Any) -> MiniAgent:
    """The runtime's agent with arguments preset."""
    return openai_agent.fork(response_metadata=reply_metadata, **arguments)


def create_anthropic_agent(reply_metadata: dict[str, Any] | None = None, **arguments: Any) -> MiniAgent:
    """The runtime's agent with arguments preset."""
    return anthropic_agent.fork(response_metadata=reply_metadata, **arguments)


def message_to_llm_dict(message: Message) -> dict[str, Any]:
    """Role and content of a message."""
    return {"role": role_of(message), "content": content_of(message)}
