"""ServerIndex: the search index at a Chroma server, which any number of processes share.

A build fills a collection of a new name, which gets its mark last; searches use the marked
collection with the newest revision. One process at a time writes, see `sole_worker`; the others
search what there is meanwhile.
"""

import hashlib
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import numpy as np
import sqlalchemy as sa

from selfeng.registry import chroma, records
from selfeng.registry.chroma_api import ChromaAPI, ServerCollection
from selfeng.registry.chroma_process import RebuildOrder
from selfeng.registry.fusion import Vector
from selfeng.registry.index_place import IndexAway, IndexBuilder, IndexState, IndexUpdate, Reached
from selfeng.store.database import address, contents_of, reading, sole_worker

_log = logging.getLogger(__name__)
_ANSWER_SECONDS = 2.0
"""Seconds that the server may take to answer; a search that gets no answer is made without it."""
_OTHERS_SECONDS = 0.2
"""Seconds from one look to the next whether another process still writes."""


class ServerIndex:
    """An `IndexPlace`."""

    def __init__(self, url: str, engine: sa.Engine, embedder: str, name: str) -> None:
        """`name` begins the names of the collections of this embedder, of every library."""
        self.builder = IndexBuilder()
        self._url, self._engine, self._embedder, self._name = url, engine, embedder, name
        self._api = ChromaAPI(url, _ANSWER_SECONDS)
        self._collection: ServerCollection | None = None
        self._suspect = False
        """Whether a search failed at the server, so that its answers are tried before the next."""

    def __str__(self) -> str:
        return f"the search index at {self._url}"

    def nearest(self, vector: Vector, count: int) -> list[str] | None:
        collection = self._collection
        if collection is None:
            return None
        try:
            with _answering():
                return collection.nearest(vector, count)
        except IndexAway:
            raise
        except Exception:
            self._suspect = True
            raise

    def catch_up(self, anew: bool, report: Callable[[IndexState, int | None], None]) -> Reached:
        while True:
            with _answering(), sole_worker(self._engine, self._name) as alone:
                current = self._current()
                if not alone and not anew:
                    return self._use(current)
                if alone:
                    sound = not anew and (not self._suspect or (current and _answers(current)))
                    self._suspect = False
                    return self._use(self._updated(current if sound else None))
            if self.builder.closed.wait(_OTHERS_SECONDS):
                return Reached("behind", None)

    def close(self) -> None:
        self._collection = None
        self._api.close()

    @property
    def _prefix(self) -> str:
        """What the names of the collections of this library begin with."""
        library = hashlib.sha256(contents_of(self._engine).encode()).hexdigest()[:12]
        return f"{self._name}-{library}-"

    def _current(self) -> ServerCollection | None:
        """The collection to search; None if there is none."""
        prefix = self._prefix
        marked = {
            mark.revision: collection
            for collection in self._api.collections()
            if collection.name.startswith(prefix) and (mark := collection.mark)
        }
        return marked[max(marked)] if marked else None

    def _use(self, collection: ServerCollection | None) -> Reached:
        self._collection = collection
        mark = collection and collection.mark
        return Reached("ready", mark.revision) if mark else Reached("behind", None)

    def _updated(self, current: ServerCollection | None) -> ServerCollection | None:
        """The collection with the whole library; None while closing. Raises what Chroma raises, and
        ValueError if tools are missing from it.
        """
        mark = current.mark if current else None
        due = IndexUpdate.of(self._engine, self._embedder, mark, lambda: 0)
        if due.vectors is None:
            new = self._built()
        else:
            new = current or self._api.create(self._prefix + secrets.token_hex(4))
            for name, vector in due.vectors.items():
                if self.builder.closed.is_set():
                    return None
                if vector is None:
                    new.remove(name)
                else:
                    new.write([name], vector[np.newaxis])
            due.check(new.count())
            if due.vectors or mark is None:
                new.put_mark(due.to)
        if new is not current:
            self._drop_others(new.name)
        return new

    def _built(self) -> ServerCollection:
        name = self._prefix + secrets.token_hex(4)
        order = RebuildOrder(
            database=address(self._engine),
            embedder=self._embedder,
            collection=name,
            server=self._url,
        )
        self.builder.build(order)
        return next(c for c in self._api.collections() if c.name == name)

    def _drop_others(self, kept: str) -> None:
        """Delete what this collection replaces, builds that were killed, and the collections of
        embedders that the library no longer has vectors of.
        """
        with reading(self._engine) as connection:
            known = {chroma.collection_name(name) for name in records.embedders(connection)}
        library = self._prefix.removeprefix(self._name)
        for other in self._api.collections():
            name, found, _ = other.name.partition(library)
            if found and other.name != kept and (name == self._name or name not in known):
                self._api.delete(other.name)


def _answers(collection: ServerCollection) -> bool:
    """Whether the collection can be searched."""
    try:
        collection.probe()
    except httpx2.TransportError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the index is built again
        _log.warning("the search index %s is damaged, rebuilding it: %s", collection.name, error)
        return False
    return True


@contextmanager
def _answering() -> Iterator[None]:
    """Raises: IndexAway instead of what the client raises if the server does not answer."""
    try:
        yield
    except httpx2.TransportError as error:
        raise IndexAway(str(error)) from error
