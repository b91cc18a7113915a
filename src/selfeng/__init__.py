"""The engine of the Self-Engineering Agent; it knows nothing of the web."""

import ast
import sys
from functools import wraps
from importlib import import_module
from threading import RLock
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

if sys.version_info < (3, 11, 8) or (3, 12) <= sys.version_info < (3, 12, 2):
    # Of two threads that parse at once, one may fail with SystemError: "AST constructor recursion
    # depth mismatch" (issue 106905 of CPython). So they take turns, `ast.literal_eval` among them.
    _parse, _turn = ast.parse, RLock()

    @wraps(_parse)
    def _parse_in_turn(*args: Any, **options: Any) -> Any:
        with _turn:
            return _parse(*args, **options)

    ast.parse = _parse_in_turn


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
