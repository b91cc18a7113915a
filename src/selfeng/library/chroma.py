"""Chroma over HTTP: a server at a URL, or one that this module starts for a folder. Chroma's own
client takes a second to import, waits forever for a server that hangs, and holds the interpreter's
lock while it writes; a damaged folder may crash its process.
"""

import logging
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from collections.abc import Collection as Names
from pathlib import Path
from typing import Any, Literal, NamedTuple

import httpx2
import numpy as np
from filelock import FileLock, Timeout

from selfeng.core.network import InstallFailed, installer_environment, run_installer
from selfeng.core.packages import fetch_command, lacking
from selfeng.core.places import FILES, child_environment
from selfeng.library.fusion import Vector

_log = logging.getLogger(__name__)
_PACKAGE = FILES / "requirements-chroma.txt"
"""Names Chroma's package, with its hash. Only its server, a module in Rust, is used: the packages
that its client in Python needs, 120 MB, are not installed.
"""
_MODULE, _FOLDER = "chromadb_rust_bindings", "chroma"
_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
_MOST = 10_000
"""Collections that are listed."""
_ANSWER_SECONDS = 2.0
"""Seconds that a search waits for the server."""
_WRITE_SECONDS = 60.0
_START_SECONDS = 60.0
_DATABASE = "chroma.sqlite3"
_SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SERVE = """
import os, sys, threading
sys.path.insert(0, sys.argv.pop(1))
from chromadb_rust_bindings import cli
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
cli(["chroma", *sys.argv[1:]])
"""
"""`chroma run` until this process ends, without the 80 MB of Chroma's package in Python."""


class ChromaRefused(Exception):
    """The server refuses a call, as for a collection that was deleted, or does not start."""


class Collection(NamedTuple):
    """A collection of vectors by the names of tools."""

    id: str
    name: str
    revision: int | None
    """Revision of the library that it holds; None while it is being filled."""


class Chroma:
    """Thread-safe. Every call raises ChromaRefused, or httpx2.TransportError if nothing answers."""

    def __init__(self, place: Path | str, parts: Path | None = None) -> None:
        """`place`: a folder, which one process has at a time, or the URL of a server; `parts`: see
        `prepare_chroma`.
        """
        self._parts = parts
        self._folder = place if isinstance(place, Path) else None
        # To read the system's certificates takes a third of an engine's start.
        self._http = httpx2.Client(
            base_url="" if self._folder else str(place), verify=self._folder is None
        )
        self._process: subprocess.Popen[bytes] | None = None
        if self._folder:
            lock = self._folder.parent / f".{self._folder.name}.lock"
            self._lock = FileLock(lock, thread_local=False)

    def open(self, *, from_scratch: bool) -> Literal["ready", "absent", "elsewhere"]:
        """Start the folder's server unless it runs; `from_scratch` deletes what the folder holds.

        Raises: OSError, ChromaRefused.
        """
        if self._folder is None:
            return "ready"
        if (server := _server(self._parts)) is None:
            return "absent"
        if not self._lock.is_locked:
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                return "elsewhere"
        if from_scratch or self.ended or not self._is_there:
            self._stop()
            self._folder.mkdir(parents=True, exist_ok=True)
            if from_scratch:
                _clear(self._folder)
            self._start(self._folder, server)
        return "ready"

    @property
    def ended(self) -> bool:
        """Whether the folder's server does not run."""
        return bool(self._folder) and (self._process is None or self._process.poll() is not None)

    def collections(self) -> list[Collection]:
        return [_collection(record) for record in self._call("GET", f"?limit={_MOST}")]

    def create(self, name: str) -> Collection:
        configuration = {"hnsw": {"space": "cosine"}}
        return _collection(self._call("POST", "", {"name": name, "configuration": configuration}))

    def delete(self, name: str) -> None:
        self._call("DELETE", f"/{name}")

    def mark(self, collection: Collection, revision: int) -> Collection:
        """Note the revision that the collection holds."""
        self._call("PUT", f"/{collection.id}", {"new_metadata": {"revision": revision}})
        return collection._replace(revision=revision)

    def count(self, collection: Collection) -> int:
        """The number of vectors. One is searched for first, which fails if they are damaged."""
        query = {"limit": 1, "include": ["embeddings"]}
        for vector in self._call("POST", f"/{collection.id}/get", query)["embeddings"]:
            self.nearest(collection, np.array(vector, dtype=np.float32), 1)
        return int(self._call("GET", f"/{collection.id}/count"))

    def nearest(self, collection: Collection, vector: Vector, count: int) -> list[str]:
        """Names of the nearest, best first."""
        if not self._is_there:
            raise ChromaRefused(f"{self._folder} was deleted")
        query = {"query_embeddings": [vector.tolist()], "n_results": count, "include": []}
        return list(self._call("POST", f"/{collection.id}/query", query, _ANSWER_SECONDS)["ids"][0])

    def write(self, collection: Collection, vectors: Mapping[str, Vector]) -> None:
        """Add vectors, or replace them."""
        rows = [b64encode(vector.astype("<f4").tobytes()).decode() for vector in vectors.values()]
        body = {"ids": list(vectors), "embeddings": rows}
        self._call("POST", f"/{collection.id}/upsert", body)

    def remove(self, collection: Collection, names: Names[str]) -> None:
        self._call("POST", f"/{collection.id}/delete", {"ids": list(names)})

    def close(self) -> None:
        self._http.close()
        self._stop()
        if self._folder:
            self._lock.release()

    @property
    def _is_there(self) -> bool:
        return self._folder is None or (self._folder / _DATABASE).exists()

    def _call(
        self, method: str, path: str, body: object = None, seconds: float = _WRITE_SECONDS
    ) -> Any:
        answer = self._http.request(method, _COLLECTIONS + path, json=body, timeout=seconds)
        if not answer.is_success:
            raise ChromaRefused(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json() if answer.content else None

    def _start(self, folder: Path, server: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ["--path", str(folder.resolve()), "--host", "127.0.0.1", "--port", str(port)]
        self._process = subprocess.Popen(  # noqa: S603 - fixed arguments
            [sys.executable, "-P", "-c", _SERVE, str(server), "run", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
            start_new_session=True,  # a Ctrl-C ends it with this process
        )
        self._http = httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, verify=False
        )
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and not self.ended:
            try:
                self._call("GET", "?limit=1")
                return
            except httpx2.TransportError:
                time.sleep(0.05)
        raise ChromaRefused("Chroma's server does not start")

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._http.close()


def prepare_chroma(parts: Path, report: Callable[[str], None]) -> None:
    """Fetch Chroma's server below this folder, unless it is installed or `make` has fetched it.
    Where there is none, searches are exact: a failure is logged.
    """
    parts.mkdir(parents=True, exist_ok=True)
    with FileLock(parts / ".chroma.lock"), tempfile.TemporaryDirectory(dir=parts) as scratch:
        if _server(parts):
            return
        report("Downloading the server of the search index (21 MB)")
        environment = installer_environment(child_environment(TMPDIR=scratch))
        try:
            run_installer(fetch_command(_PACKAGE, Path(scratch, _FOLDER)), environment=environment)
        except InstallFailed as error:
            _log.warning("Chroma can't be downloaded, so searches stay exact: %s", error.message)
        else:
            Path(scratch, _FOLDER).rename(parts / _FOLDER)


def _server(parts: Path | None) -> Path | None:
    """The folder of the server's module; None if there is none."""
    if not lacking(_MODULE):
        return Path()
    folders = (Path(sys.prefix, _FOLDER), *((parts / _FOLDER,) if parts else ()))
    return next((folder for folder in folders if (folder / _MODULE).is_dir()), None)


def _collection(record: dict[str, Any]) -> Collection:
    return Collection(record["id"], record["name"], (record.get("metadata") or {}).get("revision"))


def _clear(folder: Path) -> None:
    """Delete only the files that Chroma creates: a wrong CHROMA_PERSIST_DIR must not cost anyone's
    files.
    """
    for path in folder.iterdir():
        if path.name.startswith(_DATABASE):
            path.unlink()
        elif _SEGMENT.fullmatch(path.name):
            shutil.rmtree(path)
