"""SandboxOptions, and the backend that they choose."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from selfeng.core.errors import ConfigurationError, RequestError
from selfeng.core.files import FileLimits
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import provided
from selfeng.core.settings import Settings
from selfeng.core.system import WSL, memory_mb
from selfeng.core.verdict import CallLimits
from selfeng.sandboxes.backend import AutoBackend, Backend
from selfeng.sandboxes.limits import ContainerLimits
from selfeng.sandboxes.pool import PoolSize

GROUP = "selfeng.sandboxes"
"""Entry points of installed packages: functions of SandboxOptions that make a Backend."""
VERIFIERS = PoolSize(least=1, ready=4, most=8)
"""A verifier takes one job, so one more is ready than in use."""
COMPARERS = PoolSize(least=1, ready=4, most=8, patience=0.1)
"""Comparers come back when the last version of a suite has ended."""
_IDLE_MB = 20
"""Memory of an executor that waits; 18 on bubblewrap, what it shares with others counted once."""
EXECUTORS = PoolSize(
    least=1,
    ready=4,
    most=8,
    kept=min(56, memory_mb() // 8 // _IDLE_MB),
    idle=300,
    reserve=min(48, memory_mb() // 24 // _IDLE_MB),
    patience=0.1,
)
"""Executors come back within milliseconds, unless their tools are slow. Those that are kept for
people who asked lately, and may think for a minute or two before they ask again, have an eighth of
the machine's memory; a third of that is for the reserve, of which nobody has used one.
"""
_OF_A_LONG_CALL = PoolSize(least=0, ready=0, most=8)


@dataclass(frozen=True)
class SandboxOptions:
    image: str
    timeout: float
    """Seconds of processor time that one run may use."""
    folder: Path
    """For what bubblewrap needs on disk."""
    backend: str | Backend = "auto"
    """`docker`, `bubblewrap`, `auto` for the first of them that works, the name of one that an
    installed package provides, or a backend.
    """
    base_image: str | None = None
    runtime: str | None = None
    """A runtime that the Docker engine knows; None is its default."""
    docker_hosts: Sequence[str] = ()
    """Several Docker engines, as DOCKER_HOST names one."""
    files: FileLimits = field(default_factory=FileLimits)
    limits: ContainerLimits = field(default_factory=ContainerLimits)
    lock: PackageLock | None = None
    """Further packages; `build_image` makes a layer for them."""
    patience: float = 3.0
    """How many times as long a run may wait; one that works slowly, on a busy machine, may take
    twice that.
    """
    verifiers: PoolSize = field(default_factory=lambda: VERIFIERS)
    comparers: PoolSize = field(default_factory=lambda: COMPARERS)
    executors: PoolSize = field(default_factory=lambda: EXECUTORS)
    long_calls: bool = False
    """Whether each call has a container of its own, and one try."""
    most_seconds: float = 3600.0
    """Of processor time, that a person may allow a call."""
    most_memory_mb: int = memory_mb() // 4
    """That a person may allow a call, with the files in its folder."""

    @classmethod
    def from_settings(cls, settings: Settings) -> "SandboxOptions":
        return cls(
            image=settings.docker_image_name,
            timeout=settings.docker_timeout,
            folder=settings.parts / "sandbox",
            backend=settings.sandbox,
            base_image=settings.base_image,
            runtime=settings.sandbox_runtime,
            docker_hosts=settings.docker_hosts,
            files=settings.result_limits,
            most_seconds=settings.call_max_seconds,
        )

    def for_call(self, more: CallLimits) -> dict[str, Any]:
        """The changes for calls that a person allowed more than usual.

        Raises:
            RequestError: it is more than a call gets here.
        """
        usual, seconds = self.limits, max(more.seconds or 0, self.timeout)
        more_space = max(0, (more.space or 0) - usual.tmp_mb)
        memory = max(more.memory or 0, usual.memory_mb) + more_space
        quarter = "a quarter of this machine's memory"
        for amount, most, unit, setting, remedy in (
            (more.seconds or 0, self.most_seconds, "s", "CALL_MAX_SECONDS", "raise that"),
            (memory, self.most_memory_mb, "MB", quarter, "use a machine with more"),
        ):
            if amount > most:
                raise RequestError(
                    f"a call of the tool would use {amount:g} {unit}, and gets at most {most:g} "
                    f"{unit} here ({setting})",
                    f"have the tool do less at once, or {remedy}",
                    cause="limits",
                    amount=f"{amount:g} {unit}",
                    most=f"{most:g} {unit}",
                    setting="memory" if unit == "MB" else setting,
                )
        return {
            "long_calls": True,
            "timeout": seconds,
            "limits": replace(usual, memory_mb=memory, tmp_mb=usual.tmp_mb + more_space),
            "executors": _OF_A_LONG_CALL,
        }


def _docker(o: SandboxOptions) -> Backend:
    # Its SDK takes a quarter of a second to import, which is for nothing where bubblewrap is used.
    from selfeng.sandboxes.docker import DockerBackend

    make = partial(DockerBackend, o.image, o.base_image, o.limits, o.runtime, lock=o.lock)
    if not o.docker_hosts:
        return make()
    from selfeng.sandboxes.docker_hosts import DockerHosts

    return DockerHosts(o.docker_hosts, make)


def _bubblewrap(o: SandboxOptions) -> Backend:
    from selfeng.sandboxes.bubblewrap import BubblewrapBackend

    return BubblewrapBackend(o.folder, o.limits, lock=o.lock)


_BACKENDS: dict[str, Callable[[SandboxOptions], Backend]] = {
    "docker": _docker,
    "bubblewrap": _bubblewrap,
}
"""The backends by name, the best first."""


def chosen_backend(options: SandboxOptions) -> Backend:
    """The backend that the options ask for.

    Raises:
        ConfigurationError: the backend is unknown, or does not support runtimes or hosts, or this
            system.
    """
    name, runtime = options.backend, options.runtime
    if not isinstance(name, str):
        return name
    if name == "bubblewrap" and sys.platform != "linux":
        raise ConfigurationError(
            "SANDBOX=bubblewrap needs Linux",
            f"set SANDBOX to docker and start Docker Desktop; or on Windows {WSL}",
        )
    if runtime and name not in ("auto", "docker"):
        raise ConfigurationError(
            f"SANDBOX_RUNTIME={runtime!r} needs Docker",
            "set SANDBOX to docker, or SANDBOX_RUNTIME to nothing",
        )
    if options.docker_hosts and name not in ("auto", "docker"):
        raise ConfigurationError(
            "DOCKER_HOSTS needs Docker", "set SANDBOX to docker, or DOCKER_HOSTS to nothing"
        )
    if name == "auto" and (runtime or options.docker_hosts or sys.platform != "linux"):
        name = "docker"  # a request for more isolation, or for other machines, must not get less
    if name == "auto":
        return AutoBackend([make(options) for make in _BACKENDS.values()])
    make = _BACKENDS.get(name) or provided(GROUP, name, "SANDBOX", ("auto", *_BACKENDS))
    backend: Backend = make(options)
    return backend
