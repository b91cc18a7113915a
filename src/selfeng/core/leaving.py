"""The end of a process that has nothing left to do."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def exit_process(code: int) -> NoReturn:
    """End the process at once, even if threads are stuck in a library or outlive it."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # what reads it has ended
            stream.flush()
    os._exit(code)


def run_and_exit(command: Callable[[], object]) -> NoReturn:
    """Call a command that returns or raises SystemExit, then exit. Any other exception ends the
    process as Python does.
    """
    try:
        command()
    except SystemExit as end:
        exit_process(end.code if isinstance(end.code, int) else int(end.code is not None))
    exit_process(0)
