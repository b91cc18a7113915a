"""Calls with limits beyond the usual ones, which a person allowed, and the lines that they print."""

import asyncio
from collections.abc import Callable

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.settings import load_settings
from selfeng.core.verdict import CallLimits, Execution, Killed, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.sandbox_options import SandboxOptions

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORKS = """
import time
def tool(seconds):
    while time.process_time() < seconds:
        pass
    return seconds
"""
FILLS = """
def tool(memory, files):
    block = bytearray(memory * 2**20)
    with open("large", "wb") as file:
        for _ in range(files):
            file.write(bytes(2**20))
    import os
    os.remove("large")
    return len(block) // 2**20
"""
PRINTS = """
import sys, time
def tool(seconds):
    for number in range(10 * seconds):
        print(f"{number} of {10 * seconds}")
        time.sleep(0.1)
    print("é\\u202e" * 500, file=sys.stderr)
    time.sleep(1.5)
    return "done"
"""
WAITS = "import time\ndef tool(seconds):\n    time.sleep(seconds)\n    return seconds\n"


async def call(
    sandbox: SecureSandbox,
    code: str,
    limits: CallLimits | None,
    on_line: Callable[[str, int], object] | None = None,
    **arguments: object,
) -> Execution:
    job = SandboxJob("tool", code, limits=limits, on_line=on_line, session="one")
    return await sandbox.execute(job, arguments)


async def test_a_call_works_longer_where_it_is_allowed(hasty: SecureSandbox) -> None:
    usual = await call(hasty, WORKS, None, seconds=2)
    allowed = await call(hasty, WORKS, CallLimits(seconds=20), seconds=2)
    longer = await call(hasty, WORKS, CallLimits(seconds=2), seconds=4)
    assert isinstance(usual, Killed)
    assert usual.reason == "It used 1 s of processor time."
    assert isinstance(allowed, Returned), allowed
    assert isinstance(longer, Killed)
    assert longer.reason == "It used 2 s of processor time."


async def test_a_call_has_more_memory_and_files_where_they_are_allowed(
    sandbox: SecureSandbox,
) -> None:
    usual = await call(sandbox, FILLS, None, memory=400, files=0)
    allowed = await call(sandbox, FILLS, CallLimits(memory=600, space=100), memory=400, files=90)
    assert usual.outcome != "returned"
    assert isinstance(allowed, Returned), allowed
    assert allowed.data == "400"
    full = await call(sandbox, FILLS, CallLimits(memory=600), memory=1, files=90)
    assert full.outcome == "raised"


async def test_its_container_serves_no_other_call(
    sandbox: SecureSandbox, containers: Callable[[SecureSandbox], set[str]]
) -> None:
    for _ in range(2):
        outcome = await call(sandbox, WAITS, CallLimits(seconds=60), seconds=0)
        assert isinstance(outcome, Returned), outcome
    layers = [layer for layer in sandbox._layers.values() if layer.timeout == 60]
    (layer,) = layers
    await layer.settle()
    assert containers(layer) == set()


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (CallLimits(seconds=301), "301 s, and gets at most 300 s here .CALL_MAX_SECONDS"),
        (CallLimits(memory=900, space=200), "1068 MB, and gets at most 1000 MB here .a quarter"),
    ],
)
async def test_what_is_more_than_the_machine_gives_is_refused(
    limits: CallLimits | None, named: str
) -> None:
    options = SandboxOptions.from_settings(load_settings())
    sandbox = SecureSandbox(options, most_seconds=300.0, most_memory_mb=1000)
    with pytest.raises(RequestError, match=named) as refused:
        await call(sandbox, WAITS, limits, seconds=0)
    assert refused.value.remedy
    await sandbox.aclose()


async def test_the_newest_line_is_told_about_once_a_second(sandbox: SecureSandbox) -> None:
    told: list[tuple[str, int]] = []
    outcome = await call(sandbox, PRINTS, None, lambda *said: told.append(said), seconds=3)
    assert isinstance(outcome, Returned), outcome
    lines, last = [line for line, _ in told[:-1]], told[-1][0]
    assert 2 <= len(lines) <= 4, lines
    numbers = [int(line.removesuffix(" of 30")) for line in lines]
    assert numbers == sorted(set(numbers))
    assert last.startswith("é\\u202eé")
    assert len(last) < 1500
    assert {place for _, place in told} == {0}


async def test_calls_that_may_take_long_wait_for_their_place(sandbox: SecureSandbox) -> None:
    places: list[tuple[str, int]] = []
    limits = CallLimits(seconds=60)
    first = [asyncio.create_task(call(sandbox, WAITS, limits, seconds=2)) for _ in range(2)]
    await asyncio.sleep(0)
    waiting = [
        asyncio.create_task(
            call(sandbox, WAITS, limits, lambda _, place, n=n: places.append((n, place)), seconds=0)
        )
        for n in ("third", "cancelled", "last")
    ]
    await asyncio.sleep(0)
    assert places == [("third", 1), ("cancelled", 2), ("last", 3)]
    usual = await call(sandbox, WAITS, None, seconds=0)
    assert isinstance(usual, Returned)
    assert not any(task.done() for task in (*first, *waiting))
    waiting[1].cancel()
    results = await asyncio.gather(*first, waiting[0], waiting[2])
    assert [r.outcome for r in results] == ["returned"] * 4
    assert ("last", 2) in places
