"""The offline server's request to its author: one chat completion, apart from HTTP and the wire
format.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

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
    """The whole request, including the fields above."""
    prompt: str = ""
    """Name of the prompt, which our client sends in a header; "" from other clients."""


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


class WireCall(BaseModel):
    """A function call exactly as it goes over the wire."""

    model_config = ConfigDict(frozen=True)

    name: str
    arguments: Any
    """Well-behaved servers send JSON text."""


class Flawed(Completion):
    """A completion with flaws of real servers and models; every default is good behaviour."""

    finish_reason: str = "stop"
    """"" sends none."""
    refusal: str = ""
    """The model declines, in the field for refusals."""
    calls: tuple[WireCall, ...] = ()
    """Instead of `function` and `arguments`: several calls, or broken ones."""
    usage: bool = True
    """Whether usage is reported."""
    role: bool = True
    """Streamed: whether a first chunk names the role."""
    empty_chunk: bool = False
    """Streamed: begin with a chunk without choices, as Azure does."""
    stop_after: int | None = None
    """After this many chunks, or in the middle of a whole reply, do what `then` says."""
    then: Literal["drop", "hang", "error"] = "drop"
    """drop: break the connection; hang: send nothing more; error: send an error event."""
    served_as: str | None = None
    """Send `content` itself as the whole body, with this content type."""
