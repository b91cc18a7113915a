"""The self-check of a container: compares what the engine made with our options, before anything
runs in it.

Engines have defaults, plugins and proxies that add to what was requested. Options that weaken the
isolation are found in the engine's description of the container (`docker inspect`) and named by the
equivalent command-line flag.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandbox_worker.job_folder import INPUTS
from selfeng.core.errors import SandboxUnavailable

_REMEDY = (
    "look for what adds it: the engine's configuration, an authorization plugin, or a proxy "
    "before its socket"
)
_TMP = "/tmp"  # noqa: S108 - inside the container
_NAMELESS = re.compile("[0-9a-f]{64}|")
"""The name of a volume that nobody else has, given by the engine, and before it has one."""
_NAMESPACES = {"PidMode": "pid", "IpcMode": "ipc", "UTSMode": "uts", "UsernsMode": "userns"}
_OF_ITS_OWN = ("", "private", "none")
_UNDOING = ("unconfined", "disable", "false")
"""Endings of security options that remove protection."""
_ADDED = {
    "CapAdd": "cap-add",
    "DeviceCgroupRules": "device-cgroup-rule",
    "DeviceRequests": "gpus",
    "ExtraHosts": "add-host",
    "GroupAdd": "group-add",
    "Links": "link",
    "PortBindings": "publish",
    "Sysctls": "sysctl",
    "VolumesFrom": "volumes-from",
}


def check(account: Mapping[str, Any]) -> None:
    """Refuse a container that has more access than it should.

    Raises:
        SandboxUnavailable: the message names every flag.
    """
    if flags := list(unsafe_flags(account)):
        raise SandboxUnavailable(
            f"the engine made the sandbox's container with {', '.join(flags)}, so nothing is run "
            "in it",
            _REMEDY,
        )


def unsafe_flags(account: Mapping[str, Any]) -> Iterator[str]:
    """The flags in an engine's description of a container that weaken its isolation."""
    host = account.get("HostConfig") or {}
    if host.get("Privileged"):
        yield "--privileged"
    yield from (
        f"--{name}={host[field]}"
        for field, name in _NAMESPACES.items()
        if (host.get(field) or "") not in _OF_ITS_OWN
    )
    networks = {
        host.get("NetworkMode") or "default",
        *((account.get("NetworkSettings") or {}).get("Networks") or ()),
    }
    yield from (f"--network={name}" for name in sorted(networks - {"none"}))
    yield from (
        f"--security-opt={option}"
        for option in host.get("SecurityOpt") or ()
        if str(option).endswith(_UNDOING)
    )
    if host.get("MaskedPaths") == [] or host.get("ReadonlyPaths") == []:
        yield "--security-opt=systempaths=unconfined"
    for field, name in _ADDED.items():
        yield from (f"--{name}={_words(added)}" for added in host.get(field) or ())
    yield from (f"--device={device.get('PathOnHost')}" for device in host.get("Devices") or ())
    yield from _folders(account, host)
    yield from _kept_rights(account, host)


def _folders(account: Mapping[str, Any], host: Mapping[str, Any]) -> Iterator[str]:
    """The mounts other than /tmp and the large files, such as the engine's own socket; each mount
    once.
    """
    volumes = {str(bind) for bind in host.get("Binds") or ()}
    for mount in (*(host.get("Mounts") or ()), *(account.get("Mounts") or ())):
        source, target = (
            mount.get("Source") or mount.get("Name") or "",
            mount.get("Destination") or mount.get("Target"),
        )
        if not _is_ours(mount.get("Type"), target, mount.get("Name") or mount.get("Source") or ""):
            volumes.add(f"{source}:{target}")
    for volume in sorted(volumes):
        if not any(
            candidate != volume and candidate.startswith(f"{volume}:") for candidate in volumes
        ):
            yield f"--volume={volume}"
    yield from (f"--tmpfs={folder}" for folder in host.get("Tmpfs") or () if folder != _TMP)


def _is_ours(kind: str, target: str, name: str) -> bool:
    """Whether a mount is /tmp, or the volume of large files that no other container has."""
    is_inputs = (kind, target) == ("volume", INPUTS) and bool(_NAMELESS.fullmatch(name))
    return is_inputs or (kind, target) == ("tmpfs", _TMP)


def _kept_rights(account: Mapping[str, Any], host: Mapping[str, Any]) -> Iterator[str]:
    """The requested options that are missing."""
    if not host.get("CapDrop"):
        yield "no --cap-drop=ALL"
    if not host.get("ReadonlyRootfs"):
        yield "no --read-only"
    if str((account.get("Config") or {}).get("User") or "0").partition(":")[0] in ("0", "root"):
        yield "--user=root"
    if not host.get("Memory"):
        yield "no --memory"
    if (host.get("PidsLimit") or 0) <= 0:
        yield "no --pids-limit"
    if host.get("OomKillDisable"):
        yield "--oom-kill-disable"


def _words(added: object) -> str:
    return str(added.get("Driver") or "all") if isinstance(added, dict) else str(added)
