"""The tests of Python in a few sessions, three of which run at once, and one account of them all:
`python -m tests [--all] [pytest's arguments]`.

A session is one process, so that its tests share what they import, their servers, databases and
containers; workers of one session would each collect all tests. The page's tests have one of their
own: what drives the browser keeps an event loop running in its thread, where no other loop can run.
`--all` adds what is marked `extended`. Each session runs whatever the others come to, and is told
of when it ends.
"""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.account import read, told

AT_ONCE = 3
"""On two processors: many tests wait for other processes."""
SESSIONS = (
    ("browser",),
    ("sandbox",),
    ("docs", "packaging"),
    ("durable", "whole"),
    ("engine",),
    ("web",),
)
"""The folders of each session, the longest first; all others share a last one."""


def sessions(*, whole: bool) -> list[list[str]]:
    """The arguments of each session; that of the sandbox has two workers where it runs on two
    backends.
    """
    own = [[f"tests/{folder}" for folder in folders] for folders in SESSIONS]
    others = [word for paths in own for path in paths for word in ("--ignore", path)]
    if whole:
        own[1] += ["-n", "2", "--dist", "worksteal", "--max-worker-restart", "2"]
    return [*own, ["tests", *others]]


def main(arguments: Sequence[str]) -> int:
    whole = "--all" in arguments
    marked = ["-m", "" if whole else "not extended"]
    more = [argument for argument in arguments if argument != "--all"]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:

        def run(session: tuple[Path, list[str]]) -> int:
            file, paths = session
            return _ended([*marked, "--account", str(file), *more, *paths])

        files = {
            Path(folder, f"{number}.jsonl"): paths
            for number, paths in enumerate(sessions(whole=whole))
        }
        codes = list(pool.map(run, files.items()))
        for line in told(read(files)):
            print(line)
    return max(codes)


def _ended(arguments: Sequence[str]) -> int:
    """Run a session, and tell of it."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        check=False,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    print(ended.stdout, flush=True)
    return abs(ended.returncode)


sys.exit(main(sys.argv[1:]))
