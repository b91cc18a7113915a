"""The search index in Chroma: a copy of the vectors in SQL, which is rebuilt when it is lost or
damaged and catches up when it is behind.

A thread of its own writes it. Each database and embedder has a collection, which notes the revision
of the library that it holds. One process at a time writes, see `sole_worker`; the others search
what there is. A search looks up in SQL which tools have changed since, so an index that is behind
still serves; without an index, the exact search serves.
"""

import hashlib
import logging
import threading
import time
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import httpx2
import sqlalchemy as sa

from selfeng.library import records, revisions
from selfeng.library.chroma import Chroma, Collection
from selfeng.library.fusion import Vector
from selfeng.store.database import contents_of, reading, sole_worker

_log = logging.getLogger(__name__)
_GRACE_SECONDS = 5.0
"""Seconds from the start until the index is opened, which shorter commands do without."""
_PAUSE_SECONDS = 30.0
"""Seconds from a failure to the next attempt."""
_AWAY_SECONDS = 3.0
"""The same for a server that does not answer."""
_OTHERS_SECONDS = 1.0
"""Seconds until the next look at an index that another process is updating."""
_CLOSE_SECONDS = 1.5
_BATCH = 200
"""Vectors that are written at once."""
_MANY = 1_000
"""Changed tools from which on the index is rebuilt."""

IndexState = Literal["behind", "ready", "elsewhere", "away", "absent", "broken"]
"""elsewhere: another process holds the index of this folder; away: the server of the index does not
answer; absent: Chroma is not installed; broken: it can't be used now.
"""


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

    def __init__(
        self, place: Path | str, engine: sa.Engine, embedder: str, parts: Path | None = None
    ) -> None:
        """`place` is a folder, or the URL of a Chroma server; `parts`: see `prepare_chroma`."""
        self._place, self._engine, self._embedder = place, engine, embedder
        self._chroma = Chroma(place, parts)
        self._thread = threading.Thread(target=self._keep, name="search-index", daemon=True)
        self._news = threading.Condition()
        self.state: IndexState = "behind"
        self._collection: Collection | None = None
        """The collection that searches use."""
        self._target_revision = 0
        """The newest revision that `follow` has received."""
        self._demanded = self._awaited = self._from_scratch = self._busy = self._closing = False
        self._not_before = 0.0
        self.progress: Progress | None = None
        """The progress of a running build, else None."""

    def start(self) -> None:
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether no work is running or pending."""
        return not (self._demanded or self._busy or self._late)

    @property
    def _late(self) -> bool:
        """Whether the next attempt comes by itself: broken and away wait for a demand."""
        return self.state in ("behind", "ready") and (self._revision or 0) < self._target_revision

    @property
    def _revision(self) -> int | None:
        return self._collection and self._collection.revision

    def follow(self, revision: int) -> None:
        """Bring the index to this revision of the library, in the background. Cheap if it is
        already there.
        """
        with self._news:
            self._target_revision = max(self._target_revision, revision)
            if self._revision != revision and time.monotonic() >= self._not_before:
                self._demanded = True
                self._news.notify_all()

    def rebuild(self) -> None:
        """Rebuild the index in the background, whatever its state."""
        with self._news:
            self._demanded = self._awaited = self._from_scratch = True
            self._not_before = 0.0
            self._news.notify_all()

    def nearest(self, vector: Vector, count: int) -> Found | None:
        """None if the index can't be searched now."""
        if (collection := self._collection) is None or collection.revision is None:
            return None
        try:
            return Found(self._chroma.nearest(collection, vector, count), collection.revision)
        except httpx2.TransportError as error:
            self._lose(error)
        except Exception as error:  # noqa: BLE001 - the exact search answers instead
            _log.warning("opening the search index in %s again: %s", self._place, error)
            self._report("behind")
        return None

    def settle(self, revision: int, seconds: float) -> IndexState:
        """Wait until the index has caught up with the revision, or has failed to. Blocking."""
        with self._news:
            self._awaited = True
            self._news.notify_all()
            self._news.wait_for(lambda: self.idle, seconds)
            late = self.state == "ready" and (self._revision or 0) < revision
            return "behind" if late else self.state

    def close(self) -> None:
        """Release the index. Unfinished work is abandoned after a moment, because it can be
        redone.
        """
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _keep(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self._awaited or self._closing, _GRACE_SECONDS)
        while True:
            with self._news:
                while not (self._demanded or self._closing):
                    pause = max(0.0, self._not_before - time.monotonic()) if self._late else None
                    if not self._news.wait(pause):
                        break
                if self._closing:
                    break
                self._demanded, self._busy = False, True
            try:
                self._catch_up()
            except httpx2.TransportError as error:
                self._lose(error)
            except Exception:  # noqa: BLE001 - the edge of the thread; the library works without the index
                if not self._closing:
                    _log.exception("%s can't be used; using exact search", self._place)
                self._not_before = time.monotonic() + _PAUSE_SECONDS
                self._report("broken")
            finally:
                with self._news:
                    self.progress, self._busy = None, False
                    self._news.notify_all()
        self._chroma.close()

    def _catch_up(self) -> None:
        from_scratch, self._from_scratch = self._from_scratch, False
        try:
            self._reach(from_scratch=from_scratch)
        except Exception as error:
            is_away = isinstance(error, httpx2.TransportError) and not self._chroma.ended
            if is_away or self._closing:
                raise
            _log.warning("rebuilding the search index in %s: %s", self._place, error)
            self._report("behind")
            self._reach(from_scratch=True)

    def _reach(self, *, from_scratch: bool) -> None:
        """Bring the index to the current revision, or build it `from_scratch`. Raises what Chroma
        raises, and ValueError if tools are missing from it.
        """
        if (opened := self._chroma.open(from_scratch=from_scratch)) != "ready":
            self._report(opened)
            return
        embedder = collection_name(self._embedder)
        name = f"{embedder}-{_short(contents_of(self._engine))}"
        while not self._closing:
            with sole_worker(self._engine, embedder) as alone:
                if alone or not from_scratch:
                    collection = {c.name: c for c in self._chroma.collections()}.get(name)
                    self._arrive(
                        self._updated(name, collection, from_scratch) if alone else collection
                    )
                    break
            time.sleep(0.2)

    def _updated(self, name: str, collection: Collection | None, from_scratch: bool) -> Collection:
        """The collection with the whole library."""
        with reading(self._engine) as connection:
            now = revisions.current(connection)
            total = records.searched_count(connection, self._embedder)
            changed: list[str] | None = None
            if (
                collection
                and collection.revision is not None
                and collection.revision <= now
                and not from_scratch
            ):
                changed = revisions.changed(connection, collection.revision, ("", self._embedder))
            if collection is None or changed is None or len(changed) > _MANY:
                self._report("behind")
                collection, changed = self._new(connection, name), None
            vectors, written_count = records.searched(connection, self._embedder, changed), 0
            removed_names = set(changed or ())
            while batch := dict(islice(vectors, _BATCH)):
                if self._closing:
                    raise InterruptedError
                self._chroma.write(collection, batch)
                removed_names -= batch.keys()
                written_count += len(batch)
                self.progress = Progress(written_count, total) if changed is None else None
            if removed_names:
                self._chroma.remove(collection, removed_names)
            if (vector_count := self._chroma.count(collection)) != total:
                raise ValueError(f"it holds {vector_count} of {total} tools")
        return (
            collection._replace(revision=now)
            if changed == []
            else self._chroma.mark(collection, now)
        )

    def _new(self, connection: sa.Connection, name: str) -> Collection:
        """A new, empty collection of that name. Deletes the former one, those of embedders without
        vectors in the library, and, in a folder, those of other libraries.
        """
        embedder_names = [collection_name(embedder) for embedder in records.embedders(connection)]
        for collection in self._chroma.collections():
            embedder, _, library = collection.name.rpartition("-")
            former = name.endswith(f"-{library}") and embedder not in embedder_names
            if collection.name == name or former or isinstance(self._place, Path):
                self._chroma.delete(collection.name)
        return self._chroma.create(name)

    def _arrive(self, collection: Collection | None) -> None:
        ready = collection if collection and collection.revision is not None else None
        if ready is None or (ready.revision or 0) < self._target_revision:  # others write
            self._not_before = time.monotonic() + _OTHERS_SECONDS
        self._report("ready" if ready else "behind", ready)

    def _lose(self, error: Exception) -> None:
        if self.state != "away":
            _log.warning("%s is away; using exact search: %s", self._place, error)
        self._not_before = time.monotonic() + _AWAY_SECONDS
        self._report("away")

    def _report(self, state: IndexState, collection: Collection | None = None) -> None:
        with self._news:
            self.state, self._collection = state, collection
            self._news.notify_all()


def collection_name(embedder: str) -> str:
    """The prefix of the names of this embedder's collections."""
    return f"tools-{_short(embedder)}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
