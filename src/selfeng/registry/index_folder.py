"""FolderIndex: the search index in a folder of this machine, which one process has at a time."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import sqlalchemy as sa
from filelock import FileLock, Timeout

from selfeng.core.packages import lacking
from selfeng.registry import chroma, records
from selfeng.registry.chroma_process import RebuildOrder
from selfeng.registry.fusion import Vector
from selfeng.registry.index_place import FEW, IndexBuilder, IndexState, IndexUpdate, Reached
from selfeng.store.database import address, reading

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client

_log = logging.getLogger(__name__)
_PROBE_SECONDS = 60.0
_PATIENCE = 0.2
"""Seconds that a search waits for a write to end."""


class FolderIndex:
    """An `IndexPlace`. Larger batches are written by a separate process, to a new index that
    replaces the old one.
    """

    def __init__(self, folder: Path, engine: sa.Engine, embedder: str, name: str) -> None:
        """`name` is that of the collection."""
        self.builder = IndexBuilder()
        self._folder, self._engine, self._embedder, self._name = folder, engine, embedder, name
        self._lock = FileLock(folder.parent / f".{folder.name}.lock", thread_local=False)
        self._using = threading.Lock()
        """Held while the client is opened, used or closed; guards the attributes below."""
        self._client: Client | None = None
        self._collection: Collection | None = None
        self._identity: int | None = None

    def __str__(self) -> str:
        return f"the search index in {self._folder}"

    def nearest(self, vector: Vector, count: int) -> list[str] | None:
        if not self._using.acquire(timeout=_PATIENCE):
            return None
        try:
            if self._collection is None or chroma.identity(self._folder) != self._identity:
                raise FileNotFoundError(f"{self._folder} was deleted")
            found = self._collection.query(
                query_embeddings=vector[np.newaxis], n_results=count, include=[]
            )
            return list(found["ids"][0])
        finally:
            self._using.release()

    def catch_up(self, anew: bool, report: Callable[[IndexState, int | None], None]) -> Reached:
        if lacking("chromadb"):
            return Reached("absent", None)
        if not self._lock.is_locked:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return Reached("elsewhere", None)
        if anew or not self._is_open():
            self._open(anew, report)
        return self._copy(report)

    def close(self) -> None:
        self._shut()
        self._lock.release()

    def _is_open(self) -> bool:
        return self._collection is not None and chroma.identity(self._folder) == self._identity

    def _open(self, anew: bool, report: Callable[[IndexState, int | None], None]) -> None:
        """Open the index, building it first if needed. Raises what Chroma and `_make` raise."""
        chroma.tidy(self._folder)
        if anew or chroma.identity(self._folder) is None or not self._opens():
            self._make(report)
        self._shut()
        if self.builder.closed.is_set():
            return
        with self._using:
            self._client = chroma.open_client(self._folder)
            self._collection = chroma.open_collection(self._client, self._name)
            self._identity = chroma.identity(self._folder)

    def _opens(self) -> bool:
        """Whether Chroma can open the index; tried in a separate process, which a damaged index may
        crash.
        """
        problem = self.builder.probe(str(self._folder.resolve()), _PROBE_SECONDS)
        if problem is not None and not self.builder.closed.is_set():
            _log.warning("%s is damaged, rebuilding it: %s", self, problem)
        return problem is None or self.builder.closed.is_set()

    def _make(self, report: Callable[[IndexState, int | None], None]) -> None:
        """Build the index of a large library, or clear the folder for that of a small one. Raises:
        RuntimeError, OSError.
        """
        with reading(self._engine) as connection:
            small = records.searched_count(connection, self._embedder) <= FEW
        new = None if small else self._built()
        report("behind", None)
        self._shut()
        self._folder.mkdir(parents=True, exist_ok=True)
        chroma.clear(self._folder)
        if new:
            chroma.place(new, self._folder)

    def _built(self) -> Path:
        new = chroma.new_folder(self._folder)
        order = RebuildOrder(
            database=address(self._engine),
            embedder=self._embedder,
            collection=self._name,
            folder=new.resolve(),
        )
        self.builder.build(order)
        return new

    def _copy(self, report: Callable[[IndexState, int | None], None]) -> Reached:
        """Bring the open index up to date. Raises what Chroma raises, and ValueError if tools are
        missing from it.
        """
        while (collection := self._collection) is not None and not self.builder.closed.is_set():
            mark = chroma.Mark.read(collection.metadata)
            due = IndexUpdate.of(self._engine, self._embedder, mark, collection.count)
            if due.vectors is None:
                self._open(anew=True, report=report)
                continue
            for name, vector in due.vectors.items():
                if self.builder.closed.is_set():
                    return Reached("behind", None)
                self._write(collection, name, vector)
            with self._using:
                due.check(collection.count())
                if due.vectors or mark is None:
                    chroma.put_mark(collection, due.to)
            return Reached("ready", due.to.revision)
        return Reached("behind", None)

    def _write(self, collection: "Collection", name: str, vector: Vector | None) -> None:
        """Write one vector at a time, because each call holds the interpreter's lock until it
        returns.
        """
        with self._using:
            if vector is None:
                collection.delete(ids=[name])
            else:
                collection.upsert(ids=[name], embeddings=vector[np.newaxis])

    def _shut(self) -> None:
        with self._using:
            client, self._client, self._collection, self._identity = self._client, None, None, None
            if client is not None:
                client.close()
