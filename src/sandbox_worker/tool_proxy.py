"""The module that tests import in place of the tool: every name in it is fetched from the tool's
process.

The names are read from the tool's source on the host, so that the tool can't choose what a suite
binds. Requests and replies alternate on one socket. Request: `{"op": get|call|attribute|next,
...}`; reply: `{"value"}`, `{"error"}` or `{"refused"}`, with `args` if the call changed its
arguments, `owner` after the call of a method, and `out` if it printed. A recording can replace the
tool's process, see `replay`.
"""

import builtins
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any, NoReturn

import pytest

from . import codec
from .frames import BrokenStream, Channel, Message
from .remote_objects import RemoteObjects


class ToolGone(BaseException):
    """The tool's process has ended, or sends invalid replies. No `except Exception` of a test can
    swallow it.
    """


class NotPassed(BaseException):
    """A value can't pass between the processes. It is not an exception of the tool's."""


_STOPS = {
    *(("builtins", name) for name in ("StopIteration", "StopAsyncIteration", "GeneratorExit")),
    ("asyncio.exceptions", "CancelledError"),
}
"""Modules and names of the exceptions that end the caller's loop or task. By name, as a process
that has not loaded asyncio starts in four fifths of the time.
"""


class ToolStopped(Exception):
    """Stands for an exception of the tool that would silently end the caller's loop or task."""


class ToolLink:
    """Sends requests to the tool's process, one at a time."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.RLock()
        self.is_gone = False
        """Whether the tool's process is known to have ended."""
        self.answer: Callable[[Message], Message | None] = self.ask
        """Answers a request; None if the tool's process has ended."""
        self.objects = RemoteObjects(self)
        self._folder = _folder()
        """The current folder of the tool's process, as far as it is known."""
        self.doubt = ""
        """Why the running test must not pass; "" if it may."""
        self.no_exchange = ""
        """Why the first request of the tool's that no recorded exchange answers is unanswered."""

    def ask(self, message: Message) -> Message | None:
        """Let the tool's process answer. Raises: OSError, BrokenStream."""
        self._channel.send(message)
        return self._channel.receive()

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

    def call(
        self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any], method: str = ""
    ) -> Any:
        __tracebackhide__ = True
        values = [*args, *kwargs.values()]
        try:
            encoded = [self.objects.encode(value) for value in values]
        except codec.NotPlain as problem:
            self._refuse(str(problem))
        folder = _folder()
        moved, self._folder = folder != self._folder, folder
        message = {
            "op": "call",
            "handle": handle,
            "folder": folder if moved else None,
            "args": encoded[: len(args)],
            "kwargs": dict(zip(kwargs, encoded[len(args) :], strict=True)),
            **({"method": method} if method else {}),
        }
        return self._ask(message, values)

    def _refuse(self, reason: str) -> NoReturn:
        self.doubt = self.doubt or reason
        raise NotPassed(reason)

    def _ask(self, message: Message, values: list[Any] | None = None) -> Any:
        __tracebackhide__ = True
        try:
            with self._lock:
                reply = self.answer(message)
            if reply is None:
                self.is_gone = True
                raise ToolGone("the tool's process has ended")
            decode = self.objects.decode
            if values and reply.get("args") is not None:
                codec.write_back(values, [decode(a) for a in reply["args"]])
            decode(reply.get("owner"))
            refused = reply.get("refused")
            error = decode(reply["error"]) if "error" in reply else None
            value = decode(reply["value"]) if error is None and refused is None else None
        except (OSError, BrokenStream, codec.NotPlain, KeyError, TypeError, ValueError) as broken:
            self.is_gone = isinstance(broken, OSError)
            raise ToolGone(f"the tool's process sent no orderly answer: {broken}") from None
        _print(reply.get("out"))
        if problem := reply.get("no_exchange"):
            self.doubt = self.doubt or str(problem)
            self.no_exchange = self.no_exchange or str(problem)
        if refused is not None:
            self._refuse(str(refused))
        if _stops(error) and not (message["op"] == "next" and isinstance(error, StopIteration)):
            raise ToolStopped(
                f"the tool raised {type(error).__name__}, which ends the loop or task that calls "
                "it; raise another exception"
            )
        if isinstance(error, BaseException):
            raise error
        return value


def _folder() -> str | None:
    """The current folder, which a call of the tool uses too."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _stops(error: object) -> bool:
    return any((kind.__module__, kind.__qualname__) in _STOPS for kind in type(error).__mro__)


def _print(out: Any) -> None:
    """Print here what the tool printed during the call where something captures it, as `capsys`
    does; it has passed on everything itself.
    """
    if isinstance(out, list) and len(out) == 2:
        for stream, text in zip((sys.stdout, sys.stderr), out, strict=True):
            if isinstance(text, str) and text and stream not in (sys.__stdout__, sys.__stderr__):
                stream.write(text)


class ProxyModule(ModuleType):
    """Stands for the tool's module."""

    def __init__(
        self,
        name: str,
        link: ToolLink,
        names: Collection[str],
        public: Collection[str],
    ) -> None:
        """`names` are all names of the tool; `public` those that `import *` binds, except those
        that Python, unittest and pytest have.
        """
        super().__init__(name)
        self.__file__ = f"{name}.py"
        self.__dict__.update(_link=link, _names=frozenset(names), _public=public)

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            import unittest  # few suites need it, and each process would load it

            theirs = {*dir(builtins), *unittest.__all__, *filter(str.islower, pytest.__all__)}
            return [n for n in self._public if n == self.__name__ or n not in theirs]
        if name.startswith("__") or name not in self.__dict__["_names"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self.__dict__[name] = self.__dict__["_link"].get(name)
        return value
