"""The exact search: all vectors in one matrix, loaded from SQL on demand and released when no
longer needed.
"""

import threading
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa

from selfeng.library import records, revisions
from selfeng.library.fusion import Vector

_EMPTY: Vector = np.empty((0, 0), dtype=np.float32)
_NOTHING = -1


class ExactSearch:
    """Thread-safe; searches run one at a time."""

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
