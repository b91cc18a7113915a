"""Builds the search index anew in a process of its own: `python -m selfeng.registry.rebuild`, with an `Order` as a line of JSON on stdin.

Chroma's `add` holds the interpreter's lock for its whole call, which would keep a server from everything else. Each line on
stdout says how many vectors are in the index, and of how many; the end of stdin means that nobody waits for it any more.
"""

import os
import sys
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

from selfeng.core.leaving import exit_process
from selfeng.core.value import Value
from selfeng.registry import chroma, records, revisions
from selfeng.store.database import attach, id_of, reading

_BATCH = 1000
"""Vectors; half a second of work."""


class Order(Value):
    database: str
    """URL."""
    embedder: str
    collection: str
    folder: Path
    """Where the index is made; nothing may lie there."""


def rebuild(order: Order, report: Callable[[int, int], None]) -> None:
    """`report` is told how many tools are indexed, and of how many. Raises whatever SQL and Chroma raise."""
    engine = attach(order.database)
    client = chroma.open_client(order.folder)
    with reading(engine) as connection:
        mark = chroma.Mark(library=id_of(engine), revision=revisions.current(connection))
        total, done = records.searched_count(connection, order.embedder), 0
        report(done, total)
        collection = chroma.open_collection(client, order.collection)
        vectors = records.searched(connection, order.embedder)
        while batch := list(islice(vectors, _BATCH)):
            collection.add(ids=[name for name, _ in batch], embeddings=np.stack([vector for _, vector in batch]))
            done += len(batch)
            report(done, total)
    chroma.put_mark(collection, mark)
    client.close()
    engine.dispose()


def _print(done: int, total: int) -> None:
    sys.stdout.write(f"{done} {total}\n")
    sys.stdout.flush()


def _leave_at_the_end_of_stdin() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    given = Order.model_validate_json(sys.stdin.readline())
    threading.Thread(target=_leave_at_the_end_of_stdin, daemon=True).start()
    rebuild(given, _print)
    exit_process(0)
