"""IndexPlace: the protocol of where the search index is kept, in a folder or at a server, and what
both kinds of place need.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import sqlalchemy as sa

from selfeng.registry import records, revisions
from selfeng.registry.chroma import Mark
from selfeng.registry.chroma_process import RebuildOrder, Subprocess
from selfeng.registry.fusion import Vector
from selfeng.store.database import contents_of, reading

FEW, SHARE = 100, 50
"""Up to `FEW` changed tools, or one in `SHARE` of all tools, are written one by one."""

IndexState = Literal["behind", "ready", "elsewhere", "away", "absent", "broken"]
"""elsewhere: another process holds the index of this folder; away: the server of the index does not
answer; absent: Chroma is not installed; broken: it can't be used now.
"""


class IndexAway(Exception):
    """The server of the index does not answer; nothing is known of the index itself."""


class Reached(NamedTuple):
    """What `IndexPlace.catch_up` came to."""

    state: IndexState
    revision: int | None
    """Revision of the library that can be searched; None if none can."""


class IndexPlace(Protocol):
    """Where the index is. Searches call `nearest`, the index's thread calls everything else."""

    def nearest(self, vector: Vector, count: int) -> list[str] | None:
        """Names of the nearest tools, best first; None if a write takes too long.

        Raises: IndexAway; anything else: the index has to be opened again.
        """
        ...

    def catch_up(self, anew: bool, report: Callable[[IndexState, int | None], None]) -> Reached:
        """Bring the index to the current revision of the library, or `anew` build it; `report` is
        told while the index can't be searched.

        Raises: IndexAway; anything else: it is damaged, or can't be used.
        """
        ...

    def close(self) -> None: ...


class Progress(NamedTuple):
    """Progress of an index build, in tools."""

    done: int
    total: int


class IndexBuilder:
    """Runs Chroma in processes of their own, until `close` kills what runs."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        """The progress of a running build, else None."""
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._process: Subprocess | None = None

    @property
    def working(self) -> bool:
        return self._process is not None

    def build(self, order: RebuildOrder) -> None:
        """Raises: RuntimeError: the process failed, or was killed by `close`."""
        try:
            with self._started("rebuild", line=order.model_dump_json()) as process:
                for line in process.lines():
                    self.progress = Progress(*map(int, line.split()))
                if problem := process.wait():
                    raise RuntimeError(problem)
        finally:
            self.progress = None

    def probe(self, folder: str, seconds: float) -> str | None:
        """Why Chroma can't open the index in the folder; None if it can."""
        with self._started("probe", folder) as process:
            return process.wait(seconds)

    def close(self) -> None:
        with self._lock:
            self.closed.set()
            if self._process is not None:
                self._process.kill()

    @contextmanager
    def _started(self, *task: str, line: str = "") -> Iterator[Subprocess]:
        with Subprocess(*task, line=line) as process:
            with self._lock:
                self._process = process
                if self.closed.is_set():
                    process.kill()
            try:
                yield process
            finally:
                with self._lock:
                    self._process = None


@dataclass(frozen=True)
class IndexUpdate:
    """What an index lacks of the current library."""

    to: Mark
    """The mark of the index that has it all."""
    total: int
    """The tools that it then holds."""
    vectors: Mapping[str, Vector | None] | None
    """The changed tools, None for one that is not searched; None: too many, a build is quicker."""

    @classmethod
    def of(
        cls, engine: sa.Engine, embedder: str, mark: Mark | None, holds: Callable[[], int]
    ) -> "IndexUpdate":
        """For an index with this mark that `holds` so many tools."""
        contents = contents_of(engine)
        with reading(engine) as connection:
            now = revisions.current(connection)
            total = records.searched_count(connection, embedder)
            if mark is not None and mark.library == contents and mark.revision <= now:
                changed = revisions.changed(connection, mark.revision, ("", embedder))
                few = len(changed) <= max(FEW, total // SHARE)
                found = dict(records.searched(connection, embedder, changed)) if few else {}
            else:
                few = total <= FEW and not holds()
                found = dict(records.searched(connection, embedder)) if few else {}
                changed = list(found)
        vectors = {name: found.get(name) for name in changed}
        return cls(Mark(contents, now), total, vectors if few else None)

    def check(self, count: int) -> None:
        """Raises: ValueError: an updated index does not hold so many tools."""
        if count != self.total:
            raise ValueError(f"it holds {count} of {self.total} tools")
