"""Values that represent what no other value can."""

from enum import Enum


class Sentinel(Enum):
    """A closed set of markers; none of them is true or false."""

    NO_VALUE = "NO_VALUE"
    """No value was given, where None would be one."""
    DEFAULT = "DEFAULT"
    """The context decides."""
    AWAIT = "AWAIT"
    """In a chain of agents: wait until everything before this has come."""
    CLEAR = "CLEAR"
    """In a chain of agents: drop the messages."""

    def __bool__(self) -> bool:
        raise RuntimeError(f"{self.name} is neither true nor false; compare it with `is`.")


NO_VALUE = Sentinel.NO_VALUE
DEFAULT = Sentinel.DEFAULT
AWAIT = Sentinel.AWAIT
CLEAR = Sentinel.CLEAR

Choice = bool | Sentinel | None
"""A switch; DEFAULT, NO_VALUE or None leave it to the context."""


def resolve_choice(default: bool, choice: Choice, other_name: Choice = DEFAULT) -> bool:
    """The choice, under either name, or the default."""
    if choice is True or choice is False:
        return choice
    if other_name is True or other_name is False:
        return other_name
    return default
