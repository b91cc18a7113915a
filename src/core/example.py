"""Example requests: what people have asked, kept to find a tool by. Everybody who may open the page sees them."""

from src.core.secrets import without_secrets

_LONGEST = 500
"""Characters; beyond, a request is data more than words."""


def may_be_example(request: str) -> bool:
    """Whether a request is short, and nothing in it has the form of a credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request
