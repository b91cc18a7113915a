"""The owner of what runs now: the person whose turn it is a part of. Tasks inherit it from the task
that starts them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_owner: ContextVar[str] = ContextVar("owner", default="")


def current_owner() -> str:
    """Empty where the program works for nobody in particular."""
    return _owner.get()


@contextmanager
def owned_by(owner: str) -> Iterator[None]:
    """Inside, what is begun belongs to `owner`."""
    before = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(before)
