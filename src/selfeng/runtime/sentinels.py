"""Values that stand for something that no other value can say."""

from enum import Enum


class Sentinel(Enum):
    """A closed set of markers; none of them is true or false."""

    NO_VALUE = "NO_VALUE"
    """Nothing was given, where None would be a value."""
    DEFAULT = "DEFAULT"
    """What the context says."""
    AWAIT = "AWAIT"
    """In a chain of agents: wait until everything before this is there."""
    CLEAR = "CLEAR"
    """In a chain of agents: drop the messages."""

    def __bool__(self) -> bool:
        raise RuntimeError(f"{self.name} is neither true nor false; compare it with `is`.")


NO_VALUE = Sentinel.NO_VALUE
DEFAULT = Sentinel.DEFAULT
AWAIT = Sentinel.AWAIT
CLEAR = Sentinel.CLEAR

Choice = bool | Sentinel | None
"""A switch that may be left to the context, by DEFAULT, NO_VALUE or None."""


def chosen(default: bool, choice: Choice, other_name: Choice = DEFAULT) -> bool:
    """What was chosen, under whichever name, or the default."""
    if choice is True or choice is False:
        return choice
    if other_name is True or other_name is False:
        return other_name
    return default
