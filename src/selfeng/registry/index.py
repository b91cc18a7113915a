"""The search index in Chroma: a copy of the vectors in SQL, which is rebuilt when it is lost or
damaged and catches up when it is behind.

A separate thread opens and updates it, so that neither Chroma's import (a second) nor its writes
(10 ms a tool, with the interpreter's lock held) block other work. A mark in the index says which
revision of the library it holds. A search looks up in SQL which tools have changed since, so an
index that is behind still serves; without an index, the exact search serves.
"""

import logging
import threading
import time
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.registry import chroma
from selfeng.registry.fusion import Vector
from selfeng.registry.index_folder import FolderIndex
from selfeng.registry.index_place import IndexAway, IndexState, Progress, Reached
from selfeng.registry.index_server import ServerIndex

_log = logging.getLogger(__name__)
_GRACE_SECONDS = 5.0
"""Seconds from the start until Chroma is loaded and probed, which takes seconds in two processes;
shorter commands avoid that cost.
"""
_PAUSE_SECONDS = 30.0
"""Seconds from a failure to the next attempt."""
_AWAY_SECONDS = 3.0
"""The same for a server that does not answer."""
_OTHERS_SECONDS = 1.0
"""Seconds until the next look at an index that another process is updating."""
_CLOSE_SECONDS = 1.5


class Found(NamedTuple):
    names: list[str]
    """Best first; some may have changed or been removed since."""
    revision: int
    """Revision of the library that was searched."""


class SearchIndex:
    """Thread-safe. A failure of the index never fails a search."""

    def __init__(self, place: Path | str, engine: sa.Engine, embedder: str) -> None:
        """`place` is a folder, or the URL of a Chroma server."""
        name = chroma.collection_name(embedder)
        self._place = (
            FolderIndex(place, engine, embedder, name)
            if isinstance(place, Path)
            else ServerIndex(place, engine, embedder, name)
        )
        self._thread = threading.Thread(target=self._keep, name="search-index", daemon=True)
        self._news = threading.Condition()
        self._state: IndexState = "behind"
        self._revision: int | None = None
        """Revision of the library that the index holds; None if it can't be searched."""
        self._wanted = 0
        """The newest revision that `follow` was told of."""
        self._demanded = self._awaited = self._anew = self._busy = self._closing = False
        self._not_before = 0.0

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
    def building(self) -> bool:
        """Whether a process that reads or builds the index is running."""
        return self._place.builder.working

    @property
    def progress(self) -> Progress | None:
        """The progress of a running build, else None."""
        return self._place.builder.progress

    def follow(self, revision: int) -> None:
        """Bring the index to this revision of the library, in the background. Cheap if it is
        already there.
        """
        with self._news:
            self._wanted = max(self._wanted, revision)
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
        revision = self._revision
        if revision is None:
            return None
        try:
            names = self._place.nearest(vector, count)
        except IndexAway as error:
            self._lose(error)
        except Exception as error:  # noqa: BLE001 - the exact search answers instead
            _log.warning("opening %s again: %s", self._place, error)
            self._report("behind", None)
            self.follow(0)
        else:
            return names if names is None else Found(names, revision)
        return None

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
        """Release the index. Unfinished work is abandoned after a moment, because it can be
        redone.
        """
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._place.builder.close()
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
                self._arrive(self._caught_up())
            except IndexAway as error:
                self._lose(error)
            except Exception:  # noqa: BLE001 - the edge of the thread; the library works without the index
                _log.exception("%s can't be used; using exact search", self._place)
                self._not_before = time.monotonic() + _PAUSE_SECONDS
                self._report("broken", None)
            finally:
                with self._news:
                    self._busy = False
                    self._news.notify_all()
        self._place.close()

    def _caught_up(self) -> Reached:
        anew, self._anew = self._anew, False
        try:
            return self._place.catch_up(anew, self._report)
        except IndexAway:
            raise
        except Exception as error:  # noqa: BLE001 - rebuilt once; a second failure is reported
            if self._closing:
                return Reached("behind", None)
            _log.warning("rebuilding %s: %s", self._place, error)
            return self._place.catch_up(True, self._report)

    def _arrive(self, reached: Reached) -> None:
        others_write = reached.state == "ready" and (reached.revision or 0) < self._wanted
        if reached.state == "behind" or others_write:
            self._not_before = time.monotonic() + _OTHERS_SECONDS
        self._report(*reached)

    def _lose(self, error: IndexAway) -> None:
        if self._state != "away":
            _log.warning("%s is away; using exact search: %s", self._place, error)
        self._not_before = time.monotonic() + _AWAY_SECONDS
        self._report("away", None)

    def _report(self, state: IndexState, revision: int | None) -> None:
        with self._news:
            self._state, self._revision = state, revision
            self._news.notify_all()
