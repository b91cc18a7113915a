"""The tests of Python in a few sessions, up to five of which run at once, and one account of them all:
`python -m tests [--all] [pytest's arguments]`.

A session is one process, so that its tests share what they import, their servers, databases and
containers; workers of one session would each collect all tests. The page's tests have one of their
own: what drives the browser keeps an event loop running in its thread, where no other loop can run.
`--all` adds what is marked `extended`. A session that fails ends no other. A few tests that fail
beside others run once more, alone, and decide then; they are listed at the end.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.account import failures, machine_seconds, read, told

AT_ONCE = {False: 5, True: 4}
"""On two processors: many tests wait for other processes. Fewer with the extended tests, among
which are long kills, and whose session of the sandbox has two workers.
"""
SESSIONS: dict[tuple[str, ...], int] = {
    ("sandbox",): 660,
    (): 620,
    ("engine",): 605,
    ("browser",): 570,
    ("durable", "whole"): 405,
    ("web",): 295,
    ("cli", "files"): 165,
    ("docs", "packaging", "python"): 155,
}
"""The folders of each session, and about how many seconds it takes beside the others: a run prints
them. They start in this order, the longest first, so that none is left alone with the machine; () is
all other folders.
"""
FEW = 12
"""Failed tests up to which they run again: more are no matter of a busy machine."""


def sessions(*, whole: bool) -> list[list[str]]:
    """The arguments of each session; the sandbox's has two workers where it runs on two backends,
    and that of the page alone loads what drives a browser.
    """
    paths = [[f"tests/{folder}" for folder in folders] for folders in SESSIONS]
    others = [word for own in paths for path in own for word in ("--ignore", path)]
    if whole:
        workers = "-n 2 --dist worksteal --max-worker-restart 2"
        paths[list(SESSIONS).index(("sandbox",))] += workers.split()
    return [
        [*(own or ["tests", *others]), *([] if "tests/browser" in own else ["-p", "no:playwright"])]
        for own in paths
    ]


def main(arguments: Sequence[str]) -> int:
    whole = "--all" in arguments
    marked = ["-m", "" if whole else "not extended"]
    more = [argument for argument in arguments if argument != "--all"]
    began, spent = time.monotonic(), machine_seconds()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE[whole]) as pool:
        lasted: dict[str, float] = {}

        def run(session: tuple[Path, list[str]]) -> int:
            file, paths = session
            name, start = Path(paths[0]).name, time.monotonic()
            code = _run(name, [*marked, "--account", str(file), *more, *paths])
            lasted[name] = time.monotonic() - start
            return code

        files = {
            Path(folder, f"{number}.jsonl"): paths
            for number, paths in enumerate(sessions(whole=whole))
        }
        codes = list(pool.map(run, files.items()))
        accounts = {file: read(file) for file in files}
        again = {file: failures(phases) for file, phases in accounts.items()}
        few = sum(map(len, again.values())) <= FEW
        for number, (file, tests) in enumerate(again.items()):
            if tests and few and codes[number] == pytest.ExitCode.TESTS_FAILED:
                codes[number] = _run(f"{file.stem} again", [*marked, *more, *tests])
        print("The sessions took, in seconds:", *(f"{n} {s:.0f}" for n, s in lasted.items()))
        phases = [phase for account in accounts.values() for phase in account]
        for line in told(phases):
            print(line)
        for test in failures(phases):
            print(f"Failed beside others: {test}")
    spent = machine_seconds() - spent
    print(f"This machine's processors worked {spent:.0f} s in {time.monotonic() - began:.0f} s.")
    return max(codes)


def _run(name: str, arguments: Sequence[str]) -> int:
    """Run a session; each of its lines is printed when it comes, after its name, so that one that
    hangs shows where.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as session:
        assert session.stdout
        for line in session.stdout:
            print(f"{name}: {line}", end="", flush=True)
    return abs(session.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
