"""What of /proc and /sys no container sees: all that tells of the machine, and not of the container or its processor."""

import os
from collections.abc import Iterable

_SHOWN_OF_PROC = {
    *("self", "thread-self", "mounts", "net", "sysvipc", "cpuinfo", "meminfo", "stat", "uptime", "loadavg", "version", "filesystems"),
}
_SHOWN_OF_SYS = {"fs"}
_SHOWN_OF_FS = {"cgroup"}
_KNOWN = """
acpi asound buddyinfo bus cmdline config.gz devices diskstats driver interrupts iomem ioports irq kallsyms kcore key-users keys kmsg
latency_stats locks modules mtrr pagetypeinfo partitions pressure sched_debug schedstat scsi slabinfo softirqs swaps sys sysrq-trigger
timer_list timer_stats tty vmallocinfo vmstat zoneinfo
"""
"""Below /proc, also where the engine's machine is not this one."""
_KNOWN_OF_SYS = ("block", "bus", "class", "dev", "devices", "firmware", "hypervisor", "kernel", "module", "power")


def hidden_of_proc() -> list[str]:
    """The paths, as this machine and others have them."""
    there = {name for name in os.listdir("/proc") if not name.isdigit()}
    return _paths("/proc", {*there, *_KNOWN.split()} - _SHOWN_OF_PROC)


def hidden_of_sys() -> list[str]:
    """The same where /sys can be seen at all."""
    folders = _paths("/sys", {*_listed("/sys"), *_KNOWN_OF_SYS} - _SHOWN_OF_SYS)
    return [*folders, *_paths("/sys/fs", _listed("/sys/fs") - _SHOWN_OF_FS)]


def _listed(folder: str) -> set[str]:
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def _paths(folder: str, names: Iterable[str]) -> list[str]:
    return [f"{folder}/{name}" for name in sorted(names)]
