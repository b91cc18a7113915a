"""Makes what ships of `src/selfeng/registry/fitted`: `python -m benchmarks.fit_retrieval [--data
DIR]`; the last line is JSON.

Everything is fitted twice before, each time to one half of the requests and judged on the other, so
that the figures are those of requests that no fit has seen; `unseen_tools` leaves three tools of
ten and all their requests out instead. Then everything is fitted to all requests, and written. The
figures of a set left out are those of a confidence that was fitted to the other sets.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks.fitting.calibration import write
from benchmarks.fitting.confidence_training import (
    Searches,
    calibration_error,
    fit_logistic,
    probabilities,
    protocol,
    small_libraries,
)
from benchmarks.fitting.data import RetrievalSet, read_sets
from benchmarks.fitting.judged import Judged, Rows, judge, leave_one_out
from benchmarks.fitting.map_training import STEPS, TrainingPart, train
from benchmarks.measures import best_ranks, quality
from selfeng.core.errors import ConfigurationError
from selfeng.core.protocols import Embedder
from selfeng.embedding.minilm import MiniLM
from selfeng.registry.confidence import BM25_EVIDENCE, FEATURES, Scale
from selfeng.registry.parameters import SHIPPED, Parameters, RequestMap
from selfeng.seeds import load_seeds
from selfeng.settings import load_settings

DATA = Path(__file__).parents[2] / "shared" / "data"
WEIGHTS = {"metatool": 2.0}
"""Of the sets in the request map's fit, 1 for the others: it is the only one with example requests,
as tools of the library have.
"""
BM25_WEIGHT = 0.015
SEEDS = "ABC"
UNSEEN = 0.3


class Fit:
    """The sets, with vectors, and what is fitted to them."""

    def __init__(
        self, sets: Sequence[RetrievalSet], embedder: Embedder, progress: Progress
    ) -> None:
        self._progress = progress
        task = progress.add_task(
            "embedding", total=sum(len(s.tools) + len(s.queries) for s in sets)
        )
        self.sets = [judge(s, embedder, lambda: progress.advance(task)) for s in sets]
        self.seeds = leave_one_out([(seed, ()) for seed in load_seeds()], embedder)

    def map(
        self, what: str, rows: Sequence[Rows], sets: Sequence[Judged] | None = None
    ) -> RequestMap:
        task = self._progress.add_task(f"request map, {what}", total=STEPS)
        parts = [
            TrainingPart(s, r[s.answerable[r]], WEIGHTS.get(s.name, 1.0))
            for s, r in zip(sets or self.sets, rows, strict=True)
        ]
        return train(
            [p for p in parts if len(p.rows)],
            BM25_WEIGHT,
            progress=lambda: self._progress.advance(task),
        )

    def searches(self, request_map: RequestMap, rows: Sequence[Rows]) -> list[Searches]:
        """In libraries of every size."""
        scale, found = self.seeds.scale(request_map), list[Searches]()
        for judged, asked in zip(self.sets, rows, strict=True):
            cosines = judged.cosines(request_map)
            found += [protocol(judged, cosines, scale, asked, seed) for seed in SEEDS]
            found += small_libraries(judged, cosines, scale, asked)
        return found


def confidence(searches: Sequence[Searches]) -> tuple[float, ...]:
    """Every size of library of every set weighs the same."""
    group = [(s.set, int(np.log2(s.tools))) for s in searches]
    features = np.concatenate([s.features.reshape(-1, FEATURES) for s in searches])
    right = np.concatenate([s.right.ravel() for s in searches])
    weight = np.concatenate(
        [s.weights.ravel() / group.count(g) for s, g in zip(searches, group, strict=True)]
    )
    return tuple(
        fit_logistic(
            features, right, weight / weight.mean(), np.zeros(FEATURES), strength=1.0
        ).tolist()
    )


def reliability(searches: Sequence[Searches], weights: Sequence[float]) -> dict[str, Any]:
    """Of the best candidate of each search."""
    p = np.concatenate([probabilities(s.features[:, 0], np.array(weights)) for s in searches])
    right = np.concatenate([s.right[:, 0] for s in searches])
    sure = p >= 0.75
    shown = {
        "ece": calibration_error(p, right),
        "right_at_0.75": float(right[sure].mean()) if sure.any() else None,
    }
    return {name: value if value is None else round(value, 3) for name, value in shown.items()} | {
        "share_at_0.75": round(float(sure.mean()), 3)
    }


def halves(judged: Judged) -> tuple[Rows, Rows]:
    order = np.random.default_rng(1).permutation(len(judged.requests))
    return np.sort(order[::2]), np.sort(order[1::2])


def restricted(judged: Judged, tools: Rows) -> Judged:
    """A library of these tools only, with all the requests."""
    part = Judged(
        name=judged.name,
        ids=tuple(judged.ids[t] for t in tools),
        requests=judged.requests,
        tools=judged.tools[tools],
        gold=judged.gold[:, tools],
        words=judged.words,
    )
    part.__dict__["bm25"] = judged.bm25[:, tools]
    return part


def held_out(fit: Fit) -> tuple[dict[str, Any], list[Searches]]:
    """Figures on requests, and on tools, that the fit has not seen; and the searches of the
    former.
    """
    figures: dict[str, Any] = {judged.name: {} for judged in fit.sets}
    split = [halves(judged) for judged in fit.sets]
    searches: list[Searches] = []
    plain, mapped = ([[] for _ in fit.sets] for _ in range(2))
    for half in (0, 1):
        seen, unseen = [s[1 - half] for s in split], [s[half] for s in split]
        fitted = fit.map(f"half {half + 1}", seen)
        searches += fit.searches(fitted, unseen)
        for number, (judged, rows) in enumerate(zip(fit.sets, unseen, strict=True)):
            asked = rows[judged.answerable[rows]]
            plain[number] += best_ranks(judged, None, BM25_WEIGHT, asked)
            mapped[number] += best_ranks(judged, fitted, BM25_WEIGHT, asked)
    for number, judged in enumerate(fit.sets):
        figures[judged.name]["unseen_requests"] = {
            "without_map": quality(plain[number]),
            "with_map": quality(mapped[number]),
        }
    tools = [np.random.default_rng(2).random(len(judged.tools)) >= UNSEEN for judged in fit.sets]
    seen = [
        np.flatnonzero(~judged.gold[:, ~known].any(axis=1))
        for judged, known in zip(fit.sets, tools, strict=True)
    ]
    known_sets = [
        restricted(judged, np.flatnonzero(known))
        for judged, known in zip(fit.sets, tools, strict=True)
    ]
    fitted = fit.map("unseen tools", seen, known_sets)
    for judged, known in zip(fit.sets, tools, strict=True):
        rows = np.flatnonzero(judged.gold[:, ~known].any(axis=1))
        compared = {"without_map": None, "with_map": fitted}
        figures[judged.name]["unseen_tools"] = {
            n: quality(best_ranks(judged, m, BM25_WEIGHT, rows)) for n, m in compared.items()
        }
    return figures, searches


def fit_all(
    sets: Sequence[RetrievalSet], embedder: Embedder, folder: Path, progress: Progress
) -> dict[str, Any]:
    """Write what ships to `folder`; returns the figures."""
    fit = Fit(sets, embedder, progress)
    figures, searches = held_out(fit)
    weights = confidence(searches)
    for judged in fit.sets:
        own = [s for s in searches if s.set == judged.name]
        others = [s for s in searches if s.set != judged.name]
        small, large = [s for s in own if s.tools <= 100], [s for s in own if s.tools > 100]
        for name, chosen in (("up_to_100_tools", small), ("more_tools", large or own)):
            figures[judged.name][name] = reliability(chosen, weights)
            if others:
                figures[judged.name][f"{name}_set_left_out"] = reliability(
                    chosen, confidence(others)
                )
        progress.console.print(f"{judged.name}: {json.dumps(figures[judged.name])}", soft_wrap=True)
    final = fit.map("all", [np.arange(len(judged.requests)) for judged in fit.sets])
    scale: Scale = fit.seeds.scale(final)
    files = (
        write(Parameters(embedder.id, weights, scale, final), folder),
        write(Parameters("", weights), folder),
    )
    progress.console.print(
        f"BM25 counts {BM25_EVIDENCE / scale.steepness:.4f} of a cosine; written: "
        f"{', '.join(map(str, files))}",
        soft_wrap=True,
    )
    return {
        "weights": [round(w, 3) for w in weights],
        "scale": [round(s, 3) for s in scale],
        "sets": figures,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the retrieval sets")
    try:
        sets = read_sets(parser.parse_args().data)
    except ConfigurationError as error:
        parser.error(f"{error.message}; {error.remedy}")
    with Progress(console=Console(stderr=True)) as progress:
        figures = fit_all(sets, MiniLM.below(load_settings().data_dir), SHIPPED, progress)
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
