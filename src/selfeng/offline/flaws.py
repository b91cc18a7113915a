"""The flaws of real servers and models, as replies that a script can give, so that the client is
tested against them.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from selfeng.offline.completion import Completion


class WireCall(BaseModel):
    """A function call exactly as it goes over the wire."""

    model_config = ConfigDict(frozen=True)

    name: str
    arguments: Any
    """Well-behaved servers send JSON text."""


class Flawed(Completion):
    """A completion with what can be wrong or unusual about it; every default is good behaviour."""

    finish_reason: str = "stop"
    """"" sends none."""
    refusal: str = ""
    """The model declines, in the field made for it."""
    calls: tuple[WireCall, ...] = ()
    """In place of `function` and `arguments`: several calls, or broken ones."""
    usage: bool = True
    """Whether used tokens are reported."""
    role: bool = True
    """Streamed: whether a first chunk names the role."""
    empty_chunk: bool = False
    """Streamed: begin with a chunk without choices, as Azure does."""
    stop_after: int | None = None
    """After that many chunks, or in the middle of a whole reply, do what `then` says."""
    then: Literal["drop", "hang", "error"] = "drop"
    """drop: break the connection; hang: send nothing more; error: send an error event."""
    served_as: str | None = None
    """Send `content` itself as the whole body, with this content type."""
