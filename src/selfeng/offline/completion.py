"""What the offline server asks its author for: one chat completion, told apart from HTTP and its
wire format.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict


class CompletionRequest(BaseModel):
    """A `chat.completions` request."""

    model_config = ConfigDict(frozen=True)

    model: str
    messages: Sequence[Mapping[str, Any]]
    """As on the wire: {"role": ..., "content": ...}."""
    tools: Sequence[Mapping[str, Any]] = ()
    """As on the wire: {"type": "function", "function": {"name", "description", "parameters"}}."""
    response_format: Mapping[str, Any] | None = None
    stream: bool = False
    body: Mapping[str, Any] = {}
    """All that was sent, the fields above among it."""
    prompt: str = ""
    """Name of the prompt, which our client says in a header; "" from other clients."""


class Completion(BaseModel):
    """The reply: text, or one function call."""

    model_config = ConfigDict(frozen=True)

    content: str = ""
    function: str | None = None
    arguments: Mapping[str, Any] | None = None
    finish_reason: str = "stop"


class Author(Protocol):
    """Writes the replies of an offline server: the cookbook, or a script in tests."""

    def complete(self, request: CompletionRequest) -> Completion: ...
