"""What servers send, which the SDK does not validate: calls, text and thoughts of a message."""

from collections.abc import Mapping
from typing import Any

from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from selfeng.llm.chat import ModelCall

_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers send what the model thinks aloud."""


def calls_of(message: ChatCompletionMessage) -> tuple[ModelCall, ...]:
    """The calls of functions in a message."""
    calls = [call for call in message.tool_calls or () if getattr(call, "function", None)]
    return tuple(
        ModelCall(
            id=call.id or f"call_{number}",
            name=call.function.name or "",  # type: ignore[union-attr]
            arguments=call.function.arguments,  # type: ignore[union-attr]
        )
        for number, call in enumerate(calls)
    )


def text_of(content: Any) -> str:
    """The text of a `content`, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def thoughts_of(message: ChatCompletionMessage | ChoiceDelta | None) -> str:
    """What the model thinks aloud, where the server sends it in a field of its own."""
    fields = (message.model_extra or {}) if message else {}
    return next(filter(None, (text_of(fields.get(name)) for name in _FIELDS)), "")
