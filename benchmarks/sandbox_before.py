"""Whether a change made the sandbox slower: `python -m benchmarks.sandbox_before [REVISION]
[--rounds N]`; the last line is JSON, and the exit code is 1 if a goal is missed.

REVISION (`BEFORE` if it is left out) is cloned, set up, and gets a sandbox of its own, with an
image of its own. Both sandboxes stand ready at once, and verify and execute a seed in turns, each
first in every other round, so that other work of the machine slows both alike. `verify_before` and
`execute_before` are medians as multiples of those of REVISION.

On Docker with no other load, a verification takes 0.73 to 0.81 of the time before, an execution
0.88 to 0.98 in three runs and 1.08 in another of 480 executions; since then there are 1,200.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

GOALS = {"verify_before": 1.03, "execute_before": 1.03}
BEFORE = "22d73106"
"""The last revision without packages for documents and pictures in the sandbox."""
ROUNDS, VERIFICATIONS, EXECUTIONS = 40, 3, 30
HERE = Path(__file__).resolve()


async def serve() -> None:
    """Answer each line of stdin, `verify` or `execute`, with the seconds that it took; this runs
    with the packages and sources of either revision.
    """
    from benchmarks.ready import current_sandbox
    from benchmarks.sandbox import NAME, _execute, _verify
    from selfeng.seeds import load_seeds

    seed = next(seed for seed in load_seeds() if seed.name == NAME)
    sandbox = await current_sandbox()
    sandbox.start()
    await sandbox.settle()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        if line == "settle":
            await sandbox.settle()
        began = time.perf_counter()
        if line == "verify":
            await _verify(sandbox, seed.code, seed.tests)
        elif line == "execute":
            await _execute(sandbox, seed.code)
        sys.stdout.write(f"{time.perf_counter() - began}\n")
        sys.stdout.flush()
    await sandbox.aclose()


class Checkout:
    """A sandbox of a checkout of this repository, in a process of its own."""

    def __init__(self, folder: Path, image: str) -> None:
        environment = {**os.environ, "DOCKER_IMAGE_NAME": image, "PYTHONPATH": str(folder)}
        self._process = subprocess.Popen(  # noqa: S603 - fixed arguments
            [folder / ".venv/bin/python", "-P", HERE, "--serve"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        while (line := self._process.stdout.readline()) != "ready\n":
            if not line:
                raise RuntimeError(f"the sandbox of {folder} did not start; its reason is above")

    def take(self, job: str) -> float:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{job}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def _clone(revision: str, folder: Path) -> None:
    run = subprocess.check_call
    run(["git", "clone", "--quiet", HERE.parents[1], folder])
    run(["git", "-C", folder, "checkout", "--quiet", revision])
    run(["make", "--silent", "-C", folder, ".venv/test.stamp"])


def measure(revision: str, rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary, "before")
        _clone(revision, clone)
        checkouts = {
            "now": Checkout(HERE.parents[1], "self-eng-now"),
            "before": Checkout(clone, "self-eng-before"),
        }
        seconds = defaultdict[tuple[str, str], list[float]](list)
        jobs = ["verify"] * VERIFICATIONS + ["execute"] * EXECUTIONS
        for number in range(rounds):
            order = sorted(checkouts, reverse=bool(number % 2))
            for name in order:
                checkouts[name].take("settle")
            for job in jobs:
                for name in order:
                    seconds[name, job].append(checkouts[name].take(job))
        for checkout in checkouts.values():
            checkout.close()
    for (name, job), times in sorted(seconds.items()):
        sys.stdout.write(f"{job:8}{name:8}{1000 * statistics.median(times):8.2f} ms\n")
    return {
        f"{job}_before": round(
            statistics.median(seconds["now", job]) / statistics.median(seconds["before", job]), 4
        )
        for job in ("verify", "execute")
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("revision", nargs="?", default=BEFORE)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
        return 0
    from benchmarks.goals import report  # which REVISION may lack

    figures = measure(options.revision, options.rounds)
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main())
