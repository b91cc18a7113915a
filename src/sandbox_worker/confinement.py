"""The rights that a process of the sandbox gives up before it runs code that it was sent.

The container's limits don't depend on this. It isolates the processes inside the container from
each other.
"""

import ctypes
import os
import re
import resource
import signal
import sys
from pathlib import Path

from . import FILES_OF_THE_JUDGE

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_DUMPABLE = 4
_KILLED_COUNTS = (
    Path("/sys/fs/cgroup/memory.events"),
    Path("/sys/fs/cgroup/memory/memory.oom_control"),
)
_KEPT = re.compile(
    "HOME|HOSTNAME|LANG|PATH|LD_LIBRARY_PATH|MPLBACKEND|MPLCONFIGDIR|SANDBOX_PACKAGES|[A-Z]+_NUM_THREADS"
)
_LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))


def hide() -> None:
    """Make this process and its children unreadable and untraceable for the same user."""
    prctl(_PR_SET_DUMPABLE, 0)


def forget_environment() -> None:
    """Keep only variables that programs need; images and engines add some not meant for tools."""
    for name in list(os.environ):
        if not _KEPT.fullmatch(name):
            del os.environ[name]


def ignore_signals() -> None:
    """Remove Python's handlers: without one, no process of the container can signal process 1."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def limit_files() -> None:
    """Limit this process and those it forks to as many open files as a job may have."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - FILES_OF_THE_JUDGE
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def die_first(score: int) -> None:
    """Ask the kernel to kill this process before the judge when memory runs out; best effort."""
    prctl(_PR_SET_DUMPABLE, 1)  # the file belongs to root as long as the process is hidden
    try:
        Path("/proc/self/oom_score_adj").write_text(str(score))
    except OSError as error:
        sys.stderr.write(f"oom_score_adj: {error}\n")
    finally:
        hide()


def memory_kills() -> int:
    """How many processes here the kernel has killed for lack of memory; 0 if unknown."""
    for path in _KILLED_COUNTS:
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return 0


def condition() -> tuple[object, ...]:
    """The properties of this process that others of the same user can change without touching its
    memory; compare it with an earlier one.
    """
    limits = tuple(resource.getrlimit(limit) for limit in _LIMITS)
    scheduling = (
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        frozenset(os.sched_getaffinity(0)),
    )
    return (limits, *scheduling, os.getpgid(0), os.getsid(0))


def syscall(number: int, *arguments: int) -> int:
    """The return value of the call; -1 if it fails or is unknown."""
    return int(
        _LIBC.syscall(
            ctypes.c_long(number), *map(ctypes.c_ulong, (*arguments, *[0] * (6 - len(arguments))))
        )
    )


def prctl(option: int, value: int, pointer: int = 0) -> None:
    """Raises: OSError."""
    if (
        _LIBC.prctl(
            option,
            ctypes.c_ulong(value),
            ctypes.c_ulong(pointer),
            ctypes.c_ulong(0),
            ctypes.c_ulong(0),
        )
        != 0
    ):
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
