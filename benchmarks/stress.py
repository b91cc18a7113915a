"""The effect of 200 jobs at once on the sandbox and on the machine: `python -m benchmarks.stress
[JOBS]`, with `SANDBOX` as the backend.

Every second job is a verification, the others are executions. The last line is one JSON object:
`jobs`, and how many of them are `right`; `seconds` in all; `displacement`, the most places by which
a job finished before or after its turn, among those of its kind; `cancel_s`, the longest time from
the cancellation of a job that would never end until the process that it had forked was gone; and
what is there more than before the sandbox was made: `processes`, `containers`, `memory_mb` (of the
whole machine, without what the kernel could take back) and `disk_mb` (where the engine, or the
sandbox, keeps its files). The exit code is 1 if a goal is missed.

On Docker (bubblewrap) all 200 end as expected within 27 s (14 s), at most one place out of order,
or up to 11 on a machine so slow that another container is taken for jobs that wait; no processes,
containers or memory remain, and 0.3 MB (0) of disk. A cancelled job's processes are gone within
0.05 s.
"""

import asyncio
import gc
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

from docker.client import DockerClient
from docker.errors import DockerException

from benchmarks.goals import report
from benchmarks.ready import current_sandbox
from selfeng.core.settings import load_settings
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import docker_engine as ownership

CODE = "def tool(n=1): return n"
SUITE = "from tool import tool\ndef test_{n}(): assert tool({n}) == {n}\n"
ENDLESS = "import os, time\nos.fork()\ndef tool():\n    while True: time.sleep(0.01)\n"
ENDLESS_SUITE = "from tool import tool\ndef test_a(): tool()\n"
CANCELLATIONS = 5
GOALS = {"displacement": 1, "cancel_s": 0.5, "processes": 0, "containers": 0, "disk_mb": 1}
"""The largest allowed figures, on a machine with nothing else to do; all jobs must be right."""
_PATIENCE = 10.0
"""Seconds until the engine has tidied up behind itself."""


@dataclass(frozen=True)
class Baseline:
    processes: int
    containers: int
    memory_mb: float
    disk_mb: float


def main(jobs: int) -> int:
    figures = asyncio.run(_stress(jobs))
    return report(figures, GOALS, {"right": jobs})


async def _stress(jobs: int) -> dict[str, float]:
    await _once()  # so that what is loaded and kept once is there before
    before = _baseline()
    sandbox = SecureSandbox()
    sandbox.start()
    await sandbox.settle()
    finished: dict[str, list[int]] = {"verification": [], "execution": []}
    started = time.perf_counter()
    right = await asyncio.gather(*(_job(sandbox, number, finished) for number in range(jobs)))
    seconds = time.perf_counter() - started
    cancels = [await _cancelled(sandbox, kind) for kind in finished for _ in range(CANCELLATIONS)]
    await sandbox.aclose()
    left = _baseline()
    until = time.monotonic() + _PATIENCE
    while astuple(left) > astuple(before) and time.monotonic() < until:
        await asyncio.sleep(0.5)
        left = _baseline()
    return {
        "jobs": jobs,
        "right": sum(right),
        "seconds": round(seconds, 1),
        "displacement": max(
            abs(place - turn)
            for order in finished.values()
            for place, turn in enumerate(map(sorted(order).index, order))
        ),
        "cancel_s": round(max(cancels), 3),
        "processes": left.processes - before.processes,
        "containers": left.containers - before.containers,
        "memory_mb": round(left.memory_mb - before.memory_mb, 1),
        "disk_mb": round(left.disk_mb - before.disk_mb, 1),
    }


async def _once() -> None:
    sandbox = await current_sandbox()
    await asyncio.gather(
        *(_job(sandbox, number, {"verification": [], "execution": []}) for number in range(8))
    )
    await sandbox.aclose()


async def _job(sandbox: SecureSandbox, number: int, finished: dict[str, list[int]]) -> bool:
    """Whether it came to the right end."""
    if number % 2:
        verdict = await sandbox.verify(
            SandboxJob("tool", CODE, SUITE.format(n=number)), lambda result: None
        )
        finished["verification"].append(number)
        return verdict.passed and [test.test for test in verdict.tests] == [f"test_{number}"]
    outcome = await sandbox.execute(SandboxJob("tool", CODE), {"n": number})
    finished["execution"].append(number)
    return isinstance(outcome, Returned) and outcome.data == str(number)


async def _cancelled(sandbox: SecureSandbox, kind: str) -> float:
    """Seconds from the cancellation of an endless job until the process that it forked has gone."""
    await sandbox.settle()
    idle = _sandboxed()
    if kind == "execution":
        job: asyncio.Task[object] = asyncio.create_task(
            sandbox.execute(SandboxJob("tool", ENDLESS), {})
        )
    else:
        job = asyncio.create_task(
            sandbox.verify(SandboxJob("tool", ENDLESS, ENDLESS_SUITE), lambda result: None)
        )
    await _until(lambda: bool(_sandboxed() - idle))
    forked = _sandboxed() - idle
    started = time.perf_counter()
    job.cancel()
    await _until(lambda: not forked & _sandboxed())
    return time.perf_counter() - started


async def _until(condition: Callable[[], bool]) -> None:
    """Other sandboxes of the machine may keep it from coming true; `cancel_s` is large then."""
    end = time.monotonic() + _PATIENCE
    while not condition() and time.monotonic() < end:  # noqa: ASYNC110 - others report nothing
        await asyncio.sleep(0.005)


def _sandboxed() -> set[int]:
    """All processes that load the worker."""
    return {pid for pid in _pids() if b"sandbox_worker" in _command(pid)}


def _pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _baseline() -> Baseline:
    gc.collect()
    meminfo = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    used = int(meminfo["MemTotal"].split()[0]) - int(meminfo["MemAvailable"].split()[0])
    processes = sum(bool(_command(pid)) for pid in _pids())  # those of the kernel have none
    try:
        client = DockerClient.from_env()
        containers = len(client.containers.list(all=True, filters={"label": ownership.GROUP}))
        root = client.info()["DockerRootDir"]
        client.close()
    except DockerException:  # no engine answers, so bubblewrap is in force
        containers, root = 0, str(load_settings().data_dir)
    return Baseline(processes, containers, used / 1024, shutil.disk_usage(root).used / 2**20)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
