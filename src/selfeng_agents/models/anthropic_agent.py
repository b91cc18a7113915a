"""Anthropic's models as an agent."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from selfeng_agents.interaction import InteractionContext
from selfeng_agents.message import Message, MessageTokenAppender
from selfeng_agents.mini_agent import MiniAgent, miniagent
from selfeng_agents.models.chat_messages import (
    AssistantMessage,
    LogPrompt,
    ToolCall,
    content_of,
    for_sdk,
    model_or_default,
    reply_with_tokens,
    role_of,
    streams_by_default,
)

if TYPE_CHECKING:
    import anthropic.types
    from anthropic import AsyncAnthropic

MAX_TOKENS = 4096
"""Default length limit of a reply, which Anthropic requires."""


class AnthropicMessage(AssistantMessage):
    """The reply of an Anthropic model."""


@miniagent
async def anthropic_agent(
    ctx: InteractionContext,
    *,
    model: str | None = None,
    system: str | None = None,
    stream: bool | None = None,
    async_client: "AsyncAnthropic | None" = None,
    response_metadata: dict[str, Any] | None = None,
    reply_metadata: dict[str, Any] | None = None,
    response_message_class: type[Message] = AnthropicMessage,
    llm_logger_agent: MiniAgent | bool | None = None,
    fake_first_user_message: str = "/start",
    message_delimiter_for_same_role: str = "\n\n",
    max_tokens: int = MAX_TOKENS,
    **parameters: Any,
) -> None:
    """Asks a model of Anthropic, and replies with one message.

    The message has `tool_calls`, `usage`, `stop_reason` and what else the server reports; its
    fields from `response_metadata`, or its alias `reply_metadata`, are known before it
    comes. Other parameters go to the server. A
    conversation that does not begin with the user gets the fake message. Without a client, one is
    created from the environment and kept for the context.
    """

    model = model_or_default(model, "ANTHROPIC_MODEL")

    async def say(tokens: MessageTokenAppender, log: LogPrompt) -> None:
        client = async_client or ctx.miniagents.shared(_client)
        delimiter = message_delimiter_for_same_role
        prompt, messages = anthropic_messages(
            await ctx.message_promises, system, fake_first_user_message, delimiter
        )
        log([*([{"role": "system", "content": prompt}] if prompt else []), *messages])
        request = {
            "model": model,
            "max_tokens": max_tokens,
            "messages": messages,
            **({"system": prompt} if prompt else {}),
            **parameters,
        }
        if streams_by_default(ctx) if stream is None else stream:
            async with client.messages.stream(**for_sdk(client.messages.stream, request)) as events:
                async for text in events.text_stream:
                    tokens.append(text)
                reply: anthropic.types.Message = await events.get_final_message()
        else:
            reply = await client.messages.create(
                stream=False, **for_sdk(client.messages.create, request)
            )
            for block in reply.content:
                if block.type == "text":
                    tokens.append(block.text)
        tokens.metadata_so_far |= reply.model_dump(exclude={"content"}, exclude_none=True)
        tokens.metadata_so_far["tool_calls"] = [
            ToolCall(id=block.id, name=block.name, arguments=json.dumps(block.input))
            for block in reply.content
            if block.type == "tool_use"
        ]

    await reply_with_tokens(
        ctx,
        response_message_class,
        {"model": model, **(response_metadata or {}), **(reply_metadata or {})},
        say,
        llm_logger_agent,
        max_tokens=max_tokens,
        **parameters,
    )


def anthropic_messages(
    messages: Iterable[Message], system: str | None, fake_first_user_message: str, delimiter: str
) -> tuple[str, list[dict[str, Any]]]:
    """The system prompt and the messages in Anthropic's format: the user begins, and roles
    alternate.
    """
    all_messages = list(messages)
    prompts = [
        system or "",
        *(str(message) for message in all_messages if role_of(message) == "system"),
    ]
    turns: list[dict[str, Any]] = []
    for message in all_messages:
        if role_of(message) == "system":
            continue
        role, content = _anthropic_content(message)
        if not turns and role != "user":
            turns.append({"role": "user", "content": fake_first_user_message})
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = _joined(turns[-1]["content"], content, delimiter)
        else:
            turns.append({"role": role, "content": content})
    return delimiter.join(filter(None, prompts)), turns


def _anthropic_content(message: Message) -> tuple[str, Any]:
    role, content = role_of(message), content_of(message)
    if call_id := message.get("tool_call_id"):
        return "user", [{"type": "tool_result", "tool_use_id": call_id, "content": content}]
    if calls := message.get("tool_calls"):
        uses = [
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": json.loads(call.arguments or "{}"),
            }
            for call in calls
        ]
        return role, [*_blocks(content), *uses]
    return role, content


def _joined(first: Any, second: Any, delimiter: str) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}{delimiter}{second}"
    return [*_blocks(first), *_blocks(second)]


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def _client() -> "AsyncAnthropic":
    from anthropic import AsyncAnthropic

    return AsyncAnthropic()
