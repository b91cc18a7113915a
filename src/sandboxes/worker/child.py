"""A process that runs foreign code, with its control channel to the judge and the pipe that its output comes through."""

import contextlib
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from . import confinement
from .frames import Channel, FrameReader, Message

_LARGEST = 4 * 1024 * 1024
"""Bytes of the largest message that a child may send to the judge."""

_SETTLE = 100
"""Looks, 5 ms apart, for the end of a process that has closed its channel."""


@dataclass
class Child:
    pid: int
    control: socket.socket
    output: int
    """File descriptor to read."""
    reader: FrameReader = field(default_factory=lambda: FrameReader(_LARGEST))
    status: int | None = None
    """As `os.waitpid` gives it, once the process has ended."""

    def send(self, message: Message) -> None:
        """Nothing happens if the process is gone; its closed channel tells."""
        with contextlib.suppress(OSError):
            Channel(self.control).send(message)

    def await_ready(self) -> None:
        """Wait until the process has loaded what it needs; nothing foreign runs before that."""
        if Channel(self.control).receive() is None:
            raise RuntimeError(f"a process of the sandbox ended before its job: status {self.status}")

    def ended(self) -> bool:
        if self.status is None:
            self.status = self._look()
        return self.status is not None

    def _look(self) -> int | None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return status if pid else None

    def settle(self) -> None:
        """Wait for the end of a process whose channel has closed; end it if it lives on."""
        for _ in range(_SETTLE):
            if self.ended():
                return
            time.sleep(0.005)
        self.kill()

    def kill(self) -> None:
        if not self.ended():
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        self.control.close()
        os.close(self.output)

    def reason(self) -> str:
        """How the process ended, as the end of a sentence that begins with its name."""
        if self.status is None:
            return "cut itself off from the judge"
        if os.WIFSIGNALED(self.status):
            return f"was ended by {signal.Signals(os.WTERMSIG(self.status)).name}"
        return f"ended itself with exit code {os.waitstatus_to_exitcode(self.status)}"


def fork(main: Callable[[Channel], None], close: Sequence[socket.socket | int], oom_score: int) -> Child:
    """Start a process that runs `main` and then ends; `close` is what it must not inherit."""
    here, there = socket.socketpair()
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        there.close()
        os.close(write)
        os.set_blocking(read, False)
        return Child(pid, here, read)
    become(main, there, write, (*close, here, read), oom_score)


def become(main: Callable[[Channel], None], control: socket.socket, output: int, close: Sequence[socket.socket | int], oom_score: int) -> NoReturn:
    """Run `main` in this process, which was just forked, and end it."""
    code = 70
    try:
        for inherited in close:
            inherited.close() if isinstance(inherited, socket.socket) else os.close(inherited)
        _redirect(output)
        confinement.die_first(oom_score)
        main(Channel(control))
        code = 0
    except BaseException:  # noqa: BLE001 - the child must never return into the code that forked it
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _redirect(write: int) -> None:
    """Output into the pipe, input from nowhere; the judge's own streams are out of reach from here on."""
    nowhere = os.open("/dev/null", os.O_RDONLY)
    for source, target in ((nowhere, 0), (write, 1), (write, 2)):
        os.dup2(source, target)
    os.close(nowhere)
    os.close(write)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)  # type: ignore[union-attr]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
