"""The state of the engine's parts, for people."""

from src.core.files import FileLimits
from src.core.value import Value
from src.core.verdict import SandboxStatus


class ModelStatus(Value):
    name: str
    offline: bool
    """Whether the built-in offline model serves."""
    detail: str


class LibraryStatus(Value):
    tools: int
    detail: str


class EngineStatus(Value):
    model: ModelStatus
    sandbox: SandboxStatus
    library: LibraryStatus
    files: FileLimits = FileLimits()
    """How much may come with a request."""


class Asked(Value):
    """A request that has become a turn."""

    conversation_id: str
    turn_id: str
