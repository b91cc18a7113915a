"""Who a container belongs to, written on it as labels, so that what a dead server left behind can be removed."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

SANDBOX = "self-engineering-agent.sandbox"
"""Marks every container of ours."""
OWNER = "self-engineering-agent.owner"
"""`<boot>:<process>:<start of the process>` of the server that made it."""
GROUP = "self-engineering-agent.group"
"""Which of its server's sandboxes made it."""
DEADLINE = "self-engineering-agent.deadline"
"""Unix time after which nobody can be waiting for it any more."""


def labels(lifetime: float, group: str = "") -> dict[str, str]:
    """Labels for a container that nobody needs in `lifetime` seconds."""
    return {SANDBOX: "1", GROUP: group, OWNER: _owner(os.getpid()), DEADLINE: str(int(time.time() + lifetime))}


def abandoned(found: Mapping[str, str]) -> bool:
    """Whether the container with these labels has lost its server, or is past its deadline."""
    try:
        if time.time() > float(found.get(DEADLINE, "inf")):
            return True
        boot, pid, _ = found[OWNER].split(":")
        if boot != _boot():
            return False  # another machine's, on a shared engine: its deadline decides
        return _owner(int(pid)) != found[OWNER]
    except (KeyError, ValueError):
        return False


def _owner(pid: int) -> str:
    return f"{_boot()}:{pid}:{_start(pid)}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return f"{os.uname().nodename}-no-boot-id" if sys.platform != "win32" else "windows"


def _start(pid: int) -> str:
    """When the process started, in the kernel's ticks; "" if it is gone, `?` where the system does not tell."""
    if not Path("/proc/self/stat").exists():
        return "?"
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
