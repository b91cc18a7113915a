"""The end of a process that has nothing left to do."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def exit_process(code: int) -> NoReturn:
    """End the process at once: no thread that is stuck in a library, or that outlives the
    interpreter, may spoil its end.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_and_exit(command: Callable[[], object]) -> NoReturn:
    """Call what ends with SystemExit or by returning, then exit. Any other exception ends the
    process as Python does.
    """
    try:
        command()
    except SystemExit as end:
        exit_process(end.code if isinstance(end.code, int) else int(end.code is not None))
    exit_process(0)
