"""The search index in Chroma: a copy of the shelf's vectors that may be lost, damaged or late, and is then made again.

One thread of its own opens and feeds it, so that neither Chroma's import (a second) nor its writes (4 ms a tool, with the
interpreter's lock held) stand in anyone's way; until it has caught up with a shelf, the shelf's exact search serves.
"""

import hashlib
import logging
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from filelock import FileLock, Timeout

from src.registry import chroma
from src.registry.fusion import Vector
from src.registry.shelf import EMPTY, Shelf

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client

_log = logging.getLogger(__name__)
_ROOT = Path(__file__).resolve().parents[2]
_PROBE_SECONDS = 60.0
_PAUSE_SECONDS = 30.0
"""After a failure, before the next try."""
_CLOSE_SECONDS = 1.5

IndexState = Literal["behind", "ready", "elsewhere", "broken"]
"""elsewhere: another process keeps the index of this folder; broken: Chroma can't be used now."""


class SearchIndex:
    """Thread-safe. Nothing that happens to it is ever an error of a search."""

    def __init__(self, folder: Path, embedder: str) -> None:
        self._folder = folder
        self._name = "tools-" + hashlib.sha256(embedder.encode()).hexdigest()[:12]
        self._lock = FileLock(folder.parent / f".{folder.name}.lock", thread_local=False)
        self._thread = threading.Thread(target=self._keep, name="search-index", daemon=True)
        self._news = threading.Condition()
        self._target = EMPTY
        self._state: IndexState = "behind"
        self._revision = ""
        self._demanded = False
        self._busy = False
        self._closing = False
        self._not_before = 0.0
        self._probe: subprocess.Popen[bytes] | None = None
        self._using = threading.Lock()
        """Held while the client is opened, used or closed; guards what follows."""
        self._client: Client | None = None
        self._collection: Collection | None = None
        self._identity: int | None = None

    def start(self) -> None:
        self._thread.start()

    @property
    def state(self) -> IndexState:
        return self._state

    def follow(self, shelf: Shelf) -> None:
        """Bring the index to this shelf, in the background. Cheap when it is there."""
        with self._news:
            self._target = shelf
            up_to_date = self._state == "ready" and self._revision == shelf.revision
            if not up_to_date and time.monotonic() >= self._not_before:
                self._demanded = True
                self._news.notify_all()

    def nearest(self, shelf: Shelf, vector: Vector, count: int) -> list[str] | None:
        """Names of the nearest tools, best first; None if the index is not that of this shelf."""
        if self._revision != shelf.revision or not self._using.acquire(blocking=False):
            return None
        try:
            if self._collection is None or chroma.identity(self._folder) != self._identity:
                raise FileNotFoundError(f"{self._folder} was deleted")
            found = self._collection.query(
                query_embeddings=vector[np.newaxis], n_results=min(count, len(shelf.names)), include=["distances"]
            )
            return list(found["ids"][0])
        except Exception as error:  # noqa: BLE001 - whatever ails the index, the exact search answers
            _log.warning("the search index is made again: %s", error)
            self._report("behind", "")
            self.follow(shelf)
            return None
        finally:
            self._using.release()

    def settle(self, shelf: Shelf, seconds: float) -> IndexState:
        """Wait until the index has caught up with the shelf, or can't. Blocking."""
        with self._news:
            self._news.wait_for(lambda: not (self._demanded or self._busy), seconds)
            return "behind" if self._state == "ready" and self._revision != shelf.revision else self._state

    def close(self) -> None:
        """Let go of the folder; what is under way is left behind after a moment, since it can be made again."""
        with self._news:
            self._closing = True
            self._news.notify_all()
            if self._probe is not None:
                self._probe.kill()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_SECONDS)

    def _keep(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._demanded or self._closing)
                if self._closing:
                    break
                self._demanded, self._busy = False, True
                shelf = self._target
            try:
                with self._using:
                    self._catch_up(shelf)
            except Exception:  # noqa: BLE001 - the edge of the thread; the library works without the index
                _log.exception("the search index in %s can't be used; the exact search serves", self._folder)
                self._not_before = time.monotonic() + _PAUSE_SECONDS
                self._report("broken", "")
            finally:
                with self._news:
                    self._busy = False
                    self._news.notify_all()
        with self._using:
            self._shut()
        self._lock.release()

    def _catch_up(self, shelf: Shelf) -> None:
        if not self._lock.is_locked:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                self._report("elsewhere", "")
                return
        try:
            self._open_if_needed()
            self._copy(shelf)
        except Exception as error:  # noqa: BLE001 - made again once; a second failure is reported
            if self._closing:
                return
            _log.warning("the search index in %s is made again: %s", self._folder, error)
            self._shut()
            chroma.clear(self._folder)
            self._open_if_needed()
            self._copy(shelf)

    def _open_if_needed(self) -> None:
        found = chroma.identity(self._folder)
        if self._collection is not None and found == self._identity:
            return
        self._shut()
        if found is None or not self._opens():
            chroma.clear(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._client = chroma.open_client(self._folder)
        self._collection = chroma.open_collection(self._client, self._name)
        self._identity = chroma.identity(self._folder)

    def _opens(self) -> bool:
        """Whether Chroma can open what lies there; a damaged index may crash the process that tries."""
        command = [sys.executable, "-m", "src.registry.probe", str(self._folder.resolve())]
        with self._news:
            if self._closing:
                return True
            self._probe = subprocess.Popen(  # noqa: S603 - our own words
                command,
                cwd=_ROOT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C that ends it would look like a damaged index
            )
        try:
            _, complaint = self._probe.communicate(timeout=_PROBE_SECONDS)
        except subprocess.TimeoutExpired:
            self._probe.kill()
            _, complaint = self._probe.communicate()
        sound = self._probe.returncode == 0
        self._probe = None
        if not sound and not self._closing:
            last = complaint.decode(errors="replace").strip().splitlines()[-1:]
            _log.warning("the search index in %s is damaged and made again: %s", self._folder, "".join(last))
        return sound or self._closing

    def _copy(self, shelf: Shelf) -> None:
        collection = self._collection
        assert collection is not None
        entries = collection.get(include=["metadatas"])
        present = {name: (entry or {}).get("stamp") for name, entry in zip(entries["ids"], entries["metadatas"] or [], strict=True)}
        superfluous = [name for name in present if name not in shelf.stamps]
        if superfluous:
            collection.delete(ids=superfluous)
        for name, stamp in shelf.stamps.items():
            if self._closing:
                return
            if present.get(name) != stamp:  # one at a time: each call holds the interpreter's lock to its end
                collection.upsert(ids=[name], embeddings=shelf.vectors[name][np.newaxis], metadatas=[{"stamp": stamp}])
        self._report("ready", shelf.revision)

    def _shut(self) -> None:
        client, self._client, self._collection, self._identity = self._client, None, None, None
        if client is not None:
            client.close()

    def _report(self, state: IndexState, revision: str) -> None:
        with self._news:
            self._state, self._revision = state, revision
            self._news.notify_all()
