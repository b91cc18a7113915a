"""The zygote of an executor: it has loaded what a tool's process needs, forks one for each call, and cleans up after it.

It never hears of any job, so what it hands down holds nothing of an earlier call. The judge asks it by one-word packets; the
answers are packets of JSON.
"""

import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from . import child, confinement
from .frames import Channel, Message

_TMP = Path("/tmp")  # noqa: S108 - the container's own
_SHARED = tuple(Path("/proc/sysvipc", name) for name in ("shm", "msg", "sem"))
_PATIENCE = 3.0
"""Seconds until the zygote must have answered."""


class Zygote:
    """The judge's end."""

    def __init__(self, run: Callable[[Channel], None]) -> None:
        """`run` is what each forked process does."""
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            _serve(there, run, self._socket)
        there.close()
        self._socket.settimeout(_PATIENCE)

    def fork(self) -> "CallChild":
        """A process for the next call.

        Raises:
            OSError, ValueError: the zygote is gone, or held up.
        """
        here, there = socket.socketpair()
        read, write = os.pipe()
        socket.send_fds(self._socket, [b"fork"], [there.fileno(), write])
        there.close()
        os.close(write)
        os.set_blocking(read, False)
        return CallChild(int(self._answer()["pid"]), here, read, zygote=self)

    def look(self) -> int | None:
        """How the process of this call ended; None if it lives, or nobody can tell any more."""
        try:
            self._socket.send(b"look")
            status = self._answer()["status"]
        except (OSError, ValueError):
            return None
        return None if status is None else int(status)

    def clean(self) -> bool:
        """End all processes but the judge's and the zygote's and empty /tmp; whether nothing of the call is left."""
        try:
            self._socket.send(b"clean")
            return bool(self._answer()["clean"])
        except (OSError, ValueError):
            return False

    def _answer(self) -> Message:
        answer: Message = json.loads(self._socket.recv(256))
        return answer


class CallChild(child.Child):
    """A process whose parent is the zygote."""

    def __init__(self, pid: int, control: socket.socket, output: int, zygote: Zygote) -> None:
        super().__init__(pid, control, output)
        self._zygote = zygote

    def _look(self) -> int | None:
        return self._zygote.look()


def _serve(sock: socket.socket, run: Callable[[Channel], None], judges: socket.socket) -> NoReturn:
    try:
        judges.close()
        _let_go()
        confinement.adopt_orphans()
        _Nursery(sock, run).serve()
    finally:
        os._exit(0)


def _let_go() -> None:
    """Leave the streams to the judge."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.close(nowhere)


class _Nursery:
    """The zygote's own side: one process at a time."""

    def __init__(self, sock: socket.socket, run: Callable[[Channel], None]) -> None:
        self._socket = sock
        self._run = run
        self._pid = 0
        self._status: int | None = None
        self._condition = confinement.condition()

    def serve(self) -> None:
        while True:
            request, fds, _, _ = socket.recv_fds(self._socket, 64, 2)
            match request:
                case b"fork":
                    answer = self._fork(socket.socket(fileno=fds[0]), fds[1])
                case b"look":
                    answer = self._look()
                case b"clean":
                    answer = self._clean()
                case _:
                    return
            self._socket.send(json.dumps(answer).encode())

    def _fork(self, control: socket.socket, output: int) -> Message:
        self._status = None
        self._pid = os.fork()
        if self._pid == 0:
            child.become(self._run, control, output, (self._socket,), oom_score=1000)
        control.close()
        os.close(output)
        return {"pid": self._pid}

    def _look(self) -> Message:
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None
        return {"status": self._status}

    def _clean(self) -> Message:
        try:
            # One signal for all at once, so that no process can fork its way out, and whoever is left is this one's child by now.
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            return {"clean": _wiped() and _unshared() and confinement.condition() == self._condition}


def _wiped() -> bool:
    """Empty /tmp and reset what its inode can tell; whether that worked."""
    try:
        for folder, folders, files in os.walk(_TMP, topdown=False):
            for name in files:
                os.unlink(os.path.join(folder, name))
            for name in folders:
                path = os.path.join(folder, name)
                os.unlink(path) if os.path.islink(path) else os.rmdir(path)
        os.utime(_TMP, (0, 0))
        mode = _TMP.stat().st_mode & 0o7777
        return not os.listdir(_TMP) and not os.listxattr(_TMP) and mode == 0o700
    except (OSError, RecursionError):
        return False


def _unshared() -> bool:
    """Whether no System V object is left, which would outlive its process."""
    return all(len(path.read_text().splitlines()) <= 1 for path in _SHARED if path.exists())
