"""How fast the sandbox is, as ratios to bare pytest on this machine: `python -m benchmarks.sandbox
[ROUNDS] [--beside PYTHON]`.

Everything is measured in turns, so that what else the machine does hits all alike: pytest as a
plain subprocess without plugins, `docker run --rm` of the sandbox's image with pytest, a
verification, a call, and the whole gate of a seed: policy, stubs, the module in three orders,
replays and mutants. The last line is one JSON object; a missed goal ends it with exit code 1. A
pool gets the time to refill before each measurement.

`event_lag_ms` is how long after the end of a test its event is heard, the 95th percentile: each
test fails with the time on the monotonic clock, which containers share with their host.

`--beside` names the Python of an environment with llm-sandbox (`make bench-sandbox-llm` makes one).
Then the same verification and the same call run in turns in its pool of Docker containers too, of
the same image, each as one script in a container that stands ready; a verification writes the two
files and runs pytest on them, with nothing that would keep the one from the other.

Twenty rounds on Docker, on two cores of a shared machine with no other load; the third figure is
the ratio to bare pytest, which runs from a copy without compiled files, whatever ran before:

                                   median    p95      ratio   goal
bare pytest, no plugins            784 ms    939 ms
docker run --rm                    799 ms    1007 ms  1.02
verification on a warm verifier    24.6 ms   47.4 ms  0.031   0.05
execution                          6.2 ms    8.7 ms   0.008   0.011
gate of a seed                     272 ms    1363 ms  0.347   0.35
200 executions at once             1683 ms   1927 ms
from the end of a test to event    6.4 ms    12.1 ms
largest idle container             43.0 MB (a comparer)

The first gate waits for containers, hence its p95. llm-sandbox 0.3.46 took 24.2 times as long for a
verification and 45.4 times for an execution, where bare pytest took 400 ms.

Docker and bubblewrap in turns, 20 rounds, two cores at a load of 5, medians (p95):

                                   Docker            bubblewrap
verification on a warm verifier    21.6 ms (74)      13.9 ms (28)
execution                          4.8 ms (17)       2.6 ms (10)
verifier from nothing to ready     1008 ms (1598)    639 ms (1026)
its removal                        102 ms (185)      10 ms (23)
memory of an idle verifier         33.9 MB           34.3 MB
"""

import argparse
import asyncio
import importlib
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from docker.client import DockerClient

from benchmarks.goals import report
from benchmarks.ready import current_sandbox
from selfeng.core.composition import Importable
from selfeng.core.settings import load_settings
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import Returned, SandboxJob, TestResult
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import docker_engine as ownership
from selfeng.seeds import load_seeds
from selfeng.synthesis.gate import Chain
from selfeng.synthesis.steps import SynthesisPolicy

NAME = "is_prime"
ARGUMENTS = {"number": 97}
CALLS = 200
GOALS = {"verify_ratio": 0.05, "execute_ratio": 0.011, "gate_ratio": 0.35}
"""The maximum of each figure, as a multiple of what bare pytest takes."""
CLOCK = "def clock():\n    import time\n    return time.monotonic()\n"
TIMED = "from clock import clock\n" + "".join(
    f"def test_{n}():\n    raise ValueError(clock())\n" for n in range(20)
)
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
QUIET = 0.3
"""Seconds of rest before each measurement: the engine is still busy with what it has removed."""


PEER = Path(__file__).with_name("llm_sandbox_peer.py")


def main(rounds: int, beside: str | None) -> int:
    """Measure; returns the exit code."""
    seed = next(seed for seed in load_seeds() if seed.name == NAME)
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        folder = Path(parent, "work")
        folder.mkdir()
        (folder / f"{NAME}.py").write_text(seed.code)
        (folder / f"test_{NAME}.py").write_text(seed.tests)
        _copy_pytest(Path(parent, "site"))
        result = asyncio.run(_measure(rounds, beside, str(folder), seed))
    return report(result, GOALS)


async def _measure(
    rounds: int, beside: str | None, folder: str, seed: ToolDraft
) -> dict[str, float]:
    code, tests = seed.code, seed.tests
    sandbox = await current_sandbox()
    sandbox.start()
    await sandbox.settle()
    worker_mb = await asyncio.to_thread(_worker_mb, sandbox)
    chain = Chain(sandbox, SynthesisPolicy())
    measures: dict[str, Callable[[], Awaitable[None]]] = {
        "bare": lambda: _subprocess(sys.executable, *PYTEST, cwd=folder),
        "docker_run": lambda: _subprocess(*_docker_run(load_settings().docker_image_name, folder)),
        "verify": lambda: _verify(sandbox, code, tests),
        "execute": lambda: _execute(sandbox, code),
        "gate": lambda: _gate(chain, seed),
        "bare_pair": lambda: _together(
            *(_subprocess(sys.executable, *PYTEST, cwd=folder) for _ in range(2))
        ),
        "calls": lambda: _together(*(_execute(sandbox, code) for _ in range(CALLS))),
    }
    peer = await Peer.started(beside) if beside else None
    if peer:
        measures["llm_sandbox_verify"] = lambda: peer.verify(code, tests)
        measures["llm_sandbox_execute"] = lambda: peer.execute(code)
    seconds: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            await sandbox.settle()
            await asyncio.sleep(QUIET)
            started = time.perf_counter()
            await measure()
            seconds[name].append(time.perf_counter() - started)
    if peer:
        await peer.aclose()
    lags = [lag for _ in range(rounds) for lag in await _event_lags(sandbox)]
    await sandbox.aclose()
    return _result({**seconds, "event_lag": lags}, worker_mb)


def _copy_pytest(folder: Path) -> None:
    """Copy pytest, with what it imports, without compiled files: a run of pytest in the environment
    compiles them there, and would change what a ratio to it means.
    """
    for name in ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        (source,) = importlib.import_module(name).__path__
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, folder / name, ignore=ignored)


def _result(seconds: dict[str, list[float]], worker_mb: float) -> dict[str, float]:
    for name, times in seconds.items():
        middle, late = statistics.median(times) * 1000, _p95(times) * 1000
        sys.stdout.write(
            f"{name:19} median {middle:8.1f} ms   p95 {late:8.1f} ms   n {len(times)}\n"
        )
    median = {name: statistics.median(times) for name, times in seconds.items()}
    peer = {
        f"{name}_ratio": round(median[name] / median[name.removeprefix("llm_sandbox_")], 1)
        for name in median
        if "llm" in name
    }
    return {
        "verify_ratio": round(median["verify"] / median["bare"], 4),
        "execute_ratio": round(median["execute"] / median["bare"], 4),
        "gate_ratio": round(median["gate"] / median["bare"], 4),
        "execute_throughput_ratio": round((CALLS / median["calls"]) / (2 / median["bare_pair"]), 1),
        "docker_run_ratio": round(median["docker_run"] / median["bare"], 4),
        "worker_mb": round(worker_mb, 1),
        "event_lag_ms": round(_p95(seconds["event_lag"]) * 1000, 1),
        **peer,
    }


def _p95(times: list[float]) -> float:
    return sorted(times)[math.ceil(0.95 * len(times)) - 1]


async def _subprocess(*command: str, cwd: str | None = None) -> None:
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": f"{cwd}/../site" if cwd else "",
    }
    run = await asyncio.create_subprocess_exec(
        *command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL
    )
    if await run.wait():
        raise RuntimeError(f"{' '.join(command)} failed")


def _docker_run(image: str, folder: str) -> list[str]:
    inside = [
        "-v",
        f"{folder}:/work:ro",
        "-w",
        "/work",
        "-e",
        "PYTHONDONTWRITEBYTECODE=1",
        "--entrypoint",
        "python",
    ]
    return ["docker", "run", "--rm", "--network", "none", *inside, image, *PYTEST]


async def _verify(sandbox: SecureSandbox, code: str, tests: str) -> None:
    verdict = await sandbox.verify(SandboxJob(NAME, code, tests), lambda result: None)
    assert verdict.passed, verdict


async def _execute(sandbox: SecureSandbox, code: str) -> None:
    outcome = await sandbox.execute(SandboxJob(NAME, code), ARGUMENTS)
    assert isinstance(outcome, Returned), outcome


async def _gate(chain: Chain, draft: ToolDraft) -> None:
    judgement = await chain.judge(draft, Importable())
    assert judgement.passed, judgement


class Peer:
    """llm-sandbox, in a process with its own packages."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def started(cls, python: str) -> "Peer":
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        peer = cls(
            await asyncio.create_subprocess_exec(
                python, str(PEER), load_settings().docker_image_name, **pipes
            )
        )
        await peer._run("print(1)")
        return peer

    async def verify(self, code: str, tests: str) -> None:
        files = {f"{NAME}.py": code, f"test_{NAME}.py": tests}
        script = (
            "import os, sys, tempfile, pytest\n"
            "os.chdir(tempfile.mkdtemp())\n"
            f"for name, text in {files!r}.items():\n    open(name, 'w').write(text)\n"
            f"sys.exit(pytest.main({PYTEST[2:]!r}))\n"
        )
        assert "passed" in await self._run(script)

    async def execute(self, code: str) -> None:
        assert await self._run(f"{code}\nprint({NAME}(**{ARGUMENTS!r}))\n") == "True\n"

    async def aclose(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        await self._process.wait()

    async def _run(self, script: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(script).encode() + b"\n")
        answer = await self._process.stdout.readline()
        if not answer:
            raise RuntimeError("llm-sandbox ended; its reason is above")
        return str(json.loads(answer))


async def _event_lags(sandbox: SecureSandbox) -> list[float]:
    """Seconds between the end of each test and its event."""
    lags: list[float] = []

    def on_test(result: TestResult) -> None:
        lags.append(
            time.monotonic() - float(re.findall(r"ValueError: ([\d.]+)", result.message)[0])
        )

    await sandbox.verify(SandboxJob("clock", CLOCK, TIMED), on_test)
    return lags


async def _together(*work: Awaitable[None]) -> None:
    await asyncio.gather(*work)


def _worker_mb(sandbox: SecureSandbox) -> float:
    """Memory of the largest container that is ready, without what the kernel could take back from
    its cache.
    """
    client = DockerClient.from_env()
    try:
        largest = 0
        for container in client.containers.list(
            filters={"label": f"{ownership.GROUP}={sandbox.id}"}
        ):
            memory = container.stats(stream=False)["memory_stats"]
            cache = memory["stats"].get(
                "inactive_file", memory["stats"].get("total_inactive_file", 0)
            )
            largest = max(largest, memory["usage"] - cache)
        return largest / 2**20
    finally:
        client.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("--beside", metavar="PYTHON")
    arguments = parser.parse_args()
    sys.exit(main(arguments.rounds, arguments.beside))
