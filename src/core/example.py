"""Example requests: what people have asked, kept to find a tool by. Everybody who may open the page sees them."""

from collections.abc import Sequence

from src.core.secrets import without_secrets

_LONGEST = 500
"""Characters; beyond, a request is data more than words."""
_FIRST = 6
"""Requests that a new tool is found by, at the most."""


def may_be_example(request: str) -> bool:
    """Whether a request is short, and nothing in it has the form of a credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request


def first_examples(request: str, written: Sequence[str]) -> tuple[str, ...]:
    """Of a new tool: the request that it was built for, if that may be one, and those that the model has `written`."""
    asked = [request] if may_be_example(request) else []
    return (*asked, *(r for r in written if r != request))[:_FIRST]
