"""Requests that a tool is found by: its examples, which everybody sees, and what people said, which
is shown to themselves alone.
"""

from collections.abc import Sequence

from selfeng.core.secrets import without_secrets

_LONGEST = 500
"""Characters; beyond, a request is data more than words."""
_WRITTEN = 5
"""Examples of a tool, at the most."""


def may_be_kept(request: str) -> bool:
    """Whether a request is short, and nothing in it has the form of a credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request


def own_examples(request: str, written: Sequence[str]) -> tuple[str, ...]:
    """Of the examples that the model has written for a new tool, those that are not the person's
    own request again.
    """
    return tuple(r for r in written if _plain(r) != _plain(request))[:_WRITTEN]


def _plain(request: str) -> str:
    return " ".join(request.split()).casefold()
