"""The owner of what is running: the person whose turn it belongs to. Tasks inherit it from the task
that starts them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOCAL = "terminal"
"""The owner of what the command line and programs of this machine begin."""

_owner: ContextVar[str] = ContextVar("owner", default="")


def current_owner() -> str:
    """Empty if the program works for no particular person."""
    return _owner.get()


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Make `owner` the owner of all work that starts inside."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)
