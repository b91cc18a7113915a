"""What servers send, which the SDK does not validate: calls, text and thoughts of a message."""

import json
from collections.abc import Mapping
from typing import Any

from openai.types.chat import ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from selfeng.models.chat import ModelCall

_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Where servers send what the model thinks aloud."""

_LENGTHS = (
    "max_model_len",
    "loaded_context_length",
    "n_ctx",
    "num_ctx",
    "context_length",
    "context_window",
    "max_context_length",
    "n_ctx_train",
)
"""How servers name the context length of a model, the one in use before the largest possible."""


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


class StreamedCalls:
    """The calls of functions in a stream, whose arguments come in pieces."""

    def __init__(self) -> None:
        self._parts: dict[int, tuple[str, str, str]] = {}
        self.cut_off = False
        """Whether the length limit ended the reply."""
        self.thoughts = ""
        """What the model thought aloud."""

    def take(self, delta: ChoiceDelta) -> str:
        """Take what a chunk holds of them; returns it as text. A piece without an index, as some
        servers send it, begins a call if it has an id.
        """
        added_text = ""
        for piece in delta.tool_calls or ():
            last = len(self._parts) - (0 if piece.id or not self._parts else 1)
            index = piece.index if isinstance(piece.index, int) else last
            id, name, arguments = self._parts.get(index, ("", "", ""))
            name_piece = (piece.function and piece.function.name) or ""
            more: Any = (piece.function and piece.function.arguments) or ""
            arguments_piece = more if isinstance(more, str) else json.dumps(more)
            self._parts[index] = (
                id or piece.id or "",
                name or name_piece,
                arguments + arguments_piece,
            )
            added_text += name_piece + arguments_piece
        return added_text

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        parts = [self._parts[index] for index in sorted(self._parts)]
        return tuple(
            ModelCall(id=id or f"call_{number}", name=name, arguments=arguments)
            for number, (id, name, arguments) in enumerate(parts)
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


def context_length_in(fields: Any) -> int | None:
    """The context length, in tokens, among what a server tells of a model, at any depth."""
    if not isinstance(fields, Mapping):
        return None
    candidates = (
        *(fields.get(name) for name in _LENGTHS),
        *map(context_length_in, fields.values()),
    )
    return next((length for length in candidates if isinstance(length, int) and length > 0), None)
