"""The operating system's limits for a process; fixed values on Windows, which lacks the calls."""

import os

WSL = "run it in WSL 2, as on Linux: `wsl --install` in PowerShell"
"""A remedy for what native Windows can't do."""


def memory_mb() -> int:
    """Megabytes of this machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // (1024 * 1024)
    except (AttributeError, ValueError):
        return 4096


def open_files() -> int:
    """Descriptors that this process may have open."""
    try:
        import resource
    except ModuleNotFoundError:
        return 8192
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
