"""Watchdog: ends containers that use too much memory, where no control group limits it."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

_INTERVAL = 0.1
"""Seconds between two checks."""
_KB = 1024


class Watched(Protocol):
    """A container, identified by its first process."""

    @property
    def pid(self) -> int:
        """The process id on the host; 0 once it has ended."""

    def outgrow(self) -> None:
        """End it because it uses too much memory."""


class Watchdog:
    """Checks the memory of containers in a thread, while there are any. Callable from any
    thread.
    """

    def __init__(self, limit_mb: int) -> None:
        self._limit = limit_mb * _KB
        self._watched: set[Watched] = set()
        self._thread: threading.Thread | None = None
        self._lock = threading.Condition()

    def watch(self, container: Watched) -> None:
        with self._lock:
            self._watched.add(container)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="sandbox-watchdog", daemon=True
                )
                self._thread.start()

    def forget(self, container: Watched) -> None:
        """Stop watching it."""
        with self._lock:
            self._watched.discard(container)
            self._lock.notify()

    def close(self) -> None:
        """Stop watching all, and wait for the thread."""
        with self._lock:
            self._watched.clear()
            self._lock.notify()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: not self._watched, timeout=_INTERVAL)
                if not self._watched:
                    self._thread = None
                    return
                watched = tuple(self._watched)
            for container in watched:
                if self._too_large(container.pid):
                    container.outgrow()

    def _too_large(self, pid: int) -> bool:
        """Whether the processes exceed the limit. Pages that they share count for each process at
        first, and once in all only if that is too much.
        """
        processes = tuple(_family(pid)) if pid else ()
        return (
            sum(_resident(p) for p in processes) > self._limit
            and sum(_share(p) for p in processes) > self._limit
        )


def _family(pid: int) -> Iterator[int]:
    """The process and its descendants."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    """KB that are not backed by a file on a disk."""
    return _sum(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:"))


def _share(pid: int) -> int:
    """KB that the process adds to the machine's memory use; else `_resident`, which is larger."""
    return _sum(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or _resident(pid)


def _sum(path: str, fields: tuple[str, ...]) -> int:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields))
