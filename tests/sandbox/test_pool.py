"""Containers that are ready before the job: they are replaced, follow the demand, and outlive
neither trouble nor their server.
"""

import asyncio
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import AsyncIterator

import pytest

from selfeng.core.errors import SandboxError, SandboxUnavailable
from selfeng.core.owner import owned_by
from selfeng.core.verdict import Returned, SandboxJob, Verdict, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind
from tests.sandbox.conftest import Containers

CODE = "def tool(n=1): return n"
SUITE = "from tool import tool\ndef test_a(): assert tool() == 1"
HANGING = SUITE + "\ndef test_b():\n    import time\n    time.sleep(1000)"
SLEEPING = "import time\ndef tool(): time.sleep(1000)"
NONE = PoolSize(least=0, ready=0, most=2)


def with_executors(backend: Behind, size: PoolSize) -> SecureSandbox:
    """A sandbox for executions alone."""
    return SecureSandbox(
        timeout=20, verifiers=NONE, comparers=NONE, executors=size, **backend.options
    )


@pytest.fixture
async def verifiers(backend: Behind, containers: Containers) -> AsyncIterator[SecureSandbox]:
    """A sandbox with one verifier that is ready."""
    sandbox = SecureSandbox(
        timeout=20,
        patience=20,
        verifiers=PoolSize(least=1, ready=2, most=3),
        executors=NONE,
        comparers=NONE,
        **backend.options,
    )
    sandbox.start()
    await sandbox.settle()
    yield sandbox
    await sandbox.aclose()
    assert containers(sandbox) == set()


@pytest.fixture
async def executors(backend: Behind, containers: Containers) -> AsyncIterator[SecureSandbox]:
    """A sandbox with one executor that is ready, and room for another."""
    sandbox = with_executors(backend, PoolSize(least=1, ready=2, most=2, patience=0.05))
    sandbox.start()
    await sandbox.settle()
    yield sandbox
    await sandbox.aclose()
    assert containers(sandbox) == set()


async def verify(sandbox: SecureSandbox) -> bool:
    return (await sandbox.verify(SandboxJob("tool", CODE, SUITE), lambda result: None)).passed


async def test_making_and_starting_a_sandbox_waits_for_nothing(
    backend: Behind, containers: Containers
) -> None:
    sandbox = SecureSandbox(timeout=20, **backend.options)
    sandbox.start()
    assert containers(sandbox) == set()
    await sandbox.aclose()
    assert containers(sandbox) == set()


async def test_a_verifier_serves_once_and_is_replaced(
    verifiers: SecureSandbox, containers: Containers
) -> None:
    [first] = containers(verifiers)
    assert await verify(verifiers)
    await verifiers.settle()
    [second] = containers(verifiers)
    assert second != first


@pytest.mark.extended
async def test_as_many_stand_ready_as_were_wanted_at_once(
    verifiers: SecureSandbox, containers: Containers
) -> None:
    assert await asyncio.gather(*(verify(verifiers) for _ in range(5))) == [True] * 5
    await verifiers.settle()
    assert len(containers(verifiers)) == 2
    verifiers._verifiers._shrink()
    verifiers._verifiers._shrink()
    await verifiers.settle()
    assert len(containers(verifiers)) == 1


async def test_a_ready_container_that_was_killed_is_passed_over(
    verifiers: SecureSandbox, executors: SecureSandbox, backend: Behind, containers: Containers
) -> None:
    for sandbox in (verifiers, executors):
        for container in containers(sandbox):
            await asyncio.to_thread(backend.kill, container)
    for container in (*verifiers._verifiers._ready, *executors._executors._ready):
        assert await asyncio.to_thread(select.select, [container.stream.socket], [], [], 10) != (
            [],
            [],
            [],
        )
    assert await verify(verifiers)
    assert isinstance(await executors.execute(SandboxJob("tool", CODE), {}), Returned)


async def test_a_cancelled_verification_is_gone_within_a_second(
    verifiers: SecureSandbox, containers: Containers, backend: Behind
) -> None:
    before = containers(verifiers)
    running = asyncio.Event()
    job = asyncio.create_task(
        verifiers.verify(SandboxJob("tool", CODE, HANGING), lambda result: running.set())
    )
    await running.wait()
    job.cancel()
    async with asyncio.timeout(1):
        with pytest.raises(asyncio.CancelledError):
            await job
    if backend.name == "runsc":  # whose removal takes longer than a cancelled task waits
        await verifiers.settle()
    assert not before & containers(verifiers)


async def test_a_cancelled_execution_is_gone_within_a_second(
    executors: SecureSandbox, containers: Containers, backend: Behind
) -> None:
    before = containers(executors)
    job = asyncio.create_task(executors.execute(SandboxJob("tool", SLEEPING), {}))
    await asyncio.sleep(0)
    job.cancel()
    async with asyncio.timeout(1):
        with pytest.raises(asyncio.CancelledError):
            await job
    if backend.name == "runsc":  # whose removal takes longer than a cancelled task waits
        await executors.settle()
    assert not before & containers(executors)
    assert isinstance(await executors.execute(SandboxJob("tool", CODE), {}), Returned)


async def test_tools_that_come_back_within_the_patience_do_not_make_the_pool_grow(
    backend: Behind, containers: Containers
) -> None:
    sandbox = with_executors(backend, PoolSize(least=0, ready=2, most=2, patience=60))
    await asyncio.gather(*(sandbox.execute(SandboxJob("tool", CODE), {}) for _ in range(20)))
    await sandbox.settle()
    assert len(containers(sandbox)) == 1
    await sandbox.aclose()


async def test_people_who_come_at_once_get_the_reserve(
    backend: Behind, containers: Containers
) -> None:
    size = PoolSize(least=0, ready=1, most=3, kept=9, reserve=3, patience=60)
    sandbox = with_executors(backend, size)

    async def call(person: str) -> None:
        with owned_by(person):
            assert isinstance(await sandbox.execute(SandboxJob("tool", CODE), {}), Returned)

    await sandbox.settle()
    before = containers(sandbox)
    assert len(before) == 3
    await asyncio.gather(*(call(f"person {number}") for number in range(3)))
    assert containers(sandbox) == before
    await sandbox.settle()
    whole = containers(sandbox)
    assert before < whole
    assert len(whole) == 6
    await asyncio.gather(*(call("person 0") for _ in range(20)))
    await sandbox.settle()
    assert containers(sandbox) == whole, "a person took of the reserve while their own came back"
    await sandbox.aclose()


async def test_containers_go_that_only_a_crowd_needed(
    backend: Behind, containers: Containers
) -> None:
    sandbox = with_executors(backend, PoolSize(least=1, ready=3, most=3, kept=3, idle=0.5))
    slow = SandboxJob("tool", "import time\ndef tool(): time.sleep(0.5)")
    await asyncio.gather(*(sandbox.execute(slow, {}) for _ in range(3)))
    await sandbox.settle()
    assert len(containers(sandbox)) >= 3
    async with asyncio.timeout(30):
        while len(containers(sandbox)) > 2:  # the one in use, and an unused one
            await sandbox.execute(SandboxJob("tool", CODE), {})
            await asyncio.sleep(0.1)
    await sandbox.aclose()


async def test_slow_tools_make_the_pool_grow(
    executors: SecureSandbox, containers: Containers
) -> None:
    slow = asyncio.create_task(executors.execute(SandboxJob("tool", SLEEPING), {}))
    await asyncio.sleep(0)
    assert isinstance(await executors.execute(SandboxJob("tool", CODE), {}), Returned)
    assert len(containers(executors)) == 2
    slow.cancel()
    await asyncio.wait([slow])


@pytest.mark.extended
async def test_two_hundred_jobs_at_once_finish_in_order_and_leave_nothing(
    backend: Behind, containers: Containers
) -> None:
    sandbox = SecureSandbox(timeout=20, verifiers=NONE, comparers=NONE, **backend.options)
    threads = {t for t in threading.enumerate() if t.name.startswith("sandbox")}
    finished = []

    async def job(number: int) -> None:
        outcome = await sandbox.execute(SandboxJob("tool", CODE), {"n": number})
        assert isinstance(outcome, Returned)
        assert outcome.data == str(number)
        finished.append(number)

    await asyncio.gather(
        *(job(number) for number in range(200)), *(verify(sandbox) for _ in range(4))
    )
    assert sorted(finished) == list(range(200))
    assert max(abs(number - place) for place, number in enumerate(finished)) < 8
    await sandbox.aclose()
    assert containers(sandbox) == set()
    assert {t for t in threading.enumerate() if t.name.startswith("sandbox")} == threads


async def test_who_gives_up_waiting_holds_nobody_up(backend: Behind) -> None:
    sandbox = SecureSandbox(
        timeout=20,
        executors=NONE,
        comparers=NONE,
        verifiers=PoolSize(least=0, ready=0, most=1),
        **backend.options,
    )
    jobs = [asyncio.create_task(verify(sandbox)) for _ in range(2)]
    await asyncio.sleep(0)
    jobs[1].cancel()
    closing = asyncio.create_task(sandbox.aclose())
    assert await jobs[0]
    async with asyncio.timeout(10):
        await closing


async def test_a_sandbox_can_be_closed_while_a_container_is_held_up(
    backend: Behind, containers: Containers
) -> None:
    """The job in it ends too, long before its time is up."""
    sandbox = SecureSandbox(
        timeout=1000, verifiers=NONE, executors=NONE, comparers=NONE, **backend.options
    )
    running = asyncio.Event()
    jobs = [
        asyncio.create_task(
            sandbox.verify(SandboxJob("tool", CODE, HANGING), lambda result: running.set())
        ),
        asyncio.create_task(sandbox.execute(SandboxJob("tool", SLEEPING), {})),
    ]
    await running.wait()
    for container in await asyncio.to_thread(containers, sandbox):
        await asyncio.to_thread(backend.hold_up, container)
    await sandbox.aclose(grace=0)
    assert await asyncio.to_thread(containers, sandbox) == set()
    for outcome in await asyncio.gather(*jobs, return_exceptions=True):
        assert isinstance(outcome, SandboxError), outcome
    await sandbox.aclose()  # the looks at what became of the containers had the engine again


async def test_a_closed_sandbox_says_so(backend: Behind) -> None:
    sandbox = SecureSandbox(timeout=20, **backend.options)
    await sandbox.aclose()
    with pytest.raises(SandboxUnavailable, match="the sandbox was closed"):
        await sandbox.execute(SandboxJob("tool", CODE), {})


SERVER = """
import asyncio, json, sys
from pathlib import Path
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
async def main():
    options = {name: Path(value) if name == "folder" else value for name, value in json.loads(sys.argv[1]).items()}
    sandbox = SecureSandbox(timeout=20, executors=PoolSize(), **options)
    sandbox.start()
    await sandbox.settle()
    print(sandbox.id, flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""


@pytest.mark.extended
async def test_ready_containers_end_with_their_server_and_go_at_the_next_start(
    verifiers: SecureSandbox, backend: Behind
) -> None:
    options, environment = backend.of_processes
    told = json.dumps(dict(options), default=str)
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, told),
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
    )
    assert server.stdout
    group = (await server.stdout.readline()).decode().strip()
    left = await asyncio.to_thread(backend.containers, group)
    assert len(left) == 3
    server.kill()
    await server.wait()
    await asyncio.to_thread(backend.await_end, left)
    await verifiers.reap()
    assert await asyncio.to_thread(backend.containers, group) == set()


async def test_versions_of_a_tool_take_turns(verifiers: SecureSandbox) -> None:
    wrong, stub, hostile = (
        "def tool(): return 2",
        "def tool(): raise NotImplementedError",
        "import os\ndef tool(): os._exit(0)",
    )
    loop = "def tool():\n    while True: pass"
    codes = [CODE, CODE, stub, wrong, hostile, loop, CODE, "def tool(:", CODE]
    verdicts: tuple[Verdict, ...] = await verifiers.verify_versions(
        SandboxJob("tool", tests=SUITE), [Version(code=code) for code in codes], timeout=1
    )
    assert [v.passed for v in verdicts] == [
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        False,
        True,
    ]
    assert [v.problem for v in verdicts if not v.passed][2:] == [
        "The tool's process ended itself with exit code 0, in test_a.",
        "It used 1 s of processor time, in test_a.",
        "The code has a syntax error in line 1: invalid syntax: def tool(:",
    ]


async def test_versions_that_run_apart_feel_nothing_of_each_other(verifiers: SecureSandbox) -> None:
    code = """
import os, sys
BEFORE = [os.path.exists("/tmp/left"), "LEFT" in os.environ, hasattr(sys, "left"), len([p for p in os.listdir("/proc") if p.isdigit()])]
os.environ["LEFT"], sys.left = "1", 1
open("/tmp/left", "w").close()
if os.fork() == 0:
    os.setsid()
    import time
    time.sleep(1000)
def tool(): return BEFORE
"""
    suite = "from tool import tool\ndef test_a(): assert tool() == [False, False, False, 3]"
    verdicts = await verifiers.verify_versions(
        SandboxJob("tool", tests=suite), [Version(code=code)] * 3
    )
    assert [(v.passed, v.problem) for v in verdicts] == [(True, None)] * 3


async def test_versions_that_take_turns_have_fresh_modules(verifiers: SecureSandbox) -> None:
    """Of suite and tool alike; what a version does to the interpreter stays."""
    code = "SEEN = []\ndef tool():\n    SEEN.append(1)\n    return len(SEEN)"
    suite = (
        "from tool import tool\nCALLS = []\ndef test_a():\n    CALLS.append(1)\n    assert "
        "tool() == len(CALLS) == 1"
    )
    verdicts = await verifiers.verify_versions(
        SandboxJob("tool", tests=suite), [Version(code=code, apart=False)] * 6
    )
    assert [(v.passed, v.problem) for v in verdicts] == [(True, None)] * 6


async def test_a_version_that_ends_the_processes_costs_the_others_nothing(
    verifiers: SecureSandbox,
) -> None:
    loop, crash = "def tool():\n    while True: pass", "import os\ndef tool(): os._exit(0)"
    versions = [
        Version(code=source, apart=False)
        for source in (CODE, CODE, loop, crash, CODE, CODE, "def tool(:", CODE, CODE)
    ]
    verdicts = await verifiers.verify_versions(SandboxJob("tool", tests=SUITE), versions, timeout=1)
    assert [v.passed for v in verdicts] == [True, True, False, False, True, True, False, True, True]


async def test_a_version_that_never_ends_is_stopped_and_the_next_uses_its_processes(
    verifiers: SecureSandbox,
) -> None:
    loop = "def tool():\n    while True:\n        try: pass\n        except OSError: pass"
    versions = [Version(code=source, apart=False) for source in (loop, CODE, loop, CODE)]
    before = verifiers.ready
    verdicts = await verifiers.verify_versions(
        SandboxJob("tool", tests=SUITE), versions, timeout=0.2
    )
    assert [(v.passed, v.problem) for v in verdicts] == [(False, None), (True, None)] * 2
    assert "TimeoutError: it takes too long" in verdicts[0].tests[0].message
    assert verifiers.ready >= before - 1
