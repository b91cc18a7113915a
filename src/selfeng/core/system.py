"""The operating system's limits for a process; fixed values on Windows, which lacks the calls."""

import os
import sys

WSL = "run it in WSL 2, as on Linux: `wsl --install` in PowerShell"
"""A remedy for what native Windows can't do."""


def memory_mb() -> int:
    """Megabytes of this machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024)
    except (AttributeError, ValueError):
        return 4096


_ARENA_MAX = -8
"""M_ARENA_MAX of glibc's <malloc.h>."""


def share_heaps() -> None:
    """Have all threads share two heaps, where the C library is glibc. By default each has its own,
    of whose free memory the others have no use.
    """
    _malloc("mallopt", _ARENA_MAX, 2)


def release_memory() -> None:
    """Give memory that was freed back to the system, where the C library is glibc."""
    _malloc("malloc_trim", 0)


def _malloc(function: str, *arguments: int) -> None:
    if sys.platform == "linux":
        import ctypes

        if call := getattr(ctypes.CDLL(None), function, None):
            call(*arguments)


def open_files() -> int:
    """Descriptors that this process may have open."""
    try:
        import resource
    except ModuleNotFoundError:
        return 8192
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
