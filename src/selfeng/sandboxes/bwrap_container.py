"""BubblewrapContainer: a container with a judge that waits for jobs; a process of this server.

`BwrapProcess` is the container as the host sees it: bwrap itself, and process 1 inside, whose end
ends all others.
"""

import contextlib
import io
import json
import logging
import os
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox_worker.bpf import ENOSYS, EPERM, Argument, Rule, program, refuse
from sandbox_worker.job_folder import HELD
from selfeng.core.errors import SandboxFailed
from selfeng.core.files import LargeContent
from selfeng.sandboxes.backend import Container, Mode
from selfeng.sandboxes.bwrap_command import OWNER, Descriptors, Start, command
from selfeng.sandboxes.container_stream import JudgeStream
from selfeng.sandboxes.control_groups import ControlGroup
from selfeng.sandboxes.job_protocol import handshake
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.python_environment import BUILD

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Spawn = Callable[..., subprocess.Popen[bytes]]

_BEGIN = 30.0
"""Seconds within which the first process inside must start."""
_END = 10.0
"""Seconds within which a killed container must be gone."""


@dataclass(frozen=True)
class Streams:
    """File descriptors that process 1 gets."""

    stdin: int
    stdout: int
    stderr: int


class BwrapProcess:
    """One started container. Blocking."""

    def __init__(self, spawn: Spawn, start: Start, inner: Sequence[str], streams: Streams) -> None:
        """`spawn` works like `subprocess.Popen`, in a thread that outlives the container: bwrap
        ends with that thread.

        Raises:
            OSError: there is no such program.
            KeyError: there is no filter for system calls on this machine.
        """
        report, report_writer = os.pipe()
        hold_reader, hold = os.pipe()
        seccomp = os.memfd_create("filter")
        try:
            os.write(seccomp, container_filter(memory_is_counted="memory" not in start.missing))
            os.lseek(seccomp, 0, os.SEEK_SET)
            self._process: subprocess.Popen[bytes] = spawn(
                command(start, Descriptors(report_writer, hold_reader, seccomp), inner),
                stdin=streams.stdin,
                stdout=streams.stdout,
                stderr=streams.stderr,
                env={"PATH": PATH},
                cwd="/",
                pass_fds=(report_writer, hold_reader, seccomp),
                start_new_session=True,
            )
        except BaseException:
            os.close(report)
            os.close(hold)
            raise
        finally:
            for descriptor in (report_writer, hold_reader, seccomp):
                os.close(descriptor)
        self._report, self._hold = report, hold
        self._first: int | None = None
        self.pid = 0
        """The id of process 1 on the host."""

    def await_first(self) -> None:
        """Wait until process 1 has started, and let it continue. Call it once.

        Raises:
            SandboxFailed: it did not start.
        """
        try:
            with (
                open(self._hold, "wb", buffering=0) as hold,
                open(self._report, "rb", buffering=0) as report,
            ):
                self.pid = _pid(report)
                self._first = os.pidfd_open(self.pid)
                hold.write(b"!")
        except (OSError, ValueError) as error:
            raise SandboxFailed("bubblewrap started no process") from error

    def kill(self) -> None:
        """End all of it. Callable from any thread."""
        with contextlib.suppress(OSError):
            if self._first is not None:
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            else:
                self._kill_group()

    def exit_code(self, seconds: float) -> int | None:
        """The exit code of process 1, or else of bwrap; None if it runs longer than `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def remove(self) -> bool:
        """End all of it and wait; whether nothing is left. Call it once."""
        self.kill()
        if self._first is not None:
            # Process 1 is reported dead only after all other processes of its namespace.
            select.select([self._first], [], [], _END)
            os.close(self._first)
        if self.exit_code(_END) is None:
            self._kill_group()
        return self.exit_code(_END) is not None

    def _kill_group(self) -> None:
        """End bwrap and its children: process 1 leaves the group only when it is set up."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)


def running() -> Iterator[tuple[int, str]]:
    """The sandboxes' bwrap processes on this machine, with the servers that own them. Those of a
    server in a container are left out: its process id means another process here.
    """
    namespace = os.readlink("/proc/self/ns/pid")
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError, ValueError):  # it has ended, or is something else
            arguments = path.read_bytes().decode("utf-8", "replace").split("\0")
            owner = arguments[arguments.index(OWNER) + 1]
            if os.readlink(path.with_name("ns") / "pid") == namespace:
                yield int(path.parent.name), owner


def _pid(report: io.FileIO) -> int:
    """The process id in bwrap's report: JSON that arrives in several pieces."""
    text = b""
    deadline = time.monotonic() + _BEGIN
    while (remaining := deadline - time.monotonic()) > 0:
        if not select.select([report], [], [], remaining)[0] or not (
            piece := os.read(report.fileno(), 4096)
        ):
            break
        text += piece
        with contextlib.suppress(ValueError):
            return int(json.loads(text)["child-pid"])
    raise ValueError(f"bwrap reported {text!r}")


_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET."""
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_TERMINAL = (0x5412, 0x541C, 0x5423)
"""TIOCSTI and TIOCLINUX type into a terminal, TIOCSETD loads drivers for one."""
_QUERY = (0, 0xFFFFFFFF)
"""The default personality, and the value that only queries it."""

_REFUSED = """
setns unshare mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr statmount
listmount swapon swapoff quotactl quotactl_fd acct fanotify_init open_by_handle_at name_to_handle_at lookup_dcookie
ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp perf_event_open bpf userfaultfd
add_key request_key keyctl io_uring_setup io_uring_enter io_uring_register
init_module finit_module delete_module create_module get_kernel_syms query_module kexec_load kexec_file_load reboot syslog
settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname
iopl ioperm modify_ldt vhangup uselib ustat sysfs _sysctl nfsservctl
move_pages migrate_pages mbind set_mempolicy set_mempolicy_home_node memfd_secret vmsplice
"""  # noqa: E501


def container_filter(memory_is_counted: bool = True) -> bytes:
    """The filter for this machine.

    `memory_is_counted` says whether a control group counts all memory. If not, files that exist
    only in memory are forbidden, since the watchdog would not see them.

    Raises:
        KeyError: there is no filter for this machine.
    """
    hidden = [] if memory_is_counted else [Rule("memfd_create shmget", refuse(EPERM))]
    return program([*hidden, *_rules()], os.uname().machine)


def _rules() -> list[Rule]:
    no = refuse(EPERM)
    return [
        Rule(_REFUSED, no),
        Rule("clone", no, (Argument(0, (0,), mask=_NAMESPACES, unless=True),)),
        Rule(
            "clone3", refuse(ENOSYS)
        ),  # its flags are in memory, which a filter can't read; libraries then use clone
        Rule("socket", no, (Argument(0, (_UNIX, _INET, _INET6, _NETLINK), unless=True),)),
        Rule(
            "socket", no, (Argument(0, (_NETLINK,)), Argument(2, (0,), unless=True))
        ),  # all but the routes, which name the interfaces
        Rule("socketpair", no, (Argument(0, (_UNIX,), unless=True),)),
        Rule("ioctl", no, (Argument(1, _TERMINAL),)),
        Rule("personality", no, (Argument(0, _QUERY, unless=True),)),
    ]


def remove_inputs(folder: Path) -> None:
    """Remove a container's folder of large files."""
    with contextlib.suppress(OSError):
        (folder / HELD).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


_LOOKS = 2.0
"""Seconds that a container gets to end before its exit state is read."""
_KILLED = 128 + signal.SIGKILL
_AGAIN = (
    "see that no program ends the sandbox's processes and that the machine has memory left, then "
    "try again"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Started:
    """The parts of a container; its process 1 may not have started yet."""

    edition: str
    """The environment that it was made from."""
    process: BwrapProcess
    group: ControlGroup


class Starter(Protocol):
    """Starts the worker in a container of its own."""

    def start(self, sandbox: str, stdio: int, stderr: int, inputs: Path | None) -> Started:
        """Start it for a sandbox, on these file descriptors, with the folder of its large files.

        Raises:
            SandboxUnavailable, SandboxFailed.
        """

    def inputs(self) -> Path:
        """A new folder for large files."""

    def watch(self, container: "BubblewrapContainer") -> None:
        """Start watching its memory, if nothing else limits it."""

    def forget(self, container: "BubblewrapContainer") -> None:
        """Stop watching it."""


class PipedStream(JudgeStream):
    """The stream of a container whose stderr is a pipe."""

    def __init__(self, sock: socket.socket, stderr: int) -> None:
        super().__init__(sock)
        self._stderr = stderr
        os.set_blocking(stderr, False)

    def diagnostics(self) -> str:
        with contextlib.suppress(BlockingIOError):
            while noise := os.read(self._stderr, 65536):
                self.hear(noise)
        return super().diagnostics()

    def close(self) -> None:
        super().close()
        os.close(self._stderr)


class BubblewrapContainer(Container):
    def __init__(self, starter: Starter, mode: Mode, limits: ContainerLimits, sandbox: str) -> None:
        super().__init__(mode)
        self._starter = starter
        self._limits = limits
        self._sandbox = sandbox
        self._process: BwrapProcess | None = None
        self._group: ControlGroup | None = None
        self._outgrown = False
        self._inputs: Path | None = None

    @property
    def pid(self) -> int:
        """The id of process 1 on the host; 0 while there is none."""
        return self._process.pid if self._process else 0

    def hang_up(self) -> None:
        super().hang_up()
        with self._lock:
            process = self._process
        if process is not None:
            process.kill()

    def outgrow(self) -> None:
        """End it because it uses too much memory."""
        self._outgrown = True
        self.hang_up()

    def discard(self) -> None:
        self.hang_up()
        self._starter.forget(self)
        with self._lock:
            process, self._process = self._process, None
            group, self._group = self._group, None
        if self._inputs:
            remove_inputs(self._inputs)
        if process is None or group is None:
            return  # it was never launched, or is discarded already
        if not process.remove():
            log.warning("could not end a sandbox container")
        group.remove()
        self.stream.close()

    def how_it_ended(self) -> str:
        with self._lock:
            process, group = self._process, self._group
        if process is None or group is None:
            raise SandboxFailed(
                "the container was removed in the middle of its job, as its sandbox was closed"
            )
        code = process.exit_code(_LOOKS)
        if self._outgrown or group.memory_kills():
            return (
                f"It needed more memory than the {self._limits.memory_mb} MB that the sandbox "
                "gives."
            )
        if code is not None and (code < 0 or code == _KILLED):  # code inside can't cause this
            raise SandboxFailed(
                "the container was removed by someone else in the middle of its job", _AGAIN
            )
        log.warning(
            "a sandbox container ended early with exit code %s: %s", code, self.stream.diagnostics()
        )
        return (
            f"The sandbox was ended from inside before its report was complete (exit code {code})."
        )

    def check(self) -> None:
        """Do nothing: there is no engine that could fail to answer."""

    def _bring_in(self, contents: Sequence[LargeContent]) -> None:
        assert self._inputs, "large files are for calls"
        try:
            for content in contents:
                target = self._inputs / HELD / content.sha256
                try:
                    os.link(content.path, target)
                except OSError:  # it is on another file system
                    shutil.copyfile(content.path, target)
                    target.chmod(0o444)
        except OSError as error:
            raise SandboxFailed(
                f"a file can't be brought into the sandbox: {error}", "make room, and try again"
            ) from error

    def _bring_up(self) -> None:
        process = self._launch()
        self._check_wanted()
        try:
            process.await_first()
            handshake(self.stream, self._mode, self._check_wanted, BUILD)
        except (SandboxFailed, OSError) as error:
            raise SandboxFailed(
                f"bubblewrap could not start a container ({error}): {self.stream.diagnostics()}",
                BUILD,
            ) from error
        self._starter.watch(self)

    def _launch(self) -> BwrapProcess:
        here, there = socket.socketpair()
        reader, writer = os.pipe()
        stream = PipedStream(here, reader)
        try:
            if self._mode == "execute":
                self._inputs = self._starter.inputs()
            started = self._starter.start(self._sandbox, there.fileno(), writer, self._inputs)
        except BaseException:
            stream.close()
            raise
        finally:
            there.close()
            os.close(writer)
        with self._lock:
            self._stream, self._process, self._group = stream, started.process, started.group
        self.edition = started.edition
        return started.process
