"""The limits of a sandbox container, and the engine's options that set them."""

from dataclasses import dataclass
from typing import Any

from src.core.packages import sandbox_packages

_USER = 65534
_MB = 1024 * 1024

ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp/.matplotlib",  # noqa: S108
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    "SANDBOX_PACKAGES": " ".join(sandbox_packages()),
}
"""What foreign code finds in its environment; one thread per library, since more would only wait for the one CPU."""


@dataclass(frozen=True)
class ContainerLimits:
    """What one container may use. Everything else (network, privileges, writable files) it does not get at all."""

    memory_mb: int = 256
    """Memory and tmpfs together; there is no swap."""
    cpus: float = 1.0
    processes: int = 64
    files: int = 128
    """Open files of a process."""
    tmp_mb: int = 32
    """Size of /tmp, the only folder that can be written to."""
    tmp_files: int = 4096
    """Files and folders in /tmp."""


def container_options(limits: ContainerLimits) -> dict[str, Any]:
    """Arguments for the Docker SDK's `containers.create`."""
    tmp = f"rw,nosuid,nodev,noexec,size={limits.tmp_mb * _MB},nr_inodes={limits.tmp_files},uid={_USER},gid={_USER},mode=0700"
    return {
        "user": f"{_USER}:{_USER}",
        "working_dir": "/tmp",  # noqa: S108 - inside the container
        "hostname": "sandbox",
        "environment": ENVIRONMENT,
        "use_config_proxy": False,  # the addresses of proxies may hold passwords
        "stdin_open": True,
        "stop_signal": "SIGKILL",  # the judge takes no other, and an engine that shuts down would wait for it
        "tty": False,
        "init": False,
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "tmpfs": {"/tmp": tmp},  # noqa: S108
        "mem_limit": limits.memory_mb * _MB,
        "memswap_limit": limits.memory_mb * _MB,
        "nano_cpus": int(limits.cpus * 1_000_000_000),
        "pids_limit": limits.processes,
        "ulimits": [
            {"Name": "core", "Soft": 0, "Hard": 0},
            {"Name": "msgqueue", "Soft": 0, "Hard": 0},  # a POSIX queue would outlive its process, and the call
            {"Name": "nofile", "Soft": limits.files, "Hard": limits.files},
        ],
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "privileged": False,
        "log_config": {"Type": "none", "Config": {}},
    }
