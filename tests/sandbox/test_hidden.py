"""What tells of the machine is not seen in a container: by list is what may be seen, so that
nothing new is forgotten.
"""

import json
from collections.abc import AsyncIterator

import pytest

from selfeng.core.verdict import Returned
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
LOOK = """
import os
def told(path):
    try:
        if os.path.isdir(path):
            return os.listdir(path)
        return open(path, "rb").read(10)
    except OSError:
        return b""
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
    outcome = await sandbox.execute("tool", LOOK + code, arguments)
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


async def test_only_what_is_listed_of_proc_tells_anything(sandbox: SecureSandbox) -> None:
    code = (
        "def tool(): return sorted(n for n in os.listdir('/proc') if not n.isdigit() and "
        "told(f'/proc/{n}'))"
    )
    assert set(await run(sandbox, code)) <= set(SHOWN)  # type: ignore[call-overload]


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
    ],
)
async def test_nothing_of_the_machine_is_told(sandbox: SecureSandbox, name: str) -> None:
    assert not await run(sandbox, "def tool(path): return len(told(path))", path=f"/proc/{name}")


async def test_of_sys_nothing_but_the_containers_own_groups_can_be_read(
    sandbox: SecureSandbox,
) -> None:
    code = """
def tool():
    found = []
    for folder, folders, files in os.walk("/sys"):
        found += [os.path.join(folder, name) for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]]
    return sorted({"/".join(path.split("/")[:4]) for path in found})
"""
    assert set(await run(sandbox, code)) <= {"/sys/fs/cgroup"}  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "name",
    ["kernel/random/boot_id", "fs/file-nr", "fs/inode-nr", "kernel/ns_last_pid", "kernel/hostname"],
)
async def test_no_setting_or_count_of_the_machine_is_told(
    sandbox: SecureSandbox, name: str
) -> None:
    assert not await run(
        sandbox, "def tool(path): return len(told(path))", path=f"/proc/sys/{name}"
    )


def test_what_libraries_need_is_not_hidden() -> None:
    assert not {f"/proc/{name}" for name in SHOWN} & set(hidden_of_proc())
