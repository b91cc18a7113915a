"""Chroma in a process of its own: `Subprocess` is our end, and `python -m
selfeng.registry.chroma_process` the other.

`probe FOLDER` opens an index, which may crash the process. `rebuild`, with a `RebuildOrder` as a
line of JSON on stdin, makes an index again: Chroma's `add` holds the interpreter's lock for its
whole call, which would stop a server. Each line that it prints says how many vectors are in the
index, and of how many; at the end of stdin it gives up.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from selfeng.core.leaving import exit_process
from selfeng.core.value import Value
from selfeng.registry.chroma import Mark, open_client, open_collection, put_mark

_BATCH = 1000
"""Vectors; half a second of work."""


class Subprocess:
    """Runs a task with a line on stdin, which stays open for as long as we live; the process ends
    with the context.
    """

    def __init__(self, *task: str, line: str = "") -> None:
        self._complaint = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the context; a pipe without a reader could fill up
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            [sys.executable, "-P", "-m", __name__, *task],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaint,
            text=True,
            start_new_session=True,  # a Ctrl-C that ends it would look like a failure
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended at once, and `wait` says why
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
        """What it prints, line by line, until it ends."""
        assert self._process.stdout is not None
        return iter(self._process.stdout)

    def wait(self, seconds: float | None = None) -> str | None:
        """Wait for its end; None if it ended well, else the last line that it complained with.
        After `seconds` it is killed.
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
    """Touch everything that opening the index will touch. Raises whatever Chroma raises."""
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
    folder: Path
    """Where the index is made; nothing may lie there."""


def rebuild(order: RebuildOrder, report: Callable[[int, int], None]) -> None:
    """`report` is told how many tools are indexed, and of how many. Raises whatever SQL and Chroma
    raise.
    """
    from selfeng.registry import records, revisions
    from selfeng.store.database import attach, id_of, reading

    engine = attach(order.database)
    client = open_client(order.folder)
    with reading(engine) as connection:
        mark = Mark(library=id_of(engine), revision=revisions.current(connection))
        total, done = records.searched_count(connection, order.embedder), 0
        report(done, total)
        collection = open_collection(client, order.collection)
        vectors = records.searched(connection, order.embedder)
        while batch := list(islice(vectors, _BATCH)):
            collection.add(
                ids=[name for name, _ in batch],
                embeddings=np.stack([vector for _, vector in batch]),
            )
            done += len(batch)
            report(done, total)
    put_mark(collection, mark)
    client.close()
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
