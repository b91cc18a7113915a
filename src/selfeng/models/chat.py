"""A chat with a model: the request and the reply, apart from the SDK's types."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfeng.core.prompt import Prompt
from selfeng.core.value import Value
from selfeng.prompts.agent_thread import is_result, read_call

Message = Mapping[str, Any]
"""As on the wire: {"role": ..., "content": ...}."""


class ChatRequest(Value):
    """One request to `chat.completions`."""

    messages: tuple[Message, ...]
    options: Mapping[str, Any] = {}
    """Additional fields of the request: `tools`, `tool_choice`, `response_format`."""
    prompt: str = ""
    """Name of the prompt that the messages come from."""
    streamed: bool = False
    """Whether a whole reply is gathered from a stream, where the server can do that."""


class ModelCall(Value):
    """A function call as the model wrote it."""

    id: str
    name: str
    arguments: Any
    """Usually JSON text; some servers send the object itself, some send nothing."""


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
    return tuple({"role": m.role, "content": m.content} for m in prompt.messages)


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
    return (*before, {**last, "content": f"{last['content']}\n\n{words}"})
