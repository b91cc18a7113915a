"""A part of the work in a process of its own, which may crash or be killed instead of ours."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self


class Part:
    """Runs `python -m <module>` with a line on stdin, which stays open for as long as we live; the process ends with the context."""

    def __init__(self, module: str, *arguments: str, line: str = "") -> None:
        self._complaint = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the context; a pipe that nobody reads could fill up
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaint,
            text=True,
            start_new_session=True,  # a Ctrl-C that ends it would look like a failure
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended at once, and `wait` says why
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._complaint):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def lines(self) -> Iterator[str]:
        """What it prints, line by line, until it ends."""
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def wait(self, seconds: float | None = None) -> str | None:
        """Wait for its end; None if it ended well, else the last line that it complained with. After `seconds` it is killed."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"it did not end within {seconds:g} seconds"
        if self._process.returncode == 0:
            return None
        self._complaint.seek(0)
        lines = self._complaint.read().decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), f"it ended with code {self._process.returncode}")

    def kill(self) -> None:
        self._process.kill()
