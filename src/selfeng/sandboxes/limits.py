"""The limits of a sandbox container, and the engine's options that set them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox_worker import FILES_OF_THE_JUDGE
from selfeng.core.packages import sandbox_packages

_USER = 65534
MB = 1024 * 1024
_OF_A_KERNEL = 448
"""Threads of a container's own kernel on the host, which count as processes: gVisor has 60 before
any job, and several for each process inside.
"""

ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp/.matplotlib",  # noqa: S108
    **dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
    ),
    "SANDBOX_PACKAGES": " ".join(sandbox_packages()),
}
"""The environment of foreign code. One thread per library: more would wait for the one CPU."""


@dataclass(frozen=True)
class ContainerLimits:
    """The limits of one container. It gets no network, privileges or other writable files."""

    memory_mb: int = 256
    """Memory and tmpfs together; there is no swap."""
    cpus: float = 1.0
    processes: int = 64
    files: int = 128
    """Open files of each process of a job."""
    tmp_mb: int = 32
    """Size of /tmp, the only writable folder."""
    tmp_files: int = 4096


def has_own_kernel(runtime: str | None) -> bool:
    """Whether a runtime of that name gives containers their own kernel, judging by the name."""
    return any(name in (runtime or "") for name in ("runsc", "gvisor", "kata"))


def container_options(limits: ContainerLimits, runtime: str | None = None) -> dict[str, Any]:
    """Arguments for the Docker SDK's `containers.create`; `runtime` None is the engine's
    default.
    """
    tmp = f"rw,nosuid,nodev,noexec,size={limits.tmp_mb * MB},nr_inodes={limits.tmp_files},uid={_USER},gid={_USER},mode=0700"  # noqa: E501
    files = limits.files + FILES_OF_THE_JUDGE
    return {
        "user": f"{_USER}:{_USER}",
        "working_dir": "/tmp",  # noqa: S108 - inside the container
        "hostname": "sandbox",
        "environment": ENVIRONMENT,
        "use_config_proxy": False,  # the addresses of proxies may hold passwords
        "stdin_open": True,
        # the judge handles no other signal, and an engine that shuts down would wait for it
        "stop_signal": "SIGKILL",
        "tty": False,
        "init": False,
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "tmpfs": {"/tmp": tmp},  # noqa: S108
        "mem_limit": limits.memory_mb * MB,
        "memswap_limit": limits.memory_mb * MB,
        "nano_cpus": int(limits.cpus * 1_000_000_000),
        "pids_limit": limits.processes + (_OF_A_KERNEL if has_own_kernel(runtime) else 0),
        "ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {
                "Name": "msgqueue",
                "Soft": 0,
                "Hard": 0,
            },  # a POSIX queue would outlive its process, and the call
            {"Name": "nofile", "Soft": files, "Hard": files},
        ],
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "privileged": False,
        "runtime": runtime,
        "log_config": {"Type": "none", "Config": {}},
    }


_SHOWN_OF_PROC = {
    *(
        "self",
        "thread-self",
        "mounts",
        "net",
        "sysvipc",
        "cpuinfo",
        "meminfo",
        "stat",
        "uptime",
        "loadavg",
        "version",
        "filesystems",
    ),
}
_SHOWN_OF_SYS = {"fs"}
_SHOWN_OF_FS = {"cgroup"}
_KNOWN = """
acpi asound buddyinfo bus cmdline config.gz devices diskstats driver interrupts iomem ioports irq kallsyms kcore key-users keys kmsg
latency_stats locks modules mtrr pagetypeinfo partitions pressure sched_debug schedstat scsi slabinfo softirqs swaps sys sysrq-trigger
timer_list timer_stats tty vmallocinfo vmstat zoneinfo
"""  # noqa: E501
"""Below /proc; named because the engine may be on another machine."""
_KNOWN_OF_SYS = (
    "block",
    "bus",
    "class",
    "dev",
    "devices",
    "firmware",
    "hypervisor",
    "kernel",
    "module",
    "power",
)


def hidden_of_proc() -> list[str]:
    """The paths below /proc to hide, on this machine and others."""
    there = {name for name in os.listdir("/proc") if not name.isdigit()}
    return _paths("/proc", {*there, *_KNOWN.split()} - _SHOWN_OF_PROC)


def hidden_of_sys() -> list[str]:
    """The paths below /sys to hide, if /sys is visible at all."""
    folders = _paths("/sys", {*_listed("/sys"), *_KNOWN_OF_SYS} - _SHOWN_OF_SYS)
    return [*folders, *_paths("/sys/fs", _listed("/sys/fs") - _SHOWN_OF_FS)]


def _listed(folder: str) -> set[str]:
    return set(os.listdir(folder)) if os.path.isdir(folder) else set()


def _paths(folder: str, names: Iterable[str]) -> list[str]:
    return [f"{folder}/{name}" for name in sorted(names)]
