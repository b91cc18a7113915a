"""The bubblewrap backend: containers without an engine, made by bubblewrap and what control groups this user may have. Linux only."""

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from src.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from src.core.process import is_running
from src.core.verdict import SandboxStatus
from src.sandboxes import bwrap_process
from src.sandboxes.backend import SHARED_KERNEL, Mode, unavailable
from src.sandboxes.bwrap_command import Files, Start, Tools, processes_are_counted_apart
from src.sandboxes.bwrap_container import BubblewrapContainer, Started
from src.sandboxes.bwrap_process import BwrapProcess, Spawn, Streams, running
from src.sandboxes.control_groups import ControlGroups
from src.sandboxes.daemon_threads import DaemonThreads
from src.sandboxes.limits import ContainerLimits
from src.sandboxes.python_environment import Parts, PythonEnvironment
from src.sandboxes.watchdog import Watchdog, Watched

NO_BUBBLEWRAP = "install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`)"
_NOT_ALLOWED = "let this user make user namespaces (Ubuntu: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), or use Docker"

_WORKER = ("python", "-I", "-m", "sandbox_worker")
_CHECK = """
import sandbox_worker.judge, sandbox_worker.test_process
try:
    import matplotlib.pyplot
except ModuleNotFoundError:
    print("{}")
else:
    import json, pathlib
    print(json.dumps({path.name: path.read_text() for path in pathlib.Path(matplotlib.get_cachedir()).glob("*.json")}))
"""
"""Loads what a container loads; tells the fonts that matplotlib found, which takes it long."""
_SYSTEM = "Code can read the programs and libraries of this machine below /usr, and where its own folders lie."
_USER = "A way out of a container would lead to the rights of this server's user."
_BEGIN = 10.0
"""Seconds for a program to begin."""
_RUN = 60.0
"""Seconds for a program that is run once."""


class BubblewrapBackend:
    """Containers that are processes of this server, and end with it."""

    name = "bubblewrap"

    def __init__(self, folder: Path, limits: ContainerLimits, groups: ControlGroups | None = None, packages: Sequence[str] = ()) -> None:
        """`folder` is for the Python environment that code runs in; `packages` are beyond those of the sandbox."""
        self._environment = PythonEnvironment(folder.absolute(), packages=packages)
        self._limits = limits
        self._groups = groups or ControlGroups()
        self._watchdog = Watchdog(limits.memory_mb)
        self._threads = DaemonThreads(1, "sandbox-bwrap")
        self._version = ""
        """What bwrap calls itself, once it has worked."""

    def container(self, mode: Mode, group: str) -> BubblewrapContainer:
        return BubblewrapContainer(self, mode, self._limits, group)

    def probe(self) -> None:
        """Start a container that does nothing, unless that has worked before.

        Raises:
            SandboxUnavailable: it does not work on this machine, or not for this user.
        """
        tools = _tools()
        if not self._version:
            try:
                self._run(None, "true")
            except SandboxFailed as error:
                raise SandboxUnavailable(f"bubblewrap does not work here: {error.message}", _NOT_ALLOWED) from error
            asked = subprocess.run([tools.bwrap, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
            self._version = asked.stdout.strip()

    def status(self) -> SandboxStatus:
        try:
            self.probe()
            self._environment.parts()
        except SandboxError as error:
            return unavailable(self.name, error)
        detail = f"{self._version}, Python {platform.python_version()}"
        return SandboxStatus(available=True, backend=self.name, detail=detail, not_guaranteed=self.not_guaranteed())

    def not_guaranteed(self) -> tuple[str, ...]:
        """What these containers lack, on this machine."""
        lacking = {
            "memory": f"{self._limits.memory_mb} MB are a hard limit for each process only; all together are looked at ten times a second.",
            "pids": None if processes_are_counted_apart() else "The number of processes is not limited.",
            "cpu": "Code may use more than one CPU until its time is up.",
        }
        user = () if os.geteuid() == 0 else (_USER,)
        return (SHARED_KERNEL, _SYSTEM, *user, *(sentence for name in self._groups.missing if (sentence := lacking[name])))

    def is_current(self) -> bool:
        self.probe()
        return self._environment.is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self.probe()
        self._environment.build(on_line, self._finish)

    def reap(self) -> int:
        """Containers end with their server; what is left of one that was killed are control groups, and what was just being started."""
        for pid, owner in running():
            if is_running(owner) is False:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        return self._groups.reap()

    def close(self) -> None:
        self._watchdog.close()
        self._threads.close(_BEGIN)

    def start(self, sandbox: str, stdio: int, stderr: int) -> Started:
        """See `bwrap_container.Starter`."""
        return self._start(self._spawn, self._environment.parts(), sandbox, _WORKER, Streams(stdio, stdio, stderr))

    def watch(self, container: Watched) -> None:
        if "memory" in self._groups.missing:
            self._watchdog.watch(container)

    def forget(self, container: Watched) -> None:
        self._watchdog.forget(container)

    def _start(self, spawn: Spawn, environment: Parts | None, sandbox: str, inner: tuple[str, ...], streams: Streams) -> Started:
        tools = _tools()
        try:
            group = self._groups.make(self._limits)
        except OSError as error:
            raise SandboxFailed(f"the control groups for a container can't be made: {error}") from error
        try:
            start = Start(tools, Files(environment, group.shown, group.joined), self._limits, self._groups.missing, sandbox)
            process = BwrapProcess(spawn, start, inner, streams)
        except (OSError, KeyError) as error:
            group.remove()
            raise SandboxUnavailable(f"bubblewrap can't be started here: {error}", NO_BUBBLEWRAP) from error
        return Started(environment.edition if environment else "", process, group)

    def _run(self, environment: Parts | None, *inner: str) -> str:
        """What a program that is run in a container of its own says on its stdout.

        Raises:
            SandboxFailed: it said no, or there was no container for it.
        """
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as noise, open(os.devnull) as nothing:
            streams = Streams(nothing.fileno(), out.fileno(), noise.fileno())
            started = self._start(subprocess.Popen, environment, "", inner, streams)
            process = started.process
            try:
                with contextlib.suppress(SandboxFailed):  # its exit code tells as much
                    process.await_first()
                code = process.ended(_RUN)
            finally:
                process.remove()
                started.group.remove()
            out.seek(0)
            noise.seek(0)
            if code != 0:
                raise SandboxFailed(noise.read().strip()[-1000:] or f"{inner[0]} ended with exit code {code}")
            return out.read()

    def _finish(self, environment: Parts) -> None:
        """Try what was built, and keep the list of fonts."""
        fonts = json.loads(self._run(environment, "python", "-I", "-c", _CHECK))
        for name, content in fonts.items():
            folder = environment.packages / "matplotlib"
            folder.mkdir(exist_ok=True)
            (folder / Path(name).name).write_text(content)

    def _spawn(self, *arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        """As `subprocess.Popen`, in a thread that lives until the backend is closed."""
        return self._threads.submit(lambda: subprocess.Popen(*arguments, **options)).result()  # noqa: S603 - `command` made it


def _tools() -> Tools:
    """The programs of this machine.

    Raises:
        SandboxUnavailable: one is missing; all but bwrap are on every Linux with util-linux.
    """
    found = {name: shutil.which(name, path=bwrap_process.PATH) for name in ("bwrap", "unshare", "mount", "setpriv", "prlimit")}
    if missing := [name for name, path in found.items() if path is None]:
        raise SandboxUnavailable(f"this machine has no {' and no '.join(missing)}", NO_BUBBLEWRAP)
    return Tools(**{name: path for name, path in found.items() if path})
