"""Permanent changes of a container reach no other owner: an executor or a comparer serves one."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from selfeng.core.owner import owned_by
from selfeng.core.verdict import Returned, SandboxJob, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind
from tests.sandbox.conftest import Containers

NUMBER = 23
TRACES = {
    "flags of a folder": (
        """
import fcntl, os, struct
def tool(number):
    here = os.open("/tmp", os.O_RDONLY)
    try:
        if number:
            fcntl.ioctl(here, 0x40086602, struct.pack("l", 0x80 | 0x40))
        return struct.unpack("l", fcntl.ioctl(here, 0x80086601, bytes(8)))[0]
    except OSError as error:
        return error.errno
"""
    ),
    "numbers of inodes": (
        """
import os
def tool(number):
    for n in range(number * 50):
        open(f"/tmp/{n}", "w").close()
    open("/tmp/last", "w").close()
    return os.stat("/tmp/last").st_ino - os.stat("/tmp").st_ino
"""
    ),
    "numbers of processes": (
        """
import os
def tool(number):
    for _ in range(number):
        if (pid := os.fork()) == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    return os.getpid() // 20  # a few more or less are the engine's own
"""
    ),
    "the most memory of a container": (
        """
import os
def tool(number):
    filled = bytearray(number * 4 * 1024 * 1024)
    for place in range(0, len(filled), 4096):
        filled[place] = 1
    for path in ("/sys/fs/cgroup/memory.peak", "/sys/fs/cgroup/memory/memory.max_usage_in_bytes"):
        if os.path.exists(path):
            return int(open(path).read()) // (32 * 1024 * 1024)
    return 0
"""
    ),
}


@pytest.fixture
async def sandbox(backend: Behind) -> AsyncIterator[SecureSandbox]:
    """A sandbox with a single container for each mode."""
    one = PoolSize(least=0, ready=1, most=1)
    sandbox = SecureSandbox(
        timeout=20, executors=one, verifiers=one, comparers=one, **backend.options
    )
    yield sandbox
    await sandbox.aclose()


async def run(sandbox: SecureSandbox, owner: str, code: str, number: int) -> object:
    with owned_by(owner):
        outcome = await sandbox.execute(SandboxJob("tool", code), {"number": number})
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


@pytest.mark.parametrize("code", TRACES.values(), ids=TRACES.keys())
async def test_no_number_passes_from_one_owner_to_another(
    sandbox: SecureSandbox, code: str
) -> None:
    first = await run(sandbox, "first", code, 0)
    await run(sandbox, "one", code, NUMBER)
    assert await run(sandbox, "another", code, 0) == first


async def test_an_executor_ends_before_another_owner_comes(
    sandbox: SecureSandbox, containers: Containers
) -> None:
    seen: list[set[str]] = []
    for owner in ("one", "one", "another", "one", ""):
        await run(sandbox, owner, "def tool(number): return number", 1)
        await sandbox.settle()
        seen.append(await asyncio.to_thread(containers, sandbox))
    assert seen[0] == seen[1]
    assert all(not earlier & later for earlier, later in pairwise(seen[1:]))


async def test_a_comparer_ends_before_another_owner_comes(
    sandbox: SecureSandbox, containers: Containers
) -> None:
    suite = "from tool import tool\ndef test_a(): assert tool(1) == 1"
    seen: list[set[str]] = []
    for owner in ("one", "one", "another", "one", ""):
        with owned_by(owner):
            [verdict] = await sandbox.verify_versions(
                SandboxJob("tool", tests=suite),
                [Version(code="def tool(number): return number", apart=False)],
            )
        assert verdict.passed
        await sandbox.settle()
        seen.append(await asyncio.to_thread(containers, sandbox))
    assert seen[0] == seen[1]
    assert all(not earlier & later for earlier, later in pairwise(seen[1:]))


async def test_owners_at_once_never_share_an_executor(backend: Behind) -> None:
    sandbox = SecureSandbox(
        timeout=20,
        executors=PoolSize(1, 2, 2, patience=0.05),
        verifiers=PoolSize(0, 0, 1),
        comparers=PoolSize(0, 0, 1),
        **backend.options,
    )
    code = (
        "import os\ndef tool(number):\n    os.stat('/tmp/files')\n    return [number, os.getpid()]"
    )
    jobs = (run(sandbox, owner, code, number) for number, owner in enumerate(("a", "b", "c") * 6))
    assert [found[0] for found in await asyncio.gather(*jobs) if isinstance(found, list)] == list(
        range(18)
    )
    await sandbox.aclose()
