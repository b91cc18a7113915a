"""The module that tests import in place of the tool: every name in it is fetched from the tool's
process.

The names are read from the tool's source on the host, so that the tool can't choose what a suite
binds. Requests and replies alternate on one socket. Request: `{"op": get|call|attribute|next,
...}`; reply: `{"value"}` or `{"error"}`, with `args` if the call changed its arguments, and `out`
if it printed.
"""

import builtins
import contextlib
import os
import sys
import threading
import unittest
from collections.abc import Collection
from types import ModuleType
from typing import Any, Literal

import pytest

from . import codec
from .frames import BrokenStream, Channel, Message
from .remote_objects import Lent, RemoteObjects


class ToolGone(BaseException):
    """The tool's process has ended, or sends invalid replies. No `except Exception` of a test can
    swallow it.
    """


Returned = Literal["nan", "empty", "other"]
_STOPS = (StopIteration, StopAsyncIteration, GeneratorExit)


class ToolStopped(Exception):
    """Stands for the tool's StopIteration, which would silently end the caller's loop."""


class ToolLink:
    """Sends requests to the tool's process, one at a time."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.RLock()
        self.gone = False
        """Whether the tool's process is known to have ended."""
        self.objects = RemoteObjects(self)
        self.doubts: list[str] = []
        """Why the running test must not pass."""
        self.returned: set[Returned] = set()
        """What the tool returned in the running test."""

    def begin(self) -> None:
        """Start a test."""
        self.doubts, self.returned = [], set()

    def doubt(self, reason: str) -> None:
        self.doubts.append(reason)

    def leave(self) -> None:
        """Tell the tool's process that the tests will send no more requests."""
        with contextlib.suppress(OSError):
            self._channel.send({"op": "leave"})

    def get(self, name: str) -> Any:
        return self._ask({"op": "get", "name": name})

    def attribute(self, handle: int, name: str) -> Any:
        return self._ask({"op": "attribute", "handle": handle, "name": name})

    def next(self, handle: int) -> Any:
        return self._ask({"op": "next", "handle": handle})

    def call(self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        __tracebackhide__ = True
        given = [*args, *kwargs.values()]
        try:
            encoded = [self.objects.encode(value) for value in given]
        except codec.NotPlain as problem:
            raise TypeError(str(problem)) from None
        message = {
            "op": "call",
            "handle": handle,
            "folder": _folder(),
            "args": encoded[: len(args)],
            "kwargs": dict(zip(kwargs, encoded[len(args) :], strict=True)),
        }
        return self._ask(message, given)

    def _ask(self, message: Message, given: list[Any] | None = None) -> Any:
        __tracebackhide__ = True
        try:
            with self._lock:
                self._channel.send(message)
                reply = self._channel.receive()
            if reply is None:
                self.gone = True
                raise ToolGone("the tool's process has ended")
            changed = (
                [self.objects.decode(a) for a in reply["args"]]
                if given and reply.get("args") is not None
                else []
            )
            if given and changed:
                codec.write_back(given, changed)
            error = self.objects.decode(reply["error"]) if "error" in reply else None
            value = None if error is not None else self.objects.decode(reply["value"])
        except (OSError, BrokenStream, codec.NotPlain, KeyError, TypeError, ValueError) as broken:
            self.gone = isinstance(broken, OSError)
            raise ToolGone(f"the tool's process sent no orderly answer: {broken}") from None
        _print(reply.get("out"))
        if isinstance(error, _STOPS) and not (
            message["op"] == "next" and isinstance(error, StopIteration)
        ):
            raise ToolStopped(
                f"the tool raised {type(error).__name__}, which ends the loop that calls it; "
                "raise another exception"
            )
        if isinstance(error, BaseException):
            raise error
        self._note(value, changed)
        return value

    def _note(self, *values: Any) -> None:
        self.returned.add("empty" if codec.is_empty(values[0]) else "other")
        if any(map(codec.holds_nan, values)):
            self.returned.add("nan")


def _folder() -> str | None:
    """The current folder, which a call of the tool uses too."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _print(out: Any) -> None:
    """Print here what the tool printed during the call where something captures it, as `capsys`
    does; it has passed on everything itself.
    """
    if isinstance(out, list) and len(out) == 2:
        for stream, text in zip((sys.stdout, sys.stderr), out, strict=True):
            if isinstance(text, str) and text and stream not in (sys.__stdout__, sys.__stderr__):
                stream.write(text)


_TAKEN = {*dir(builtins), *unittest.__all__, *filter(str.islower, pytest.__all__)}


class ProxyModule(ModuleType):
    """Stands for the tool's module."""

    def __init__(
        self,
        name: str,
        link: ToolLink,
        names: Collection[str],
        public: Collection[str],
        written: Collection[str] = (),
    ) -> None:
        """`names` are all names of the tool; `public` those that `import *` binds, except those
        that Python and pytest have.

        `written` are the names in the suite's source: if one is a class, the suite expects objects
        of it.
        """
        super().__init__(name)
        self.__file__ = f"{name}.py"
        self.__dict__["__all__"] = [n for n in public if n == name or n not in _TAKEN]
        self.__dict__.update(
            _link=link, _names=frozenset(names), _written=frozenset(written) - {name}
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self.__dict__["_names"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self.__dict__["_link"].get(name)
        if (
            name in self.__dict__["_written"]
            and isinstance(value, type)
            and issubclass(value, Lent)
        ):
            value.asked_for = True
        self.__dict__[name] = value
        return value
