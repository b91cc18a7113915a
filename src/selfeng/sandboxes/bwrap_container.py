"""BubblewrapContainer: a container with a judge that waits for jobs; a process of this server."""

import contextlib
import logging
import os
import signal
import socket
from dataclasses import dataclass
from typing import Protocol

from selfeng.core.errors import SandboxFailed
from selfeng.sandboxes.backend import Container, Mode
from selfeng.sandboxes.bwrap_process import BwrapProcess
from selfeng.sandboxes.container_stream import JudgeStream
from selfeng.sandboxes.control_groups import ControlGroup
from selfeng.sandboxes.job_protocol import handshake
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.python_environment import BUILD

_LOOKS = 2.0
"""Seconds that a container gets to end before its exit state is read."""
_KILLED = 128 + signal.SIGKILL

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Started:
    """The parts of a container; its process 1 may not have started yet."""

    edition: str
    """What it was made from."""
    process: BwrapProcess
    group: ControlGroup


class Starter(Protocol):
    """Starts the worker in a container of its own."""

    def start(self, sandbox: str, stdio: int, stderr: int) -> Started:
        """Start it for a sandbox, on these file descriptors.

        Raises:
            SandboxUnavailable, SandboxFailed.
        """

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
                "the container was removed by someone else in the middle of its job"
            )
        log.warning(
            "a sandbox container ended early with exit code %s: %s", code, self.stream.diagnostics()
        )
        return (
            f"The sandbox was ended from inside before its report was complete (exit code {code})."
        )

    def check(self) -> None:
        """Do nothing: there is no engine that could fail to answer."""

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
            started = self._starter.start(self._sandbox, there.fileno(), writer)
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
