"""The tests of Python, session by session, and one account of them all: `python -m tests [--all]
[pytest's arguments]`.

The page's tests have a session of their own: what drives the browser keeps an event loop running in
its thread, where no other loop can run. `--all` adds what is marked `extended`. Each session runs
whatever the others come to.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.account import read, told

OTHERS = ("-n", "3", "--ignore", "tests/browser", "tests")
"""Three at once on two processors: many of them wait for other processes."""
PAGE = ("-n", "2", "tests/browser")
WORKERS = ("--dist", "worksteal", "--max-worker-restart", "2")


def main(arguments: list[str]) -> int:
    whole = "--all" in arguments
    more = [argument for argument in arguments if argument != "--all"]
    marked = "" if whole else "not extended"
    with tempfile.TemporaryDirectory() as folder:
        files = {
            Path(folder, f"{number}.jsonl"): paths for number, paths in enumerate((OTHERS, PAGE))
        }
        codes = [_session(file, marked, paths, more) for file, paths in files.items()]
        for line in told(read(files)):
            print(line)
    return max(codes)


def _session(account: Path, marked: str, paths: tuple[str, ...], more: list[str]) -> int:
    command = [
        sys.executable,
        "-m",
        "pytest",
        *WORKERS,
        "-m",
        marked,
        "--account",
        str(account),
        *more,
        *paths,
    ]
    code = subprocess.run(command, check=False).returncode
    return abs(code)


sys.exit(main(sys.argv[1:]))
