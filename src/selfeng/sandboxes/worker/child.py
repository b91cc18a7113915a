"""A process that runs foreign code, with its channel to the judge and its output pipe."""

import contextlib
import fcntl
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import NoReturn

from .frames import Channel, FrameReader, Message

_FIRST = 3
"""The file descriptor after the standard streams."""

_SETTLE = 100
"""Checks, 5 ms apart, for the end of a process that has closed its channel."""


@dataclass
class Child:
    pid: int
    control: socket.socket
    output: int
    """File descriptor to read."""
    reader: FrameReader = field(default_factory=FrameReader)
    status: int | None = None
    """As `os.waitpid` returns it, once the process has ended."""

    def send(self, message: Message) -> None:
        """Send a message; do nothing if the process is gone, which its closed channel shows."""
        with contextlib.suppress(OSError):
            Channel(self.control).send(message)

    def has_ended(self) -> bool:
        if self.status is None:
            self.status = self._look()
        return self.status is not None

    def _look(self) -> int | None:
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            return 0  # it was reaped with others; its status is no longer needed
        return status if pid else None

    def settle(self) -> None:
        """Wait for the end of a process whose channel has closed; kill it if it does not end."""
        for _ in range(_SETTLE):
            if self.has_ended():
                return
            time.sleep(0.005)
        self.kill()

    def kill(self) -> None:
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        self.control.close()
        os.close(self.output)

    def reason(self) -> str:
        """How the process ended, as the end of a sentence whose subject is the process."""
        if self.status is None:
            return "cut itself off from the judge"
        if os.WIFSIGNALED(self.status):
            return f"was ended by {signal.Signals(os.WTERMSIG(self.status)).name}"
        return f"ended itself with exit code {os.waitstatus_to_exitcode(self.status)}"


def end(code: int) -> NoReturn:
    """End this process without the clean-up that it inherited."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


def keep_only(*descriptors: int) -> range:
    """Close all descriptors but these and the standard streams; returns their new numbers, the same
    in every process.
    """
    targets = range(_FIRST, _FIRST + len(descriptors))
    moved = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, targets.stop) for number in descriptors]
    for number, target in zip(moved, targets, strict=True):
        os.dup2(number, target, inheritable=False)
    os.closerange(targets.stop, os.sysconf("SC_OPEN_MAX"))
    return targets


def redirect(write: int) -> None:
    """Send output to the pipe, and read input from /dev/null."""
    nowhere = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nowhere, 0), (write, 1), (write, 2)):
        os.dup2(source, target)
    os.close(nowhere)
    os.close(write)
    for stream in (sys.__stdout__, sys.__stderr__):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]
