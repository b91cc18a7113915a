"""How long a search takes, and what a library costs: `python -m benchmarks.lookup [TOOLS...]`, by
default 1000, 10000 and 100000.

Each size is a library of its own in a temporary folder, and is measured in processes of their own:
one builds the index, one opens the library and searches on one core, one asks Chroma alone, with
the same vectors and requests. The last line is one JSON object: `lookup_ms` with `p50` and `p99` by
size, of a search without any call of a model, the request's embedding included; `chroma_ms` the
same for Chroma alone; `exact_ms` without an index; and by size `open_s` until the library can be
searched, `ready_s` until that is with the index, `rebuild_s` from opening a library without an
index until it has one, `memory_mb` of the process that searches, and `chroma_memory_mb`.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.synthetic import fill, requests
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.leaving import exit_process
from selfeng.embedding.minilm import MiniLM
from selfeng.embedding.model_files import FOLDER
from selfeng.settings import load_settings
from selfeng.store.database import open_database

SIZES = (1_000, 10_000, 100_000)
_ROOT = Path(__file__).parents[1]
_REQUESTS, _WARM_UP = 400, 50
_PATIENCE = 1800.0
"""Seconds for the index of the largest library."""


def measure(
    sizes: tuple[int, ...] = SIZES, report: Callable[[str], None] = lambda line: None
) -> dict[str, dict[str, Any]]:
    """All figures, each by size; `report` is told what is under way."""
    figures: dict[str, dict[str, Any]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="lookup-") as folder:
            for part in ("fill", "index", "search", "chroma"):
                report(f"{size} tools: {part}")
                for name, figure in apart(part, Path(folder), size).items():
                    figures.setdefault(name, {})[str(size)] = figure
    return figures


def apart(part: str, folder: Path, size: int) -> dict[str, Any]:
    """Run a part of the measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.lookup", part, str(folder), str(size)]
    done = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - our own words
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


async def _fill(folder: Path, size: int) -> dict[str, Any]:
    started = time.perf_counter()
    engine = open_database(f"sqlite:///{folder / 'agent.db'}")
    fill(engine, folder / "tools", _embedder(), size)
    return {"fill_s": _since(started)}


async def _index(folder: Path, size: int) -> dict[str, Any]:
    started = time.perf_counter()
    keeper = library(folder)
    await keeper.start()
    assert await keeper.settle(_PATIENCE) == "ready"
    figures: dict[str, Any] = {"rebuild_s": _since(started)}
    other = library(folder)  # a second one has no index
    await other.start()
    figures["exact_ms"] = await _times(other.search, _REQUESTS // 8)
    await other.aclose()
    await keeper.aclose()
    return figures


async def _search(folder: Path, size: int) -> dict[str, Any]:
    _pin()
    started = time.perf_counter()
    opened = library(folder)
    await opened.start()
    figures: dict[str, Any] = {"open_s": _since(started)}
    assert await opened.settle(_PATIENCE) == "ready"
    figures |= {
        "ready_s": _since(started),
        "lookup_ms": await _times(opened.search, _REQUESTS),
        "memory_mb": _memory_mb(),
    }
    await opened.aclose()
    return figures


async def _chroma(folder: Path, size: int) -> dict[str, Any]:
    """Chroma alone, as one would use it without anything of ours but the embedder."""
    _pin()
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        path=str(folder / "chroma_db"), settings=Settings(anonymized_telemetry=False)
    )
    (collection,) = client.list_collections()
    embedder = _embedder()

    async def query(request: str) -> object:
        return collection.query(
            query_embeddings=embedder.embed([request]),
            n_results=8,
            include=["distances", "metadatas"],
        )

    return {"chroma_ms": await _times(query, _REQUESTS), "chroma_memory_mb": _memory_mb()}


async def _times(search: Callable[[str], Awaitable[object]], count: int) -> dict[str, float]:
    """Milliseconds of so many searches, after some that don't count."""
    for request in requests(_WARM_UP):
        await search(request)
    taken = []
    for request in requests(_WARM_UP + count)[_WARM_UP:]:
        started = time.perf_counter()
        await search(request)
        taken.append(1000 * (time.perf_counter() - started))
    return {
        "p50": round(float(np.percentile(taken, 50)), 2),
        "p99": round(float(np.percentile(taken, 99)), 2),
    }


def library(folder: Path) -> CapabilityRegistry:
    return CapabilityRegistry(
        open_database(f"sqlite:///{folder / 'agent.db'}"),
        folder / "tools",
        folder / "chroma_db",
        _embedder(),
    )


def _embedder() -> MiniLM:
    return MiniLM(load_settings().data_dir / FOLDER)


def _pin() -> None:
    """To one core, before any library counts the cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _memory_mb() -> float:
    """Of this process, resident."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("fill" | "index" | "search" | "chroma") as part, folder, size]:
            parts = {"fill": _fill, "index": _index, "search": _search, "chroma": _chroma}
            sys.stdout.write(json.dumps(asyncio.run(parts[part](Path(folder), int(size)))) + "\n")
            exit_process(0)
        case sizes:
            figures = measure(
                tuple(map(int, sizes)) or SIZES, lambda line: sys.stderr.write(f"{line}\n") and None
            )
            sys.stdout.write(json.dumps(figures) + "\n")
