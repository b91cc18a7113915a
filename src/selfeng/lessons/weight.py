"""The weight of a lesson, 0..1: what it gains when it helps, what it loses when it does not, and when it expires."""

START = 0.5
LIMIT = 0.2
"""Below it a lesson expires: after the third failure without any help."""
_GAIN, _LOSS = 0.2, 0.3
"""Shares of the way to 1 and to 0. A failure counts more: a lesson that misleads costs repairs, one that is missing costs nothing new."""


def gained(weight: float) -> float:
    """After it helped, or was learnt again from another turn."""
    return weight + _GAIN * (1 - weight)


def lost(weight: float) -> float:
    """After the step that it was shown to failed."""
    return weight * (1 - _LOSS)
