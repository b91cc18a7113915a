"""The watchdog: ends containers whose processes together have grown too large, where no control
group does.
"""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

_INTERVAL = 0.1
"""Seconds between two looks."""
_KB = 1024


class Watched(Protocol):
    """A container, seen by its first process."""

    @property
    def pid(self) -> int:
        """As the host counts; 0 once it is gone."""
        ...

    def outgrow(self) -> None:
        """End it for its size."""
        ...


class Watchdog:
    """Looks at what it watches from a thread, as long as there is anything. From any thread."""

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
        """Watch it no longer."""
        with self._lock:
            self._watched.discard(container)
            self._lock.notify()

    def close(self) -> None:
        """Watch nothing any more, and wait for the thread."""
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
        """Pages that several processes share count for each of them at first, and for all together
        only if that is too much.
        """
        processes = tuple(_family(pid)) if pid else ()
        return (
            sum(_resident(p) for p in processes) > self._limit
            and sum(_share(p) for p in processes) > self._limit
        )


def _family(pid: int) -> Iterator[int]:
    """The process and all that descend from it."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    """KB that belong to no file on a disk."""
    return _sum(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:"))


def _share(pid: int) -> int:
    """KB by which the machine is fuller for this process; the larger figure where that can't be
    seen.
    """
    return _sum(f"/proc/{pid}/smaps_rollup", ("Pss_Anon:", "Pss_Shmem:")) or _resident(pid)


def _sum(path: str, fields: tuple[str, ...]) -> int:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields))
