"""The common parts of all chat models: roles, tool calls, and a reply that streams."""

import inspect
import os
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from selfeng_agents.frozen import Frozen, freezable, thaw
from selfeng_agents.history import markdown_llm_logger_agent
from selfeng_agents.interaction import InteractionContext
from selfeng_agents.message import Message, MessageTokenAppender
from selfeng_agents.mini_agent import MiniAgent
from selfeng_agents.sequence import MessageSequence, MessageType


class ToolCall(Frozen):
    """A function call that the model requests, the same for every provider."""

    id: str
    name: str
    arguments: str
    """JSON text of an object, as the model wrote it."""


class RoleMessage(Message):
    """A message with a role."""

    role: str


class UserMessage(RoleMessage):
    """A message from a person."""

    role: str = "user"


class SystemMessage(RoleMessage):
    """Instructions to the model."""

    role: str = "system"


class AssistantMessage(RoleMessage):
    """A message from a model, and the tools that it calls."""

    role: str = "assistant"
    model: str | None = None
    agent_alias: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()


class PromptLogMessage(RoleMessage):
    """A message of a prompt, as a log gets it."""


class EmbeddingMessage(Message):
    """The embedding of a text."""

    embedding: tuple[float, ...]


class ToolMessage(RoleMessage):
    """The result of a tool."""

    role: str = "tool"
    tool_call_id: str


def role_of(message: Message) -> str:
    """The role; the user's if a message has none."""
    return message.get("role") or "user"


def content_of(message: Message) -> Any:
    """The text of a message, or the parts that replace it, in the models' format."""
    return (
        thaw(message.content)
        if message.text is None and message.content is not None
        else str(message)
    )


def model_or_default(model: str | None, variable: str) -> str:
    """The model, by default the one that the environment names. Raises: ValueError: neither."""
    name = model or os.environ.get(variable)
    if not name:
        raise ValueError(f"The agent has no model: pass `model=...`, or set {variable}.")
    return name


def streams_by_default(ctx: InteractionContext) -> bool:
    """Whether the context wants tokens as they come."""
    return getattr(ctx.miniagents, "stream_llm_tokens_by_default", True)


def for_sdk(call: Callable[..., Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters as arguments of an SDK's function; unknown ones go to the server unchanged."""
    sdk_parameters = inspect.signature(call).parameters
    unknown = {name: value for name, value in parameters.items() if name not in sdk_parameters}
    arguments = {name: value for name, value in parameters.items() if name in sdk_parameters}
    return (
        {**arguments, "extra_body": {**arguments.get("extra_body", {}), **unknown}}
        if unknown
        else arguments
    )


LogPrompt = Callable[[Iterable[dict[str, Any]]], object]
"""Tells the log what the model is sent."""


async def reply_with_tokens(
    ctx: InteractionContext,
    message_class: type[Message],
    known_beforehand: dict[str, Any],
    say: Callable[[MessageTokenAppender, LogPrompt], Awaitable[None]],
    logger: MiniAgent | bool | None = None,
    **parameters: Any,
) -> None:
    """Promise the one message of the reply at once, and stream the model's text into it; errors are
    raised to its readers. `logger` gets prompt, parameters and reply; None is the context's.
    """
    with MessageTokenAppender(capture_errors=True) as tokens:
        fields = {"role": "assistant", "agent_alias": ctx.this_agent.alias, **known_beforehand}
        reply = message_class.promise(message_token_streamer=tokens, start_asap=False, **fields)
        ctx.reply(reply)
        ctx.finish_early()

        def log(prompt: Iterable[dict[str, Any]]) -> None:
            prompt_messages = [
                PromptLogMessage(text=str(entry["content"]), role=entry["role"]) for entry in prompt
            ]
            log_call(ctx, logger, [prompt_messages, reply], model=fields["model"], **parameters)

        await say(tokens, log)


def log_call(
    ctx: InteractionContext,
    logger: MiniAgent | bool | None,
    messages: MessageType,
    show_response_metadata: bool = True,
    **request: Any,
) -> None:
    """Send the call of a model to a logger, which may be the context's; a reply that fails is in
    the log as an error.
    """
    effective_logger = (
        getattr(ctx.miniagents, "llm_logger_agent", False) if logger is None else logger
    )
    if effective_logger:
        agent = (
            effective_logger
            if isinstance(effective_logger, MiniAgent)
            else markdown_llm_logger_agent
        )
        about = {"agent_alias": ctx.this_agent.alias, **freezable(request)}
        agent.kick_off(
            MessageSequence.forgiving(messages),
            request_metadata=about,
            show_response_metadata=show_response_metadata,
        )
