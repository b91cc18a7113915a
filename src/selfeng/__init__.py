"""The engine of the Self-Engineering Agent; it knows nothing of the web."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfeng.core.errors import AgentError as AgentError
    from selfeng.core.files import File as File
    from selfeng.python import Agent as Agent
    from selfeng.python import AsyncAgent as AsyncAgent
    from selfeng.python import Reply as Reply
    from selfeng.python import RequestFailed as RequestFailed
    from selfeng.python import ToolFailed as ToolFailed

_HOMES = {
    "Agent": "selfeng.python",
    "AgentError": "selfeng.core.errors",
    "AsyncAgent": "selfeng.python",
    "File": "selfeng.core.files",
    "Reply": "selfeng.python",
    "RequestFailed": "selfeng.python",
    "ToolFailed": "selfeng.python",
}
"""Where the names for programs are; they are imported at first use, as the engine takes a second.
"""
__all__ = sorted(_HOMES)  # noqa: PLE0605 - static tools read the imports above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
