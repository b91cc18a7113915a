"""The actions that the tests' process refuses in any code: it runs no text or pickle as code, and
starts no process or connection.

A Python audit hook sees each of these however it is spelled, so no list of functions has to be
complete. A suite that triggers one has failed, whatever its tests make of the exception.
"""

import ast
import collections
import dataclasses
import inspect
import socket
import sys
import typing
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

_PROCESSES = (
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.kill",
    "os.killpg",
    "subprocess.Popen",
)
_CONNECTIONS = (
    "connect",
    "bind",
    "sendto",
    "sendmsg",
    "getaddrinfo",
    "gethostbyname",
    "gethostbyaddr",
    "getnameinfo",
    "__new__",
)
_DOES = {
    **dict.fromkeys(("exec", "compile", "code.__new__", "function.__new__"), "runs text as code"),
    **dict.fromkeys(
        ("pickle.find_class", "marshal.loads", "marshal.load"),
        "loads a pickle, or code that was stored",
    ),
    **dict.fromkeys((*_PROCESSES, "pty.spawn"), "starts or ends a process"),
    **dict.fromkeys((f"socket.{name}" for name in _CONNECTIONS), "opens a connection"),
    **dict.fromkeys(
        ("sqlite3.enable_load_extension", "sqlite3.load_extension", "import"), "loads a library"
    ),
}
"""The watched events, and what a suite does with each; those of `ctypes` are added below."""
_IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_GENERATING = (dataclasses.__file__, collections.__file__)
"""They build classes from source that they generate from checked names."""
_STANDARD = str(Path(socket.__file__).parent)
_READING = (f"{Path(inspect.getfile(pytest.Module)).parent}/", f"{Path(__file__).parent}/")
"""Beside the standard library: they parse source, and run none of it but the suite."""


class Tripped(BaseException):
    """Raised in place of what was refused."""


class Audit:
    def __init__(self, libraries: tuple[str, ...]) -> None:
        """`libraries` are the folders from which code may be imported; nothing that runs here can
        write to them.
        """
        self._libraries = libraries
        self._filename = ""
        self._code: CodeType | None = None
        self.test = ""
        """The running test."""
        self.problem = ""
        """The forbidden action of the suite and its remedy, in a sentence; "" if there was none
        yet.
        """

    def begin(self, filename: str, code: CodeType) -> None:
        """Watch a suite, whose own code is the only one that may run directly."""
        self._filename, self._code = filename, code
        self.test = self.problem = ""

    def install(self) -> None:
        """Install the hook for the life of the process: hooks can't be removed."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        does = _DOES.get(event) or (
            "reaches into memory with `ctypes`" if event.startswith("ctypes.") else ""
        )
        if does and not self._is_fine(event, args, sys._getframe(1)):
            where = f"in {self.test}" if self.test else "while it is loaded"
            self.problem = self.problem or (
                f"The suite {does}, {where} ({event}), so that what the tool returns or writes "
                "could run in the tests' process. "
                "Compare plain values, and read files as text."
            )
            raise Tripped(self.problem)

    def _is_fine(self, event: str, args: tuple[Any, ...], frame: FrameType) -> bool:
        caller = frame.f_code.co_filename
        match event:
            case "exec":
                code = args[0]
                return (
                    code is self._code
                    or caller in _GENERATING
                    or (caller in _IMPORTING and self._is_library(code.co_filename))
                )
            case "compile":
                return (
                    caller in (*_GENERATING, typing.__file__)
                    or self._may_parse(frame)
                    or self._is_imported(frame)
                )
            case "marshal.loads":
                return caller in _IMPORTING
            case "import":
                return args[1] is None or self._is_library(args[1])
            case "socket.__new__":
                caller = next((f for f in _stack(frame) if f != socket.__file__), "")
                asyncio = caller.startswith(f"{_STANDARD}/asyncio/")
                return asyncio or self._is_imported(frame)  # urllib3 tries out IPv6
            case "pickle.find_class":
                return False
        return self._is_imported(frame)

    def _may_parse(self, frame: FrameType) -> bool:
        """Whether source is parsed by code that does not run it: `ast.literal_eval`, the suite, the
        standard library.
        """
        parsing = frame.f_code.co_filename == ast.__file__ and frame.f_code.co_name == "parse"
        file = (
            frame.f_back.f_code.co_filename
            if parsing and frame.f_back
            else frame.f_code.co_filename
        )
        if file == self._filename:
            return parsing
        return file.startswith(_READING) or (parsing and file.rpartition("/")[0] == _STANDARD)

    def _is_imported(self, frame: FrameType) -> bool:
        """Whether a library does it while it is imported, which the suite can't control."""
        for file in _stack(frame):
            if file == self._filename:
                return False
            if file in _IMPORTING:
                return True
        return False

    def _is_library(self, file: str) -> bool:
        return file.startswith(("<frozen ", *self._libraries)) and ".." not in file


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _stack(frame: FrameType) -> Iterator[str]:
    return (f.f_code.co_filename for f in _frames(frame))
