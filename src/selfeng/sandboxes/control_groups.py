"""Control groups: the kernel's limits on a container's memory, processes and CPU, where this user
may set them.

Version 1 has a tree for each controller, version 2 one for all; see the kernel's
`admin-guide/cgroup-v1` and `admin-guide/cgroup-v2`.
"""

import contextlib
import itertools
import logging
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from selfeng.core.process import is_running, this_process
from selfeng.sandboxes.limits import MB, ContainerLimits

Controller = Literal["memory", "pids", "cpu"]
CONTROLLERS: tuple[Controller, ...] = get_args(Controller)

PREFIX = "self-engineering-agent,"
"""Begins the name of every group of ours; the creating process and a number follow."""
_UNIFIED = "unified"
_PERIOD = 100_000
_SWAP = ("memory.swap.max", "memory.memsw.limit_in_bytes")
_SHOWN = {
    "": ("memory.oom_control", "memory.limit_in_bytes"),
    _UNIFIED: ("memory.events", "memory.max"),
}
_COUNTS = {"": "memory.oom_control", _UNIFIED: "memory.events"}
_TRIES = 200
"""Attempts, 5 ms apart, to remove a group whose last process is ending."""

log = logging.getLogger(__name__)

_number = itertools.count()


@dataclass(frozen=True)
class _Tree:
    top: Path
    own_group: Path
    """The group of this process."""
    controllers: tuple[str, ...]
    unified: bool

    def ancestors(self) -> Iterator[Path]:
        """Our own group and its parents, the nearest first."""
        yield from (
            group
            for group in (self.own_group, *self.own_group.parents)
            if group.is_relative_to(self.top)
        )


class ControlGroup:
    """The groups of one container; without any, nothing is limited."""

    def __init__(self, folders: dict[Controller, Path], unified: bool) -> None:
        self._folders = folders
        self._form = _UNIFIED if unified else ""

    @property
    def joined(self) -> tuple[Path, ...]:
        """Files to which a joining process writes its id."""
        return tuple(dict.fromkeys(folder / "cgroup.procs" for folder in self._folders.values()))

    @property
    def shown(self) -> tuple[tuple[Path, Path], ...]:
        """Files that the judge reads, and their paths inside."""
        memory = self._folders.get("memory")
        place = Path("/sys/fs/cgroup") if self._form else Path("/sys/fs/cgroup/memory")
        return tuple((memory / name, place / name) for name in _SHOWN[self._form]) if memory else ()

    def memory_kills(self) -> int:
        """How many processes were killed for lack of memory; 0 if the groups are gone."""
        if (memory := self._folders.get("memory")) is None:
            return 0
        try:
            counts = (memory / _COUNTS[self._form]).read_text()
        except OSError:
            return 0
        for line in counts.splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
        return 0

    def remove(self) -> None:
        """Remove the groups, once their last process has ended."""
        for folder in dict.fromkeys(self._folders.values()):
            _remove(folder)


class ControlGroups:
    """The control groups that this user may make on this machine. Blocking."""

    def __init__(self, process: Path = Path("/proc/self")) -> None:
        self._process = process
        self._parents: dict[Controller, Path] | None = None
        self._unified = False

    @property
    def missing(self) -> tuple[Controller, ...]:
        """The resources that can't be limited."""
        return tuple(name for name in CONTROLLERS if name not in self._controller_parents())

    def make(self, limits: ContainerLimits) -> ControlGroup:
        """A group with these limits, as far as they can be set.

        Raises:
            OSError: what worked before no longer does.
        """
        return _make(self._controller_parents(), limits, self._unified)

    def reap(self) -> int:
        """Remove the groups of processes that have ended; returns the number of containers."""
        names = set()
        for folder in self.folders():
            if is_running(_owner(folder.name)) is False:
                _end(folder)
                _remove(folder)
                names.add(folder.name)
        return len(names)

    def folders(self) -> Iterator[Path]:
        """Every group of ours on this machine, made by any process."""
        for tree in _trees(self._process):
            for folder, folders, _ in os.walk(tree.top):
                yield from (Path(folder, name) for name in folders if name.startswith(PREFIX))

    def _controller_parents(self) -> dict[Controller, Path]:
        if self._parents is None:
            trees = _trees(self._process)
            unified = next((tree for tree in trees if tree.unified), None)
            parents = _parents_in(unified) if unified else {}
            self._unified = bool(parents)
            self._parents = parents or _parents_of(trees)
        return self._parents


def _parents_in(tree: _Tree) -> dict[Controller, Path]:
    """The nearest group of version 2 in which we may make groups with the essential controllers."""
    for parent in tree.ancestors():
        control = parent / "cgroup.subtree_control"
        for name in CONTROLLERS:
            with contextlib.suppress(OSError):  # it can't be turned on here
                if name not in control.read_text().split():
                    control.write_text(f"+{name}")
        offered = control.read_text().split()
        parents = {name: parent for name in CONTROLLERS if name in offered}
        if {"memory", "pids"} <= parents.keys() and _works(parents, unified=True):
            return parents
    return {}


def _parents_of(trees: list[_Tree]) -> dict[Controller, Path]:
    """The nearest groups of version 1 in which we may make groups, by controller."""
    parents: dict[Controller, Path] = {}
    for name in CONTROLLERS:
        for parent in (
            parent for tree in trees if name in tree.controllers for parent in tree.ancestors()
        ):
            if _works({name: parent}, unified=False):
                parents[name] = parent
                break
    return parents


def _works(parents: dict[Controller, Path], unified: bool) -> bool:
    """Whether a process of ours can enter a group made there."""
    try:
        group = _make(parents, ContainerLimits(), unified)
    except OSError:
        return False
    try:
        entered = [f"echo 0 > '{path}'" for path in group.joined]
        return (
            subprocess.run(  # noqa: S603
                ["/bin/sh", "-ec", "\n".join(entered)], check=False, capture_output=True
            ).returncode
            == 0
        )
    finally:
        group.remove()


def _make(parents: dict[Controller, Path], limits: ContainerLimits, unified: bool) -> ControlGroup:
    name = f"{PREFIX}{this_process().replace(':', ',')},{next(_number)}"
    folders = {controller: parent / name for controller, parent in parents.items()}
    group = ControlGroup(folders, unified)
    try:
        for folder in dict.fromkeys(folders.values()):
            folder.mkdir()
        for controller, folder in folders.items():
            for file, value in _values(controller, limits, unified):
                if file not in _SWAP or (folder / file).exists():  # some kernels don't count swap
                    (folder / file).write_text(value)
    except OSError:
        group.remove()
        raise
    return group


def _values(
    controller: Controller, limits: ContainerLimits, unified: bool
) -> Iterator[tuple[str, str]]:
    """The files of a group that set its limits, in order."""
    memory, quota = str(limits.memory_mb * MB), int(limits.cpus * _PERIOD)
    match controller, unified:
        case "memory", True:
            yield from (("memory.max", memory), ("memory.swap.max", "0"))
        case "memory", False:
            yield from (("memory.limit_in_bytes", memory), ("memory.memsw.limit_in_bytes", memory))
        case "pids", _:
            yield "pids.max", str(limits.processes)
        case "cpu", True:
            yield "cpu.max", f"{quota} {_PERIOD}"
        case "cpu", False:
            yield from (("cpu.cfs_period_us", str(_PERIOD)), ("cpu.cfs_quota_us", str(quota)))


def _trees(process: Path) -> list[_Tree]:
    """The mounted trees, with our place in each."""
    try:
        places = [line.split(":", 2) for line in (process / "cgroup").read_text().splitlines()]
        mounts = [line.split(" - ") for line in (process / "mountinfo").read_text().splitlines()]
    except OSError:
        return []
    paths = {controllers: path for _, controllers, path in places}
    trees = []
    for before, after in mounts:
        root, top = before.split()[3:5]
        kind, _, options = after.split()
        names = () if kind == "cgroup2" else tuple(options.split(","))
        path = next(
            (
                p
                for controllers, p in paths.items()
                if (set(controllers.split(",")) & set(names) if names else not controllers)
            ),
            None,
        )
        if kind in ("cgroup", "cgroup2") and path is not None:
            below = os.path.relpath(path, root)
            here = Path(top) if below.startswith("..") else Path(top, below)
            trees.append(_Tree(Path(top), here, names, kind == "cgroup2"))
    return trees


def _owner(name: str) -> str:
    """The process that made a group, as `selfeng.core.process` names it."""
    return ":".join(name.removeprefix(PREFIX).split(",")[:-1])


def _end(folder: Path) -> None:
    """Kill what still runs in a group, which should be nothing."""
    with contextlib.suppress(OSError):
        for number in (folder / "cgroup.procs").read_text().split():
            os.kill(int(number), signal.SIGKILL)


def _remove(folder: Path) -> None:
    for _ in range(_TRIES):
        try:
            folder.rmdir()
            return
        except OSError:
            if not folder.exists():  # a read-only tree says so of any folder
                return
            time.sleep(0.005)
    log.warning("could not remove the control group %s", folder)
