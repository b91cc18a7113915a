"""Requests that a tool is found by: its examples, which everyone sees, and the words of people,
each shown only to the person who wrote them.
"""

from collections.abc import Sequence

from selfeng.core.secrets import without_secrets

_LONGEST = 500
"""Characters; a longer request is more data than words."""
_WRITTEN = 5
"""The most examples a tool has."""


def may_be_kept(request: str) -> bool:
    """Whether a request is short and contains nothing that looks like a credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request


def own_examples(request: str, written: Sequence[str]) -> tuple[str, ...]:
    """The examples that the model wrote for a new tool, except those that repeat the person's own
    request.
    """
    return tuple(r for r in written if _plain(r) != _plain(request))[:_WRITTEN]


def _plain(request: str) -> str:
    return " ".join(request.split()).casefold()
