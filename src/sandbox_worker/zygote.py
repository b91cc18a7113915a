"""A zygote: a process that has loaded what a job needs, and becomes the process of a job or forks
one after another.

It never sees a job, so its children inherit nothing of an earlier one. The judge sends it short
packets, together with the file descriptors of the new process's channels; the answers are packets
of JSON.
"""

import contextlib
import fcntl
import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from . import confinement, seccomp
from .frames import Channel, FrameReader, Message
from .job_folder import FOLDER

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


_TMP = Path("/tmp")  # noqa: S108 - the container's own
_SHARED = tuple(Path("/proc/sysvipc", name) for name in ("shm", "msg", "sem"))
_LOAD = 20.0
"""Seconds within which a zygote must have loaded what it needs."""
_PATIENCE = 3.0
"""Seconds within which it must answer."""
_ROUNDS = 400
"""How often to look for processes that must end, a millisecond apart."""

Channels = tuple[Channel, Channel]
"""To the judge, and between the tool's and the tests' processes. For a tool that is only called,
the other end of the second is unused.
"""


class Forked(BaseException):
    """Leads a new process out of the judge's frames: foreign code could read their variables."""

    def __init__(self, main: Callable[["ForkServer"], None], fork_server: "ForkServer") -> None:
        self.main = main
        self.fork_server = fork_server
        """Kept to the end, with its sockets: Python warns of sockets that were not closed."""


class Zygote:
    """The judge's end."""

    def __init__(
        self, main: Callable[["ForkServer"], None], oom_score: int, *close: "Zygote"
    ) -> None:
        """`main` runs in the process, and calls `wait` when it is ready; `close` are the zygotes
        that it must not reach.

        Raises:
            Forked: in the process itself.
        """
        self._socket, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            for inherited in (self._socket, *(zygote._socket for zygote in close)):
                inherited.close()
            _let_go()
            gc.disable()  # until everything is loaded, see `ForkServer.wait`
            raise Forked(main, ForkServer(there, oom_score))
        there.close()

    def await_ready(self) -> None:
        """Wait until everything is loaded.

        Raises:
            OSError, ValueError: it has ended instead.
        """
        self._socket.settimeout(_LOAD)
        self._answer()
        self._socket.settimeout(_PATIENCE)

    def become(self, calls: socket.socket) -> Child:
        """Turn the zygote itself into the process of the job."""
        return self._start(b"become", calls)

    def fork(self, calls: socket.socket) -> Child:
        """A new process for a job. Its parent is the judge, as if the zygote had become it, so that
        no job can see a difference.

        Raises:
            OSError, ValueError: the zygote is gone, or does not answer.
        """
        return self._start(b"fork", calls)

    def stop(self, *spared: "Zygote") -> bool:
        """End all processes but process 1, the zygote and those spared; whether none is left for
        good.
        """
        zygotes = {self.pid, *(zygote.pid for zygote in spared)}
        request = b"stop " + json.dumps([zygote.pid for zygote in spared]).encode()
        try:
            for _ in range(_ROUNDS):
                if self._ask(request)["alone"]:
                    return True
                if _reaped() & zygotes:
                    return False
                time.sleep(0.0005)
        except (OSError, ValueError):
            pass
        return False

    def clean(self, *spared: "Zygote") -> bool:
        """End all processes as `stop` does, and empty /tmp; whether nothing of the job is left."""
        try:
            return self.stop(*spared) and all(
                zygote._ask(b"clean")["clean"] for zygote in (self, *spared)
            )
        except (OSError, ValueError):
            return False

    def _start(self, request: bytes, calls: socket.socket) -> Child:
        here, there = socket.socketpair()
        read, write = os.pipe()
        os.set_blocking(read, False)
        try:
            socket.send_fds(self._socket, [request], [there.fileno(), write, calls.fileno()])
            return Child(int(self._answer()["pid"]), here, read)
        finally:
            there.close()
            os.close(write)

    def _ask(self, request: bytes) -> Message:
        self._socket.send(request)
        return self._answer()

    def _answer(self) -> Message:
        answer: Message = json.loads(self._socket.recv(256))
        return answer


class ForkServer:
    """The zygote's own end."""

    def __init__(self, sock: socket.socket, oom_score: int) -> None:
        self._socket = sock
        self._oom_score = oom_score
        self._fence = seccomp.Fence()
        self._channels: Channels | None = None

    def wait(self, bare: bool = False) -> Channels:
        """Serve the judge; returns in each process that is to do a job. `bare`: that process keeps
        only the descriptors that it is given.
        """
        gc.freeze()  # a collection would take longer than the garbage of loading is worth
        gc.enable()
        condition = confinement.condition()
        _wiped()  # so that the first job finds /tmp as all later ones do
        self._socket.send(b"{}")
        while True:
            packet, fds, _, _ = socket.recv_fds(self._socket, 256, 3)
            request, _, spared = packet.partition(b" ")
            match request:
                case b"become":
                    self._reply({"pid": os.getpid()})
                    return self._enter(fds, bare)
                case b"fork":
                    pid = _orphan()
                    if pid == 0:
                        return self._enter(fds, bare)
                    for number in fds:
                        os.close(number)
                    self._reply({"pid": pid})
                case b"stop":
                    self._reply({"alone": _alone(json.loads(spared))})
                case b"clean":
                    clean = _wiped() and _unshared()
                    self._reply({"clean": clean and confinement.condition() == condition})
                case _:
                    end(0)

    def _enter(self, fds: list[int], bare: bool) -> Channels:
        """Detach from the zygote: this process uses the channels that came with the request."""
        self._socket.close()
        os.chdir(FOLDER)
        control, output, calls = fds
        redirect(output)
        if bare:
            control, calls = keep_only(control, calls)
        confinement.limit_files()
        confinement.die_first(self._oom_score)
        self._fence.close()
        self._channels = (
            Channel(socket.socket(fileno=control)),
            Channel(socket.socket(fileno=calls)),
        )
        return self._channels

    def _reply(self, message: Message) -> None:
        self._socket.send(json.dumps(message).encode())


def _let_go() -> None:
    """Detach standard input and output, which are the judge's."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1):
        os.dup2(nowhere, number)
    os.close(nowhere)


def _orphan() -> int:
    """Fork a process whose parent is process 1, since the one between has ended. Returns its
    number; 0 in the process itself.
    """
    read, write = os.pipe()
    between = os.fork()
    if between == 0:
        pid = os.fork()
        if pid != 0:
            os.write(write, str(pid).encode())
            os._exit(0)
    os.close(write)
    number = b"0" if between == 0 else os.read(read, 20)
    os.close(read)
    if between:
        os.waitpid(between, 0)
    return int(number)


def _reaped() -> set[int]:
    """Reap all processes that have ended; returns their numbers."""
    pids = set()
    while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
        pids.add(pid)
    return pids


def _alone(spared: list[int]) -> bool:
    """End every process but process 1, this one and those spared; whether there was none, not even
    a dead one that process 1 has not reaped.

    One signal stops all at once, so that no process can escape by forking.
    """
    try:
        os.kill(-1, signal.SIGSTOP)
    except ProcessLookupError:
        return True
    pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    pids -= {1, os.getpid(), *spared}
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it ended with its parent
            os.kill(pid, signal.SIGKILL)
    for pid in spared:
        os.kill(pid, signal.SIGCONT)
    return not pids


def _wiped() -> bool:
    """Empty /tmp and reset the times of its inode; whether that worked."""
    try:
        for folder, folders, files in os.walk(_TMP, topdown=False):
            for name in files:
                os.unlink(os.path.join(folder, name))
            for name in folders:
                path = os.path.join(folder, name)
                os.unlink(path) if os.path.islink(path) else os.rmdir(path)
        os.utime(_TMP, (0, 0))
        return (
            not os.listdir(_TMP) and not _attributes(_TMP) and _TMP.stat().st_mode & 0o7777 == 0o700
        )
    except (OSError, RecursionError):
        return False


def _attributes(path: Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []  # the file system has none


def _unshared() -> bool:
    """Whether no System V object is left; they outlive their process."""
    return all(len(path.read_text().splitlines()) <= 1 for path in _SHARED if path.exists())
