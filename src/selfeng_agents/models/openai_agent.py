"""Models behind OpenAI's chat completions as an agent."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from selfeng_agents.interaction import InteractionContext
from selfeng_agents.message import Message, MessageTokenAppender
from selfeng_agents.mini_agent import MiniAgent, miniagent
from selfeng_agents.models.chat_messages import (
    AssistantMessage,
    EmbeddingMessage,
    LogPrompt,
    PromptLogMessage,
    ToolCall,
    content_of,
    for_sdk,
    log_call,
    model_or_default,
    reply_with_tokens,
    role_of,
    streams_by_default,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall


class OpenAIMessage(AssistantMessage):
    """The reply of an OpenAI model."""


@miniagent
async def openai_agent(
    ctx: InteractionContext,
    *,
    model: str | None = None,
    system: str | None = None,
    stream: bool | None = None,
    async_client: "AsyncOpenAI | None" = None,
    response_metadata: dict[str, Any] | None = None,
    reply_metadata: dict[str, Any] | None = None,
    response_message_class: type[Message] = OpenAIMessage,
    llm_logger_agent: MiniAgent | bool | None = None,
    **parameters: Any,
) -> None:
    """Asks a model of OpenAI, or of a compatible server, and replies with one message.

    The message has `tool_calls`, `usage` and whatever else the server reports; its fields from
    `response_metadata`, or its alias `reply_metadata`, are known before it
    comes. Other parameters go to the server. Without a
    client, one is created from the environment and kept for the context.
    """
    if parameters.get("n", 1) != 1:
        raise ValueError(
            f"openai_agent replies with one message, so n can't be {parameters['n']}; call it "
            "several times."
        )

    model = model_or_default(model, "OPENAI_MODEL")

    async def say(tokens: MessageTokenAppender, log: LogPrompt) -> None:
        client = async_client or ctx.miniagents.shared(_client)
        messages = openai_messages(await ctx.message_promises, system)
        log(messages)
        create = client.chat.completions.create
        request = for_sdk(create, {"model": model, "messages": messages, **parameters})
        if streams_by_default(ctx) if stream is None else stream:
            reply = _StreamedReply(tokens)
            async with await create(stream=True, **request) as chunks:
                async for chunk in chunks:
                    reply.add(chunk)
            reply.finish()
        else:
            _say(await create(stream=False, **request), tokens)

    await reply_with_tokens(
        ctx,
        response_message_class,
        {"model": model, **(response_metadata or {}), **(reply_metadata or {})},
        say,
        llm_logger_agent,
        **parameters,
    )


@miniagent
async def openai_embedding_agent(
    ctx: InteractionContext,
    model: str,
    *,
    async_client: "AsyncOpenAI | None" = None,
    batch_mode: bool = False,
    response_metadata: dict[str, Any] | None = None,
    llm_logger_agent: MiniAgent | bool | None = None,
    **parameters: Any,
) -> None:
    """Replies with the embedding of the messages as one text, or of each with `batch_mode`."""
    joined = ctx.message_promises.as_single_promise()
    messages = await ctx.message_promises if batch_mode else (await joined,)
    texts, client = (
        [str(message) for message in messages],
        async_client or ctx.miniagents.shared(_client),
    )
    create = client.embeddings.create
    reply = await create(**for_sdk(create, {"input": texts, "model": model, **parameters}))
    metadata = response_metadata or {}
    embeddings = [EmbeddingMessage(embedding=item.embedding, **metadata) for item in reply.data]
    ctx.reply(embeddings)
    prompt = [PromptLogMessage(text=text, role="user") for text in texts]
    log_call(ctx, llm_logger_agent, [prompt, embeddings], False, model=model, **parameters)


def openai_messages(messages: Iterable[Message], system: str | None = None) -> list[dict[str, Any]]:
    """Messages in the server's format, the system prompt first."""
    wire = [] if system is None else [{"role": "system", "content": system}]
    return wire + [_openai_message(message) for message in messages]


def _openai_message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": role_of(message), "content": content_of(message)}
    if calls := message.get("tool_calls"):
        functions = [{"name": call.name, "arguments": call.arguments} for call in calls]
        wire["tool_calls"] = [
            {"id": c.id, "type": "function", "function": f}
            for c, f in zip(calls, functions, strict=True)
        ]
        wire["content"] = wire["content"] or None
    if call_id := message.get("tool_call_id"):
        wire["tool_call_id"] = call_id
    return wire


def _client() -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    return AsyncOpenAI()


def _say(completion: "ChatCompletion", tokens: MessageTokenAppender) -> None:
    if not completion.choices:
        raise RuntimeError(
            f"The server replied without a choice: {completion.model_dump_json(exclude_none=True)}"
        )
    choice = completion.choices[0]
    if choice.message.content:
        tokens.append(choice.message.content)
    tokens.metadata_so_far |= completion.model_dump(exclude={"choices"}, exclude_none=True)
    tokens.metadata_so_far["choices"] = [
        choice.model_dump(exclude={"message": {"content", "tool_calls"}}, exclude_none=True)
    ]
    tokens.metadata_so_far["tool_calls"] = [
        ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in choice.message.tool_calls or ()
        if call.type == "function"
    ]


class _StreamedReply:
    """A reply collected from its chunks: text, tool calls in pieces, the finish reason, and usage,
    which may come alone.
    """

    def __init__(self, tokens: MessageTokenAppender) -> None:
        self._tokens = tokens
        self._choice: dict[str, Any] = {"index": 0}
        self._calls: dict[int, dict[str, str]] = {}

    def add(self, chunk: "ChatCompletionChunk") -> None:
        metadata = self._tokens.metadata_so_far
        if "id" not in metadata or chunk.usage is not None:
            metadata |= chunk.model_dump(exclude={"choices"}, exclude_none=True)
        for choice in chunk.choices:
            if choice.finish_reason is not None:
                self._choice["finish_reason"] = choice.finish_reason
            delta = choice.delta
            if delta.content:
                self._tokens.append(delta.content)
            if delta.refusal:
                self._choice["refusal"] = self._choice.get("refusal", "") + delta.refusal
            for call in delta.tool_calls or ():
                self._add_call(call)

    def _add_call(self, delta: "ChoiceDeltaToolCall") -> None:
        call = self._calls.setdefault(delta.index, {"id": "", "name": "", "arguments": ""})
        call["id"] = delta.id or call["id"]
        if delta.function is not None:
            call["name"] += delta.function.name or ""
            call["arguments"] += delta.function.arguments or ""

    def finish(self) -> None:
        self._tokens.metadata_so_far["choices"] = [self._choice]
        self._tokens.metadata_so_far["tool_calls"] = [
            ToolCall(**call) for call in self._calls.values()
        ]
