"""The search index in Chroma: a copy of the vectors in SQL, which is rebuilt when it is lost or
damaged and catches up when it is behind.

A separate thread opens and updates it, so that neither Chroma's import (a second) nor its writes
(10 ms a tool, with the interpreter's lock held) block other work. Larger batches are written by a
separate process, to a new index that replaces the old one. A mark in the index says which revision
of the library it holds. A search looks up in SQL which tools have changed since, so an index that
is behind still serves; without an index, the exact search serves.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import sqlalchemy as sa
from filelock import FileLock, Timeout

from selfeng.registry import chroma, records, revisions
from selfeng.registry.chroma_process import RebuildOrder, Subprocess
from selfeng.registry.fusion import Vector
from selfeng.store.database import address, id_of, reading

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client

_log = logging.getLogger(__name__)
_PROBE_SECONDS = 60.0
_GRACE_SECONDS = 5.0
"""Seconds from the start until Chroma is loaded and probed, which takes seconds in two processes;
shorter commands avoid that cost.
"""
_PAUSE_SECONDS = 30.0
"""Seconds from a failure to the next attempt."""
_CLOSE_SECONDS = 1.5
_PATIENCE = 0.2
"""Seconds that a search waits for a write to end."""
_FEW, _SHARE = 100, 50
"""Up to `_FEW` changed tools, or one in `_SHARE` of all tools, are written one by one."""

IndexState = Literal["behind", "ready", "elsewhere", "broken"]
"""elsewhere: another process holds the index of this folder; broken: Chroma can't be used now."""


class Found(NamedTuple):
    names: list[str]
    """Best first; some may have changed or been removed since."""
    revision: int
    """Revision of the library that was searched."""


class Progress(NamedTuple):
    """Progress of an index build, in tools."""

    done: int
    total: int


class SearchIndex:
    """Thread-safe. A failure of the index never fails a search."""

    def __init__(self, folder: Path, engine: sa.Engine, embedder: str) -> None:
        self._folder = folder
        self._engine = engine
        self._embedder = embedder
        self._name = "tools-" + hashlib.sha256(embedder.encode()).hexdigest()[:12]
        self._lock = FileLock(folder.parent / f".{folder.name}.lock", thread_local=False)
        self._thread = threading.Thread(target=self._keep, name="search-index", daemon=True)
        self._news = threading.Condition()
        self._state: IndexState = "behind"
        self._revision: int | None = None
        """Revision of the library that the index holds; None if it can't be searched."""
        self._demanded = self._awaited = self._anew = self._busy = self._closing = False
        self._not_before = 0.0
        self._process: Subprocess | None = None
        self._progress: Progress | None = None
        self._using = threading.Lock()
        """Held while the client is opened, used or closed; guards the attributes below."""
        self._client: Client | None = None
        self._collection: Collection | None = None
        self._identity: int | None = None

    def start(self) -> None:
        self._thread.start()

    @property
    def state(self) -> IndexState:
        return self._state

    @property
    def idle(self) -> bool:
        """Whether no work is running or pending."""
        return not (self._demanded or self._busy)

    @property
    def progress(self) -> Progress | None:
        """The progress of a running build, else None."""
        return self._progress

    def follow(self, revision: int) -> None:
        """Bring the index to this revision of the library, in the background. Cheap if it is
        already there.
        """
        with self._news:
            if self._revision != revision and time.monotonic() >= self._not_before:
                self._demanded = True
                self._news.notify_all()

    def rebuild(self) -> None:
        """Rebuild the index in the background, whatever its state."""
        with self._news:
            self._demanded = self._awaited = self._anew = True
            self._not_before = 0.0
            self._news.notify_all()

    def nearest(self, vector: Vector, count: int) -> Found | None:
        """None if the index can't be searched now."""
        if self._revision is None or not self._using.acquire(timeout=_PATIENCE):
            return None
        try:
            revision = self._revision
            if (
                revision is None
                or self._collection is None
                or chroma.identity(self._folder) != self._identity
            ):
                raise FileNotFoundError(f"{self._folder} was deleted")
            found = self._collection.query(
                query_embeddings=vector[np.newaxis], n_results=count, include=[]
            )
            return Found(list(found["ids"][0]), revision)
        except Exception as error:  # noqa: BLE001 - the exact search answers instead
            _log.warning("rebuilding the search index: %s", error)
            self._report("behind", None)
            self.follow(0)
            return None
        finally:
            self._using.release()

    def settle(self, revision: int, seconds: float) -> IndexState:
        """Wait until the index has caught up with the revision, or has failed to. Blocking."""
        with self._news:
            self._awaited = True
            self._news.notify_all()
            self._news.wait_for(lambda: not (self._demanded or self._busy), seconds)
            return (
                "behind"
                if self._state == "ready" and (self._revision or 0) < revision
                else self._state
            )

    def close(self) -> None:
        """Release the folder. Unfinished work is abandoned after a moment, because it can be
        redone.
        """
        with self._news:
            self._closing = True
            self._news.notify_all()
            if self._process is not None:
                self._process.kill()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _keep(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self._awaited or self._closing, _GRACE_SECONDS)
        while True:
            with self._news:
                self._news.wait_for(lambda: self._demanded or self._closing)
                if self._closing:
                    break
                self._demanded, self._busy = False, True
            try:
                self._catch_up()
            except Exception:  # noqa: BLE001 - the edge of the thread; the library works without the index
                _log.exception(
                    "the search index in %s can't be used; using exact search", self._folder
                )
                self._not_before = time.monotonic() + _PAUSE_SECONDS
                self._report("broken", None)
            finally:
                with self._news:
                    self._busy = False
                    self._news.notify_all()
        self._shut()
        self._lock.release()

    def _catch_up(self) -> None:
        if not self._lock.is_locked:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                self._report("elsewhere", None)
                return
        try:
            anew, self._anew = self._anew, False
            if anew or not self._is_open():
                self._open(anew)
            self._copy()
        except Exception as error:  # noqa: BLE001 - rebuilt once; a second failure is reported
            if self._closing:
                return
            _log.warning("rebuilding the search index in %s: %s", self._folder, error)
            self._open(anew=True)
            self._copy()

    def _is_open(self) -> bool:
        return self._collection is not None and chroma.identity(self._folder) == self._identity

    def _open(self, anew: bool) -> None:
        """Open the index, building it first if needed. Raises what Chroma and `_make` raise."""
        chroma.tidy(self._folder)
        if anew or chroma.identity(self._folder) is None or not self._opens():
            self._make()
        self._shut()
        if self._closing:
            return
        with self._using:
            self._client = chroma.open_client(self._folder)
            self._collection = chroma.open_collection(self._client, self._name)
            self._identity = chroma.identity(self._folder)

    def _opens(self) -> bool:
        """Whether Chroma can open the index; tried in a separate process, which a damaged index may
        crash.
        """
        with self._started("probe", str(self._folder.resolve())) as probe:
            problem = probe.wait(_PROBE_SECONDS)
        if problem is not None and not self._closing:
            _log.warning(
                "the search index in %s is damaged, rebuilding it: %s", self._folder, problem
            )
        return problem is None or self._closing

    def _make(self) -> None:
        """Build the index of a large library, or clear the folder for that of a small one. Raises:
        RuntimeError, OSError.
        """
        with reading(self._engine) as connection:
            small = records.searched_count(connection, self._embedder) <= _FEW
        if small:
            self._report("behind", None)
            self._shut()
            self._folder.mkdir(parents=True, exist_ok=True)
            chroma.clear(self._folder)
        else:
            self._rebuild()

    def _rebuild(self) -> None:
        """Raises: RuntimeError, OSError."""
        new = chroma.new_folder(self._folder)
        order = RebuildOrder(
            database=address(self._engine),
            embedder=self._embedder,
            collection=self._name,
            folder=new.resolve(),
        )
        try:
            with self._started("rebuild", line=order.model_dump_json()) as process:
                for line in process.lines():
                    self._progress = Progress(*map(int, line.split()))
                if problem := process.wait():
                    raise RuntimeError(problem)
        finally:
            self._progress = None
        self._report("behind", None)
        self._shut()
        chroma.clear(self._folder)
        chroma.place(new, self._folder)

    @contextmanager
    def _started(self, *task: str, line: str = "") -> Iterator[Subprocess]:
        """A process that `close` kills."""
        with Subprocess(*task, line=line) as process:
            with self._news:
                self._process = process
                if self._closing:
                    process.kill()
            try:
                yield process
            finally:
                with self._news:
                    self._process = None

    def _copy(self) -> None:
        """Bring the open index up to date. Raises what Chroma raises, and ValueError if tools are
        missing from it.
        """
        collection = self._collection
        if self._closing or collection is None:
            return
        mark, library = chroma.mark(collection), id_of(self._engine)
        with reading(self._engine) as connection:
            now, total = (
                revisions.current(connection),
                records.searched_count(connection, self._embedder),
            )
            if mark is not None and mark.library == library and mark.revision <= now:
                changed = revisions.changed(connection, mark.revision, ("", self._embedder))
                few = len(changed) <= max(_FEW, total // _SHARE)
                vectors = dict(records.searched(connection, self._embedder, changed)) if few else {}
            else:
                few = total <= _FEW and not collection.count()
                vectors = dict(records.searched(connection, self._embedder)) if few else {}
                mark, changed = None, list(vectors)
        if not few:
            self._open(anew=True)
            self._copy()
            return
        for name in changed:
            if self._closing:
                return
            self._write(collection, name, vectors.get(name))
        with self._using:
            if collection.count() != total:
                raise ValueError(f"it holds {collection.count()} of {total} tools")
            if changed or mark is None:
                chroma.put_mark(collection, chroma.Mark(library, now))
        self._report("ready", now)

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

    def _report(self, state: IndexState, revision: int | None) -> None:
        with self._news:
            self._state, self._revision = state, revision
            self._news.notify_all()
