"""Facts about the machine are not visible in a container: a list has the visible files, so that
nothing new is forgotten.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.limits import hidden_of_proc
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind

SHOWN = [
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "mounts",
    "net",
    "self",
    "stat",
    "sysvipc",
    "thread-self",
    "uptime",
    "version",
]
OF_GVISOR = {"cgroups", "cmdline", "sentry-meminfo", "sys"}
"""The further files of its own kernel."""
LOOK = """
import os
def told(path):
    try:
        if os.path.isdir(path):
            return os.listdir(path)
        with open(path, errors="replace") as file:
            return file.read(1000)
    except OSError:
        return ""
"""


@pytest.fixture
async def sandbox(backend: Behind) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        timeout=20,
        executors=PoolSize(0, 0, 1),
        verifiers=PoolSize(0, 0, 1),
        comparers=PoolSize(0, 0, 1),
        **backend.options,
    )
    yield sandbox
    await sandbox.aclose()


async def run(sandbox: SecureSandbox, code: str, **arguments: object) -> object:
    outcome = await sandbox.execute(SandboxJob("tool", LOOK + code), arguments)
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


def tells_of_this_machine(backend: Behind, path: str, seen: object) -> bool:
    """gVisor's own kernel may say something else at the same place."""
    here: dict[str, Any] = {}
    exec(LOOK, here)
    return bool(seen) and (backend.name != "runsc" or seen == here["told"](path))


async def test_only_what_is_listed_of_proc_tells_anything(
    sandbox: SecureSandbox, backend: Behind
) -> None:
    code = (
        "def tool(): return sorted(n for n in os.listdir('/proc') if not n.isdigit() and "
        "told(f'/proc/{n}'))"
    )
    listed = {*SHOWN, *(OF_GVISOR if backend.name == "runsc" else ())}
    assert set(await run(sandbox, code)) <= listed  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "name",
    [
        "cmdline",
        "kallsyms",
        "sys",
        "modules",
        "config.gz",
        "diskstats",
        "bus/pci",
        "interrupts",
        "vmstat",
        "sys/kernel/random/boot_id",
        "sys/fs/file-nr",
        "sys/fs/inode-nr",
        "sys/kernel/ns_last_pid",
        "sys/kernel/hostname",
    ],
)
async def test_nothing_of_the_machine_is_told(
    sandbox: SecureSandbox, backend: Behind, name: str
) -> None:
    path = f"/proc/{name}"
    seen = await run(sandbox, "def tool(path): return told(path)", path=path)
    assert not tells_of_this_machine(backend, path, seen)


async def test_of_sys_nothing_but_the_containers_own_groups_can_be_read(
    sandbox: SecureSandbox, backend: Behind
) -> None:
    """On gVisor also its loopback, and the numbers of its processors."""
    code = """
def tool():
    found = []
    for folder, folders, files in os.walk("/sys"):
        found += [os.path.join(folder, name) for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]]
    return sorted({"/".join(path.split("/")[:4]) for path in found})
"""
    gvisor = {"/sys/class/net", "/sys/devices/system"} if backend.name == "runsc" else set()
    assert set(await run(sandbox, code)) <= {"/sys/fs/cgroup"} | gvisor  # type: ignore[call-overload]


def test_what_libraries_need_is_not_hidden() -> None:
    assert not {f"/proc/{name}" for name in SHOWN} & set(hidden_of_proc())
