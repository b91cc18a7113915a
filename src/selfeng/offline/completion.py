"""What the offline server asks its author for: one chat completion, told apart from HTTP and its wire format."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict


class ChatRequest(BaseModel):
    """The part of a `chat.completions` request that an author looks at."""

    model_config = ConfigDict(frozen=True)

    model: str
    messages: Sequence[Mapping[str, Any]]
    """As on the wire: {"role": ..., "content": ...}."""
    tools: Sequence[Mapping[str, Any]] = ()
    """As on the wire: {"type": "function", "function": {"name", "description", "parameters"}}."""
    response_format: Mapping[str, Any] | None = None
    stream: bool = False


class Completion(BaseModel):
    """The reply: text, or one function call."""

    model_config = ConfigDict(frozen=True)

    content: str = ""
    function: str | None = None
    arguments: Mapping[str, Any] | None = None
    finish_reason: str = "stop"


class Author(Protocol):
    """Writes the replies of an offline server: the cookbook, or a script in tests."""

    def complete(self, request: ChatRequest) -> Completion: ...
