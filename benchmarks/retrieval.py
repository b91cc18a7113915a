"""Whether the right tool is found: `python -m benchmarks.retrieval [--data DIR] [--sets …] [--sizes
…]`; the last line is JSON.

Each data set becomes a library, which is searched by `CapabilityRegistry.search`, as a turn does.
Per set, in percent: `hit1`, `r5`, `r8` and `ndcg10` over the requests that some tool serves, recall
being the share of these tools among the first k.

Whether it is known that there is no tool: three tools of ten are absent, by the protocol of the
data (int(md5(seed + id), 16) % 1000 < 300, with `--seed` A unless given), and a library of the
others is asked everything. A request is positive if it has a tool there. Found means what it means
without a model: the best candidate's confidence is at least 0.75, the default of
SIMILARITY_THRESHOLD. `found_f1`, `notfound_f1`, and `auroc` of that confidence; `found_f1_even` and
`notfound_f1_even` are those of a threshold of 0.5. `confidence_error` is the mean difference
between that confidence and the share of right tools, in ten bands, the right tool being absent in
30 % of the requests.

The last line's own `confidence_error` is that on tasks that no fit has seen, in libraries of every
size: fitted to half of the tools with their requests, and judged on the others, both ways
(`benchmarks/fit_retrieval.py`). Above GOAL the exit code is 1.

The same of two baselines with the same embedder: `cosine`, the nearest description, found at a
cosine of 0.75; and `chroma`, a plain collection of `name: description`, found at a similarity of
0.75. `lookup_ms`: see `benchmarks/lookup.py`.

Over all requests, which the shipped map has seen (15 minutes on two shared cores), hit@1 / R@5 / F1
of found / F1 of not found / AUROC:

metatool          ours     75.8 / 93.1 / 60.4 / 61.1 / 84.0
                  cosine   55.2 / 75.7 / 6.8 / 50.1 / 73.9
                  Chroma   55.8 / 76.6 / 4.7 / 49.8 / 73.9
toolalpaca        ours     95.1 / 100.0 / 59.5 / 41.0 / 67.5
                  cosine   63.7 / 91.2 / 20.5 / 39.7 / 65.4
                  Chroma   57.8 / 88.7 / 20.5 / 39.7 / 62.6
stabletoolbench   ours     76.7 / 78.7 / 57.5 / 19.4 / 73.9
                  cosine   47.8 / 45.3 / 11.1 / 15.0 / 67.2
                  Chroma   57.4 / 57.6 / 16.3 / 15.4 / 69.5
bfcl              ours     53.9 / 83.8 / 52.4 / 71.8 / 74.1
                  cosine   39.2 / 63.3 / 19.4 / 69.7 / 69.5
                  Chroma   38.9 / 64.1 / 16.8 / 69.5 / 69.7
sealtools         ours     96.0 / 88.0 / 83.2 / 40.0 / 94.0
                  cosine   72.2 / 59.6 / 10.6 / 18.0 / 75.4
                  Chroma   74.0 / 60.5 / 8.0 / 17.7 / 75.1
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks.fit_retrieval import Fit, unseen_tasks
from benchmarks.fitting.confidence_training import ANSWERABLE, calibration_error, present
from benchmarks.fitting.data import Query, RetrievalSet, read_sets
from benchmarks.goals import report
from benchmarks.lookup import SIZES, measure
from benchmarks.measures import DEPTH, Ranks, auroc, f1, quality
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import ConfigurationError
from selfeng.core.protocols import Embedder
from selfeng.core.settings import load_settings
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library import records
from selfeng.library.fusion import parameter_words, split_words, tool_vector
from selfeng.library.records import Embedding
from selfeng.library.tool_files import code_file, source_digest, tests_file
from selfeng.models.embedding.minilm import MiniLM
from selfeng.store.database import open_database, writing

DATA = Path(__file__).parents[2] / "shared" / "data" / "retrieval"
THRESHOLD = 0.75
GOAL = 0.08
"""Most that the confidence may differ from the share of right tools."""
SEED = "A"
_PATIENCE = 600.0


class Found(NamedTuple):
    """By one search."""

    names: list[str]
    """The best tools first."""
    score: float
    """Of the first; what the threshold is compared with."""


Search = Callable[[str], Any]
"""Awaited for the request's `Found`."""


class Remembering:
    """An embedder that embeds no text twice."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, np.ndarray] = {}

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, self._embedder.embed(new), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(
            len(texts), self.dimensions
        )


@asynccontextmanager
async def ours(tools: Sequence[ToolDraft], embedder: Embedder) -> AsyncIterator[Search]:
    """A library of these tools, put straight into SQL and files: `add` would take each through what
    makes it safe, at 10 ms.
    """
    with tempfile.TemporaryDirectory() as folder:
        engine = open_database(f"sqlite:///{folder}/agent.db")
        await asyncio.to_thread(_fill, engine, Path(folder) / "tools", tools, embedder)
        library = CapabilityRegistry(
            engine, Path(folder) / "tools", Path(folder) / "chroma_db", embedder
        )
        await library.start()
        try:
            await library.settle(_PATIENCE)

            async def search(request: str) -> Found:
                candidates = await library.search(request, DEPTH)
                return Found(
                    [c.tool.name for c in candidates],
                    candidates[0].confidence if candidates else 0.0,
                )

            yield search
        finally:
            await library.aclose()
            engine.dispose()


def _fill(engine: Any, folder: Path, tools: Sequence[ToolDraft], embedder: Embedder) -> None:
    folder.mkdir()
    now, digest = datetime.now(UTC), source_digest("", "")
    vectors = [
        tool_vector(embedder, t.name, t.description, t.example_requests, parameter_words(t))
        for t in tools
    ]
    with writing(engine) as connection:
        for tool, vector in zip(tools, vectors, strict=True):
            records.insert(
                connection,
                Tool(**dict(tool), created_at=now, digest=digest),
                "active",
                Embedding(embedder.id, vector),
            )
    for tool in tools:
        (folder / code_file(tool.name)).touch()
        (folder / tests_file(tool.name)).touch()


@asynccontextmanager
async def cosine(tools: Sequence[ToolDraft], embedder: Embedder) -> AsyncIterator[Search]:
    matrix = await asyncio.to_thread(embedder.embed, [tool.description for tool in tools])

    async def search(request: str) -> Found:
        cosines = matrix @ embedder.embed([request])[0]
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        return Found([tools[i].name for i in best], float(cosines[best[0]]))

    yield search


@asynccontextmanager
async def chroma(tools: Sequence[ToolDraft], embedder: Embedder) -> AsyncIterator[Search]:
    import chromadb
    from chromadb.config import Settings

    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(
            path=folder, settings=Settings(anonymized_telemetry=False)
        )
        collection = client.create_collection(
            "tools", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        vectors = embedder.embed(
            [f"{split_words(tool.name)}: {tool.description}" for tool in tools]
        )
        for start in range(0, len(tools), 1000):
            names = [tool.name for tool in tools[start : start + 1000]]
            collection.add(ids=names, embeddings=vectors[start : start + 1000])

        async def search(request: str) -> Found:
            reply = collection.query(
                query_embeddings=embedder.embed([request]),
                n_results=min(DEPTH, len(tools)),
                include=["distances"],
            )
            distances = reply["distances"] or [[1.0]]
            return Found(reply["ids"][0], 1 - float(distances[0][0]))

        yield search
        client.close()


SYSTEMS = {"ours": ours, "cosine": cosine, "chroma": chroma}


async def measured(
    data: RetrievalSet, system: Any, embedder: Embedder, seed: str, progress: Callable[[], None]
) -> dict[str, float | None]:
    """One system on one set."""
    ranks = []
    async with system(data.tools, embedder) as search:
        for query in data.queries:
            if query.gold:
                found = await search(query.request)
                places = tuple(
                    place for place, name in enumerate(found.names) if name in query.gold
                )
                ranks.append(Ranks(places, len(query.gold)))
            progress()
    here = [tool for tool, there in zip(data.tools, present(data.ids, seed), strict=True) if there]
    names = {tool.name for tool in here}
    found_here = []
    async with system(here, embedder) as search:
        for query in data.queries:
            found_here.append(await search(query.request))
            progress()
    positive = np.array([bool(query.gold & names) for query in data.queries])
    score = np.array([found.score for found in found_here])
    right = np.array(
        [found.names[0] in q.gold for found, q in zip(found_here, data.queries, strict=True)]
    )
    served = max(1, int(positive.sum()))
    weight = np.where(
        positive, ANSWERABLE / served, (1 - ANSWERABLE) / max(1, len(positive) - served)
    )
    figures: dict[str, float | None] = {**quality(ranks)}
    for name, threshold in (("", THRESHOLD), ("_even", 0.5)):
        figures[f"found_f1{name}"] = f1(score >= threshold, positive)
        figures[f"notfound_f1{name}"] = f1(score < threshold, ~positive)
    error = round(calibration_error(np.clip(score, 0, 1), right, weight), 3)
    return {**figures, "auroc": auroc(score, positive), "confidence_error": error}


async def _measure(
    sets: Sequence[RetrievalSet], embedder: Embedder, seed: str, progress: Progress
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for data in sets:
        task = progress.add_task(data.name, total=2 * len(SYSTEMS) * len(data.queries))
        by = {}
        for name, system in SYSTEMS.items():
            by[name] = await measured(
                data, system, embedder, seed, lambda task=task: progress.advance(task)
            )
        figures[data.name] = {**by.pop("ours"), **by}
        for name in SYSTEMS:
            shown = figures[data.name] if name == "ours" else figures[data.name][name]
            line = "  ".join(
                f"{key} {value}" for key, value in shown.items() if not isinstance(value, dict)
            )
            progress.console.print(f"{data.name:16} {name:7} {line}", soft_wrap=True)
    return figures


def _sample(data: RetrievalSet, count: int | None) -> RetrievalSet:
    """With so many of the requests."""
    if count is None or count >= len(data.queries):
        return data
    chosen = np.sort(np.random.default_rng(0).permutation(len(data.queries))[:count])
    queries: tuple[Query, ...] = tuple(data.queries[i] for i in chosen)
    return RetrievalSet(data.name, data.ids, data.tools, queries)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the sets")
    parser.add_argument("--sets", nargs="*", default=[], help="only these sets")
    parser.add_argument(
        "--requests", type=int, help="only so many requests of each set, drawn with a fixed seed"
    )
    parser.add_argument(
        "--seed", default=SEED, help="of the protocol that says which tools are absent"
    )
    parser.add_argument(
        "--sizes",
        nargs="*",
        type=int,
        default=list(SIZES),
        help="tools in the libraries whose lookup is timed; none to leave it",
    )
    chosen = parser.parse_args()
    try:
        sets = [_sample(data, chosen.requests) for data in read_sets(chosen.data, chosen.sets)]
    except ConfigurationError as error:
        parser.error(f"{error.message}; {error.remedy}")
    with Progress(console=Console(stderr=True)) as progress:
        embedder = Remembering(MiniLM.below(load_settings().data_dir))
        unseen, _ = unseen_tasks(Fit(sets, embedder, progress))
        figures = asyncio.run(_measure(sets, embedder, chosen.seed, progress))
        figures["confidence_error"] = unseen["confidence_error"]
        if chosen.sizes:
            task = progress.add_task("lookup", total=None)
            figures |= measure(
                tuple(chosen.sizes),
                lambda line: progress.update(task, description=f"lookup, {line}"),
            )
    sys.exit(report(figures, {"confidence_error": GOAL}))


if __name__ == "__main__":
    main()
