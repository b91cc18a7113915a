"""The inside of a run: a tool of the sandbox that unpacks a workspace, runs Python in it, and packs
what that made.

The host sends this source to the sandbox and never calls it itself; the sandbox's limits apply to
everything that `run_python` starts. Its report comes from where the project's code ran, so the
host does not trust it: see `running`.
"""

import base64
import contextlib
import hashlib
import json
import math
import os
import selectors
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ROOT = "/tmp/project"  # noqa: S108 - the container's own
GIVEN, MADE = "workspace.json", "run.json"
_SKIPPED = {"__pycache__"}
_READ = 65536
_COUNTS_DIFFER = 0.3
"""Share by which the kernel's counts of processor time may differ on a busy machine."""
_LOOK = 0.05
"""Seconds between checks whether a process has ended that left its output open to others."""


def run_python(
    commands: list[list[str]], *, seconds: float, wall: float, output: int, count: int, size: int
) -> None:
    """Run Python with each list of arguments, one after the other, in the folder of the workspace.

    `seconds` of processor time are for all of them together, and so are `wall` seconds; `output` is
    the number of bytes kept of each stream; up to `count` new or changed files, of `size` bytes
    together, are returned.
    """
    with open(GIVEN, encoding="ascii") as job_file:
        files = json.load(job_file)["files"]
    os.unlink(GIVEN)
    before = {}
    for path, data in files.items():
        content = base64.b64decode(data)
        place = os.path.join(ROOT, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(content)
        before[path] = hashlib.sha256(content).digest()
    os.makedirs(ROOT, exist_ok=True)
    ends = _Ends(seconds, wall)
    runs = [_run(command, ends, output) for command in commands]
    changed_files, refused = _changed_files(before, count, size)
    with open(MADE, "w", encoding="ascii") as report:
        json.dump({"runs": runs, "files": changed_files, "refused": refused}, report)


class _Ends:
    """The limits of all runs."""

    def __init__(self, seconds: float, wall: float) -> None:
        self._seconds, self._wall = seconds, wall
        self.deadline = time.monotonic() + wall

    def reason(self, killed: bool = False) -> str:
        """A sentence on the limit that is reached; "" if none is. `killed`: the kernel may have
        found that the processor time is up.
        """
        if self.seconds_left() <= (_COUNTS_DIFFER * self._seconds if killed else 0):
            return f"It used {self._seconds:g} s of processor time."
        late = time.monotonic() >= self.deadline
        return f"It did not end within {self._wall:g} s." if late else ""

    def seconds_left(self) -> float:
        """Seconds of processor time; those of processes that are still running don't count."""
        import resource  # the host, which may be Windows, imports this module for its names

        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return self._seconds - used.ru_utime - used.ru_stime

    def limit(self) -> Callable[[], None]:
        """For a new process: lets the kernel end it when the processor time is up."""
        import resource

        seconds = math.ceil(self.seconds_left())
        return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _run(command: list[str], ends: _Ends, output: int) -> dict[str, Any]:
    started = time.monotonic()
    if reason := ends.reason():
        return {"exit_code": None, "ended": reason, "stdout": "", "stderr": "", "seconds": 0.0}
    environment = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
    }
    try:
        process = subprocess.Popen(  # noqa: S603 - this place exists to run it
            [sys.executable, *command],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=ends.limit(),  # noqa: PLW1509 - there are no threads here
        )
    except OSError as error:
        end_reason = f"It could not be started: {error.strerror}."
        return {"exit_code": None, "ended": end_reason, "stdout": "", "stderr": "", "seconds": 0.0}
    streams = {"stdout": _Kept(output), "stderr": _Kept(output)}
    in_time = _watch(process, streams, ends.deadline)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    code = process.wait()
    killed = code in (-signal.SIGKILL, -signal.SIGXCPU)
    end_reason = ends.reason(killed) if killed or not in_time else ""
    return {
        "exit_code": None if end_reason else code,
        "ended": end_reason,
        **{name: stream.text() for name, stream in streams.items()},
        "seconds": round(time.monotonic() - started, 3),
    }


def _watch(
    process: "subprocess.Popen[bytes]", streams: "dict[str, _Kept]", deadline: float
) -> bool:
    """Keep what the process prints until it ends; returns whether it ended before the deadline."""
    with selectors.DefaultSelector() as selector:
        for name, stream in streams.items():
            pipe = getattr(process, name)
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, stream)
        while time.monotonic() < deadline:
            ready = selector.select(_LOOK) if selector.get_map() else []
            for key, _ in ready:
                if data := os.read(key.fd, _READ):
                    key.data.add(data)
                else:
                    selector.unregister(key.fileobj)
            if not selector.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))
                return process.returncode is not None
            if not ready and process.poll() is not None:
                return True  # processes that it started hold its output open
    return process.poll() is not None


class _Kept:
    """The beginning and the end of a stream, half of the bytes each."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if (excess := len(self._tail) - self._half) > 0:
            del self._tail[:excess]
            self._left_out += excess

    def text(self) -> str:
        between = (
            f"\n... ({self._left_out} bytes are left out) ...\n".encode() if self._left_out else b""
        )
        return (bytes(self._head) + between + bytes(self._tail)).decode("utf-8", "backslashreplace")


def _changed_files(
    before: dict[str, bytes], count: int, size: int
) -> tuple[dict[str, str], list[list[str]]]:
    """The new or changed files by path, and the reason for each that is refused."""
    changed_files: dict[str, str] = {}
    refused: list[list[str]] = []
    bytes_left = size
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(
            name for name in folders if name not in _SKIPPED and not name.startswith(".")
        )
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if name.startswith("."):
                continue
            try:
                content = _content(os.path.join(folder, name), size)
            except OSError as error:
                refused.append([path, error.strerror or "it can't be read"])
                continue
            if before.get(path) == hashlib.sha256(content).digest():
                continue
            if len(changed_files) == count:
                refused.append([path, f"there are more than {count} files"])
            elif len(content) > bytes_left:
                refused.append([path, f"it has {len(content)} bytes, more than are left of {size}"])
            else:
                bytes_left -= len(content)
                changed_files[path] = base64.b64encode(content).decode()
    return changed_files, refused[:count]


def _content(path: str, size: int) -> bytes:
    """Raises: OSError: it is not a regular file, or too large."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a regular file")
    if status.st_size > size:
        raise OSError(0, f"it has {status.st_size} bytes, more than {size}")
    with open(
        os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
    ) as file:
        return file.read(size)
