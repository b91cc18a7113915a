"""A process, named so that any other process can tell whether it still runs: one that runs a turn
or owns a container; and its end.
"""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, NoReturn

from selfeng.core.system import release_memory, share_heaps

if TYPE_CHECKING:
    import asyncio


def tune_process(set_up: "asyncio.Task[None]") -> None:
    """For a process that serves, which is being set up."""
    share_heaps()
    sys.setswitchinterval(0.001)  # the threads of page and journal wait for the engine's
    set_up.add_done_callback(_freeze)


def _freeze(set_up: "asyncio.Task[None]") -> None:
    """A collection stops all threads: none looks through what is loaded by now, which stays. The
    first ones take ten milliseconds, the second ones twenty, and full ones are rare.
    """
    if not set_up.cancelled():
        gc.collect()  # nothing looks for garbage among what is frozen
        release_memory()  # a first start verifies the seed tools and converts the embedding model
        gc.freeze()
        gc.set_threshold(10_000, 5, 40)


def this_process() -> str:
    return name_of(os.getpid())


def name_of(pid: int) -> str:
    """`<machine>:<boot>:<process>:<start of the process>`."""
    return f"{gethostname()}:{_boot()}:{pid}:{_start(pid)}"


def is_running(process: str) -> bool | None:
    """Whether the process of that name runs; None if that can't be known here, such as for a
    process on another machine or another kind of name.
    """
    try:
        machine, boot, pid, _ = process.split(":")
        number = int(pid)
    except ValueError:
        return None
    if machine != gethostname():
        return None
    if boot != _boot():
        return False  # this machine has been restarted
    return name_of(number) == process if Path("/proc/self/stat").exists() else _answers(number)


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "?"


def _start(pid: int) -> str:
    """When the process started, in the kernel's ticks; "" if it is gone, `?` if the system does not
    report it.

    A process that has ended but was not waited for counts as gone.
    """
    if not Path("/proc/self/stat").exists():
        return "?"
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def _answers(pid: int) -> bool | None:
    if sys.platform == "win32":
        return None  # Windows: signal 0 would end the process
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def exit_process(code: int) -> NoReturn:
    """End the process at once, even if threads are stuck in a library or outlive it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # what reads it has ended
            stream.flush()
    os._exit(code)


def run_and_exit(command: Callable[[], object]) -> NoReturn:
    """Call a command that returns or raises SystemExit, then exit. Any other exception ends the
    process as Python does.
    """
    try:
        command()
    except SystemExit as end:
        exit_process(end.code if isinstance(end.code, int) else int(end.code is not None))
    exit_process(0)
