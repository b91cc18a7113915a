"""Errors."""

from selfeng.runtime.errors import (
    AppenderClosedError,
    AppenderNotOpenError,
    FunctionNotProvidedError,
    NoActiveContextError,
    PromisingContextError,
    PromisingError,
    WrongActiveContextError,
)

__all__ = [
    "AppenderClosedError",
    "AppenderNotOpenError",
    "FunctionNotProvidedError",
    "NoActiveContextError",
    "PromisingContextError",
    "PromisingError",
    "WrongActiveContextError",
]
