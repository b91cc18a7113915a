"""A zygote: a process that has loaded what it needs, and turns into the process of a job or forks one, over and over.

It never hears of any job, so what it hands down holds nothing of an earlier one. The judge asks it by short packets, with the file
descriptors of the new process's channels along; the answers are packets of JSON.
"""

import contextlib
import json
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from . import confinement, seccomp
from .child import Child, end, redirect
from .frames import Channel, Message
from .workspace import FOLDER

_TMP = Path("/tmp")  # noqa: S108 - the container's own
_SHARED = tuple(Path("/proc/sysvipc", name) for name in ("shm", "msg", "sem"))
_LOAD = 20.0
"""Seconds until a zygote must have loaded what it needs."""
_PATIENCE = 3.0
"""Seconds until it must have answered."""
_ROUNDS = 400
"""How often processes are looked for that must be gone, a millisecond apart."""

Channels = tuple[Channel, Channel | None]
"""To the judge, and between the tool's and the tests' processes."""


class Zygote:
    """The judge's end."""

    def __init__(self, main: Callable[["Nursery"], None], oom_score: int, *close: "Zygote") -> None:
        """`main` is what the process does, and calls `wait` when it is ready; `close` are the zygotes that it must not reach."""
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for inherited in (self._socket, *(zygote._socket for zygote in close)):
                    inherited.close()
                _let_go()
                nursery = Nursery(there, oom_score)  # kept to the end, with its sockets: Python complains of forgotten ones
                main(nursery)
            except BaseException:  # noqa: BLE001 - it must never return into the judge's code
                traceback.print_exc()
                end(70)
            end(0)
        there.close()

    def await_ready(self) -> None:
        """Wait until everything is loaded.

        Raises:
            OSError, ValueError: it has ended instead.
        """
        self._socket.settimeout(_LOAD)
        self._answer()
        self._socket.settimeout(_PATIENCE)

    def become(self, calls: socket.socket | None) -> Child:
        """Turn the zygote itself into the process of the job."""
        return self._start(b"become", calls, Child)

    def fork(self, calls: socket.socket | None) -> Child:
        """A new process for a job.

        Raises:
            OSError, ValueError: the zygote is gone, or held up.
        """
        return self._start(b"fork", calls, lambda pid, control, output: _Grandchild(pid, control, output, zygote=self))

    def look(self) -> int | None:
        """How the process that was forked last has ended; None if it lives, or nobody can tell any more."""
        try:
            self._socket.send(b"look")
            status = self._answer()["status"]
        except (OSError, ValueError):
            return None
        return None if status is None else int(status)

    def stop(self) -> bool:
        """End all processes but process 1 and the zygote; whether none is left."""
        try:
            self._socket.send(b"stop")
            return bool(self._answer()["stopped"])
        except (OSError, ValueError):
            return False

    def clean(self) -> bool:
        """End all processes but process 1 and the zygote, and empty /tmp; whether nothing of the job is left."""
        try:
            self._socket.send(b"clean")
            return bool(self._answer()["clean"])
        except (OSError, ValueError):
            return False

    def _start(self, request: bytes, calls: socket.socket | None, child: Callable[[int, socket.socket, int], Child]) -> Child:
        here, there = socket.socketpair()
        read, write = os.pipe()
        os.set_blocking(read, False)
        try:
            socket.send_fds(self._socket, [request], [there.fileno(), write, *([calls.fileno()] if calls else [])])
            return child(int(self._answer()["pid"]), here, read)
        finally:
            there.close()
            os.close(write)

    def _answer(self) -> Message:
        answer: Message = json.loads(self._socket.recv(256))
        return answer


class _Grandchild(Child):
    """A process whose parent is a zygote."""

    def __init__(self, pid: int, control: socket.socket, output: int, zygote: Zygote) -> None:
        super().__init__(pid, control, output)
        self._zygote = zygote

    def _look(self) -> int | None:
        return self._zygote.look()


class Nursery:
    """The zygote's own end."""

    def __init__(self, sock: socket.socket, oom_score: int) -> None:
        self._socket = sock
        self._oom_score = oom_score
        self._fence = seccomp.Fence()
        self._channels: Channels | None = None
        self._pid = 0
        self._status: int | None = None

    def wait(self) -> Channels:
        """Serve the judge; returns in each process that is to do a job."""
        confinement.adopt_orphans(True)
        condition = confinement.condition()
        _wiped()  # so that the first job finds /tmp as all later ones do
        self._socket.send(b"{}")
        while True:
            packet, fds, _, _ = socket.recv_fds(self._socket, 256, 3)
            match packet:
                case b"become":
                    confinement.adopt_orphans(False)
                    self._reply({"pid": os.getpid()})
                    return self._enter(fds)
                case b"fork":
                    self._status, self._pid = None, os.fork()
                    if self._pid == 0:
                        return self._enter(fds)
                    for number in fds:
                        os.close(number)
                    self._reply({"pid": self._pid})
                case b"look":
                    self._reply({"status": self._look()})
                case b"stop":
                    self._reply({"stopped": _alone()})
                case b"clean":
                    clean = _alone() and _wiped() and _unshared()
                    self._reply({"clean": clean and confinement.condition() == condition})
                case _:
                    end(0)

    def _enter(self, fds: list[int]) -> Channels:
        """Leave the zygote's life behind: this process's channels are those that came along."""
        self._socket.close()
        os.chdir(FOLDER)
        redirect(fds[1])
        confinement.die_first(self._oom_score)
        self._fence.close()
        control, *calls = (Channel(socket.socket(fileno=number)) for number in (fds[0], *fds[2:]))
        self._channels = control, calls[0] if calls else None
        return self._channels

    def _look(self) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status

    def _reply(self, message: Message) -> None:
        self._socket.send(json.dumps(message).encode())


def _let_go() -> None:
    """Leave input and output to the judge."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _alone() -> bool:
    """End every process but process 1 and this one; whether no descendant of this one is left, which is then certain to stay so.

    One signal reaches all at once, so that no process can fork its way out.
    """
    for _ in range(_ROUNDS):
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.0005)
    return False


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
        return not os.listdir(_TMP) and not _attributes(_TMP) and _TMP.stat().st_mode & 0o7777 == 0o700
    except (OSError, RecursionError):
        return False


def _attributes(path: Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []  # the file system has none


def _unshared() -> bool:
    """Whether no System V object is left, which would outlive its process."""
    return all(len(path.read_text().splitlines()) <= 1 for path in _SHARED if path.exists())
