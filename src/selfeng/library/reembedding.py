"""Re-embedding after a change of embedder: tools get new vectors in the background, and searches
use the old ones meanwhile.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from selfeng.core.daemon_threads import DaemonThreads
from selfeng.core.errors import AgentError
from selfeng.core.protocols import Embedder
from selfeng.core.words import count
from selfeng.library import records, revisions
from selfeng.library.fusion import Vector
from selfeng.library.ranking import Ranking
from selfeng.library.vectors import Vectors
from selfeng.store.database import reading, writing

_EMPTY: Vector = np.empty((0, 0), dtype=np.float32)
_NOTHING = -1


class ExactSearch:
    """All vectors in one matrix, loaded from SQL on demand and released when no longer needed.
    Thread-safe; searches run one at a time.
    """

    def __init__(self, embedder: str) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._forget()

    def nearest(self, connection: sa.Connection, vector: Vector, count: int) -> list[str]:
        """Names of the nearest tools, best first, as the connection sees them. The first search
        reads all vectors.
        """
        with self._lock:
            self._follow(connection)
            cosines = self._matrix[: len(self._names)] @ vector if self._names else np.empty(0)
            best = (
                np.argpartition(-cosines, count - 1)[:count]
                if count < len(cosines)
                else np.arange(len(cosines))
            )
            return [self._names[i] for i in best[np.argsort(-cosines[best], kind="stable")]]

    def release(self) -> None:
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._revision = _NOTHING
        self._names: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix = _EMPTY

    def _follow(self, connection: sa.Connection) -> None:
        revision = revisions.current(connection)
        if self._revision == _NOTHING:
            count = records.searched_count(connection, self._embedder)
            for name, vector in records.searched(connection, self._embedder):
                self._put(name, vector, count)
        elif revision != self._revision:
            self._change(
                connection, revisions.changed(connection, self._revision, ("", self._embedder))
            )
        self._revision = revision

    def _change(self, connection: sa.Connection, names: Sequence[str]) -> None:
        vectors = dict(records.searched(connection, self._embedder, names))
        for name in names:
            if name in vectors:
                self._put(name, vectors[name])
            elif name in self._rows:
                self._drop(name)

    def _put(self, name: str, vector: Vector, count: int = 0) -> None:
        """`count`: the expected number of vectors."""
        if (row := self._rows.setdefault(name, len(self._names))) == len(self._names):
            self._names.append(name)
        if row == len(self._matrix):
            larger = np.empty((max(count, 2 * row + 1), len(vector)), dtype=np.float32)
            if row:
                larger[:row] = self._matrix
            self._matrix = larger
        self._matrix[row] = vector

    def _drop(self, name: str) -> None:
        """The last row takes the place of the dropped one."""
        row, last = self._rows.pop(name), self._names.pop()
        if last != name:
            self._names[row], self._rows[last] = last, row
            self._matrix[row] = self._matrix[len(self._names)]


_log = logging.getLogger(__name__)
_AT_ONCE = 4
"""Tools embedded at the same time; an embeddings server takes far longer than the machine that
calls it.
"""


Former = Callable[[str], Embedder | None]
"""Creates a former embedder from its id; None if it can't be created."""


@dataclass(frozen=True)
class Space:
    """The vector space in which requests and tools are compared."""

    embedder: Embedder
    ranking: Ranking
    exact: ExactSearch

    @classmethod
    def for_embedder(cls, embedder: Embedder, ranking: Ranking | None = None) -> "Space":
        return cls(embedder, ranking or Ranking.for_embedder(embedder.id), ExactSearch(embedder.id))


class Embedded(NamedTuple):
    """Progress of re-embedding, in tools."""

    done: int
    total: int
    embedder: str
    """Id of the new embedder."""

    def __str__(self) -> str:
        return f"{self.done} of {count(self.total, 'tool')} embedded for {self.embedder}"


class Reembedding:
    """Begins at every start, and resumes work that the end of a process interrupted."""

    def __init__(
        self,
        engine: sa.Engine,
        vectors: Vectors,
        embedder: Embedder,
        make: Former,
        threads: DaemonThreads,
    ) -> None:
        """`threads`: where what waits for an embedder runs."""
        self._engine, self._vectors, self._embedder, self._make = engine, vectors, embedder, make
        self.threads = threads
        self.former: Space | None = None
        """The space that searches use until all tools are embedded; None: the new one, as far as it
        is filled.
        """
        self.progress: Embedded | None = None
        """None if there is nothing to do."""
        self.patience = 5.0
        """Seconds after the start that searches wait if there are no former vectors; enough for
        some hundred tools.
        """
        self._started_at, self._finished_event = 0.0, asyncio.Event()

    def begin(self) -> None:
        """Find the tools to embed; call it before the first search. Blocking."""
        with reading(self._engine) as connection:
            missing, counts_by_embedder = (
                records.unembedded(connection, self._embedder.id),
                records.embedders(connection),
            )
        if not missing:
            return
        self._finished_event.clear()
        self._started_at, self.progress = (
            time.monotonic(),
            Embedded(0, len(missing), self._embedder.id),
        )
        most = max(
            counts_by_embedder,
            key=lambda embedder: (counts_by_embedder[embedder], embedder == self._embedder.id),
            default=self._embedder.id,
        )
        former = None if most == self._embedder.id else self._make(most)
        if former is not None:
            self.former, self._vectors.former = Space.for_embedder(former), former

    async def wait(self) -> None:
        """Wait, but not for long, until searches have vectors to use."""
        if self.progress is not None and self.former is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    self._finished_event.wait(),
                    max(0.0, self._started_at + self.patience - time.monotonic()),
                )

    async def run(self) -> bool:
        """Embed the tools without vectors, then drop the vectors of all other embedders; whether
        all tools have theirs.
        """
        try:
            await self._embed()
        except AgentError as error:
            _log.warning(
                "not all tools have vectors of %s yet: %s; %s",
                self._embedder.id,
                error,
                error.remedy,
            )
            return False
        else:
            self.former = self._vectors.former = self.progress = None
            await asyncio.to_thread(self._drop_others)
            return True
        finally:
            self._finished_event.set()

    async def _embed(self) -> None:
        if missing := await asyncio.to_thread(self._missing):
            by = f"; searches use {self.former.embedder.id} meanwhile" if self.former else ""
            _log.info(
                "embedding %s without vectors of %s%s",
                count(len(missing), "tool"),
                self._embedder.id,
                by,
            )
        for start in range(0, len(missing), _AT_ONCE):
            batch = missing[start : start + _AT_ONCE]
            await asyncio.gather(
                *(self.threads.run(partial(self._vectors.complete, name)) for name in batch)
            )
            self.progress = Embedded(start + len(batch), len(missing), self._embedder.id)
            _log.info("%s", self.progress)

    def _missing(self) -> list[str]:
        with reading(self._engine) as connection:
            return records.unembedded(connection, self._embedder.id)

    def _drop_others(self) -> None:
        with reading(self._engine) as connection:
            if records.embedders(connection).keys() <= {self._embedder.id}:
                return
        with writing(self._engine) as connection:
            records.drop_vectors(connection, but=self._embedder.id)
