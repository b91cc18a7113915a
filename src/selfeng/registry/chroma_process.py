"""Chroma in a separate process: `Subprocess` is the parent's side, and `python -m
selfeng.registry.chroma_process` the child's.

`probe FOLDER` opens an index, which may crash the process. `rebuild` reads a `RebuildOrder` as one
line of JSON from stdin and builds a new index; Chroma's `add` holds the interpreter's lock for its
whole call, which would block a server. Each line of output gives the number of vectors indexed and
the total. The process exits when stdin closes.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from selfeng.core.leaving import exit_process
from selfeng.core.places import child_environment
from selfeng.core.value import Value
from selfeng.registry.chroma import Mark, open_client, open_collection, put_mark
from selfeng.registry.chroma_api import ChromaAPI

_BATCH = 1000
"""Vectors per call of `add`, about half a second of work."""
_PATIENCE = 60.0
"""Seconds that a server may take for such a call."""


class Subprocess:
    """Runs a task with one line on stdin, which stays open while this process lives; the child ends
    with the context.
    """

    def __init__(self, *task: str, line: str = "") -> None:
        self._complaint = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the context; an unread pipe could fill up
        self._process = subprocess.Popen(  # noqa: S603 - fixed arguments
            [sys.executable, "-P", "-m", __name__, *task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaint,
            text=True,
            env=child_environment(),
            start_new_session=True,  # a Ctrl-C that ends it would look like a failure
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it exited at once; `wait` says why
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._complaint):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def lines(self) -> Iterator[str]:
        """The lines of its output, until it exits."""
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def wait(self, seconds: float | None = None) -> str | None:
        """Wait for the process to exit; None on success, else the last line of its stderr. After
        `seconds` it is killed.
        """
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"it did not end within {seconds:g} seconds"
        if self._process.returncode == 0:
            return None
        self._complaint.seek(0)
        lines = self._complaint.read().decode(errors="replace").split("\n")
        return next(
            (line for line in reversed(lines) if line.strip()),
            f"it ended with code {self._process.returncode}",
        )

    def kill(self) -> None:
        self._process.kill()


def probe(folder: Path) -> None:
    """Access everything that opening the index will access. Raises what Chroma raises."""
    client = open_client(folder)
    for collection in client.list_collections():
        entries = collection.get(limit=1, include=["embeddings"])
        vectors = np.array(entries["embeddings"], dtype=np.float32)
        if len(vectors):
            collection.query(query_embeddings=vectors, n_results=1, include=["distances"])
    client.close()


class RebuildOrder(Value):
    database: str
    """URL."""
    embedder: str
    collection: str
    """A new name, or any in a folder."""
    folder: Path | None = None
    """The folder to build the index in, which must be empty; None: it is built at the server."""
    server: str = ""
    """URL."""

    @contextmanager
    def target(self) -> Iterator["IndexTarget"]:
        """The new index, to be filled."""
        if self.folder:
            client = open_client(self.folder)
            collection = open_collection(client, self.collection)
            yield IndexTarget(
                lambda names, vectors: collection.add(ids=names, embeddings=vectors),
                partial(put_mark, collection),
            )
            client.close()
        else:
            api = ChromaAPI(self.server, _PATIENCE)
            created = api.create(self.collection)
            yield IndexTarget(created.write, created.put_mark)
            api.close()


class IndexTarget(NamedTuple):
    add: Callable[[list[str], npt.NDArray[np.float32]], None]
    put_mark: Callable[[Mark], None]


def rebuild(order: RebuildOrder, report: Callable[[int, int], None]) -> None:
    """Build the index; `report` gets the number of tools indexed and the total. Raises what SQL and
    Chroma raise.
    """
    from selfeng.registry import records, revisions
    from selfeng.store.database import attach, contents_of, reading

    engine = attach(order.database)
    with order.target() as target, reading(engine) as connection:
        mark = Mark(library=contents_of(engine), revision=revisions.current(connection))
        total, done = records.searched_count(connection, order.embedder), 0
        report(done, total)
        vectors = records.searched(connection, order.embedder)
        while batch := list(islice(vectors, _BATCH)):
            target.add([name for name, _ in batch], np.stack([vector for _, vector in batch]))
            done += len(batch)
            report(done, total)
        target.put_mark(mark)
    engine.dispose()


def _print(done: int, total: int) -> None:
    sys.stdout.write(f"{done} {total}\n")
    sys.stdout.flush()


def _leave_at_the_end_of_stdin() -> None:
    sys.stdin.read()
    os._exit(1)


def _main(task: str, *folder: str) -> None:
    if task == "probe":
        probe(Path(*folder))
        return
    order = RebuildOrder.model_validate_json(sys.stdin.readline())
    threading.Thread(target=_leave_at_the_end_of_stdin, daemon=True).start()
    rebuild(order, _print)


if __name__ == "__main__":
    _main(*sys.argv[1:])
    exit_process(0)
