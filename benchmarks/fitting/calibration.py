"""Calibration: fits the request map and the confidence to this library, using the requests that its
tools are found by.

Each request is searched as if it were new, once with its tool in the library and once without. The
shipped parameters are the starting point and weigh as much as `PRIOR` searches. A change is adopted
only if it does better on tools, or requests, that the fit has not seen, so a small library can't
make search worse.
"""

import io
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.fitting.confidence_training import (
    Floats,
    Searches,
    calibration_error,
    fit_logistic,
    log_loss,
    probabilities,
    protocol,
    search,
    small_libraries,
)
from benchmarks.fitting.data import read_sets
from benchmarks.fitting.judged import Bools, Judged, Rows, judge, leave_one_out
from benchmarks.fitting.map_training import STEPS, TrainingPart, train
from selfeng.core.errors import LibraryError
from selfeng.core.protocols import Embedder
from selfeng.core.tool import ToolDraft
from selfeng.library.confidence import BM25_EVIDENCE, Scale
from selfeng.library.ranking import Parameters, RequestMap, parameters_file, shipped
from selfeng.seeds import load_seeds

LEAST_REQUESTS = 20
"""Fewer are too few to fit anything."""
LEAST_TOOLS = 2
"""With one tool there is nothing to choose from."""
LEAST_FOR_MAP = 200
"""A map has thousands of numbers; with fewer requests the shipped one is kept."""
PRIOR = 300.0
"""Searches that the shipped parameters count for."""
_ABSENT_SHARE = 0.3
_SEEDS = "ABC"

Report = Callable[[str, int, int], None]
"""Called with the current step, the amount done and the total."""


@dataclass(frozen=True)
class Figures:
    """A figure before and after, on data that the fit had not seen."""

    before: float
    after: float
    adopted: bool

    def __str__(self) -> str:
        return (
            f"{self.before:.3f} before, {self.after:.3f} after: "
            f"{'adopted' if self.adopted else 'left as it was'}"
        )


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration."""

    parameters: Parameters
    tools: int
    requests: int
    reciprocal_rank: Figures | None
    """Mean of 1 / rank of the right tool, with and without the new map; None: too few requests to
    try one.
    """
    log_loss: Figures
    """Log loss of the confidence; lower is better."""
    calibration_error: Figures
    """Calibration error of the confidence of the best candidate."""

    @property
    def changed(self) -> bool:
        return self.log_loss.adopted or bool(self.reciprocal_rank and self.reciprocal_rank.adopted)


def fit_library(
    tools: Sequence[tuple[ToolDraft, Sequence[str]]],
    embedder: Embedder,
    folder: Path,
    data: Path | None,
    progress: Report,
) -> Calibration | None:
    """Calibrate on the requests of these tools, each paired with the requests that it has served,
    and on the sets in `data`.

    Parameters that are better than the shipped ones are stored in `folder` for the next start. None
    if there are too few requests. Blocking.

    Raises:
        ConfigurationError: `data` holds no sets that can be read.
        LibraryError: `folder` can't be written to.
        EmbedderUnavailable
    """
    sets = _judged(tools, embedder, data, progress)
    if sum(len(judged.requests) for judged in sets) < LEAST_REQUESTS:
        return None
    seeds = leave_one_out([(seed, ()) for seed in load_seeds()], embedder)
    found = calibrate(sets, shipped(embedder.id), seeds.scale, progress)
    if found.changed:
        try:
            write(replace(found.parameters, embedder=embedder.id), folder)
        except OSError as error:
            raise LibraryError(
                f"{folder} can't be written to: {error}",
                "correct its permissions, or set DATA_DIR to another folder",
            ) from error
    return found


def _judged(
    tools: Sequence[tuple[ToolDraft, Sequence[str]]],
    embedder: Embedder,
    data: Path | None,
    progress: Report,
) -> list[Judged]:
    sets = read_sets(data) if data else []
    total = len(tools) + sum(len(s.tools) + len(s.queries) for s in sets)
    done = 0

    def embedded() -> None:
        nonlocal done
        done += 1
        progress("embedding", done, total)

    own = leave_one_out(tools, embedder, embedded)
    judged = (own, *(judge(s, embedder, embedded) for s in sets))
    return [each for each in judged if len(each.requests) and len(each.tools) >= LEAST_TOOLS]


def calibrate(
    sets: Sequence[Judged],
    now: Parameters,
    scale_of_map: Callable[[RequestMap | None], Scale],
    progress: Report,
) -> Calibration:
    """`sets`: the library's own requests, and any further data sets; `scale_of_map` measures the
    embedder's scale with a map.
    """
    request_map, rank = _map(sets, now, scale_of_map, progress)
    found = replace(now, map=request_map, scale=scale_of_map(request_map))
    weights, loss, error = _confidence(sets, found)
    return Calibration(
        parameters=replace(found, weights=weights),
        tools=sum(len(judged.tools) for judged in sets),
        requests=sum(len(judged.requests) for judged in sets),
        reciprocal_rank=rank,
        log_loss=loss,
        calibration_error=error,
    )


def _map(
    sets: Sequence[Judged],
    now: Parameters,
    scale_of_map: Callable[[RequestMap | None], Scale],
    progress: Report,
) -> tuple[RequestMap | None, Figures | None]:
    usable = [judged for judged in sets if judged.answerable.any()]
    if sum(int(judged.answerable.sum()) for judged in usable) < LEAST_FOR_MAP:
        return now.map, None
    bm25_weight = BM25_EVIDENCE / scale_of_map(now.map).steepness

    def trained(fold: int | None) -> RequestMap:
        done = 0

        def step() -> None:
            nonlocal done
            done += 1
            progress(
                "fitting the request map",
                (0 if fold is None else fold + 1) * STEPS + done,
                3 * STEPS,
            )

        return train(
            [TrainingPart(j, _rows(j, fold, other=True)) for j in usable],
            bm25_weight,
            start=now.map,
            progress=step,
        )

    before, after = [], []
    for fold in (0, 1):
        fitted = trained(fold)
        for judged in usable:
            rows = _rows(judged, fold)
            before.append(reciprocal_ranks(judged, now.map, bm25_weight, rows))
            after.append(reciprocal_ranks(judged, fitted, bm25_weight, rows))
    gains = np.concatenate(after) - np.concatenate(before)
    better = bool(gains.mean() > gains.std() / np.sqrt(len(gains)))
    figures = Figures(
        float(np.concatenate(before).mean()), float(np.concatenate(after).mean()), better
    )
    return (trained(None) if better else now.map), figures


def _rows(judged: Judged, fold: int | None, *, other: bool = False) -> Rows:
    """The answerable requests of a fold, which is every second one, or of the `other` fold; all of
    them without a fold.
    """
    rows = np.flatnonzero(judged.answerable)
    return rows if fold is None else rows[(np.arange(len(rows)) % 2 == fold) ^ other]


def reciprocal_ranks(
    judged: Judged, request_map: RequestMap | None, bm25_weight: float, rows: Rows
) -> Floats:
    """1 / rank of the best right tool of each request."""
    scores = judged.cosines(request_map)[rows] + bm25_weight * judged.bm25[rows]
    best = np.where(judged.gold[rows], scores, -np.inf).max(axis=1)
    return np.asarray(1 / (scores >= best[:, None]).sum(axis=1), dtype=np.float64)


def _confidence(
    sets: Sequence[Judged], parameters: Parameters
) -> tuple[tuple[float, ...], Figures, Figures]:
    searches = [found for judged in sets for found in _searches(judged, parameters)]
    features, right, weight, folds, best = _stacked(searches, sets)
    prior = np.array(parameters.weights)
    before, after = np.empty(len(right)), np.empty(len(right))
    for fold in (0, 1):
        seen, unseen = folds != fold, folds == fold
        fitted = fit_logistic(features[seen], right[seen], _of_mean_one(weight[seen]), prior, PRIOR)
        before[unseen] = probabilities(features[unseen], prior)
        after[unseen] = probabilities(features[unseen], fitted)
    losses = log_loss(before, right, weight), log_loss(after, right, weight)
    adopted = losses[1] < losses[0]
    errors = (
        calibration_error(before[best], right[best]),
        calibration_error(after[best], right[best]),
    )
    weights = (
        fit_logistic(features, right, _of_mean_one(weight), prior, PRIOR) if adopted else prior
    )
    return tuple(map(float, weights)), Figures(*losses, adopted), Figures(*errors, adopted)


def _searches(judged: Judged, parameters: Parameters) -> list[tuple[Searches, float]]:
    """The searches in a set, each with its weight."""
    assert parameters.scale is not None
    cosines, scale, rows = (
        judged.cosines(parameters.map),
        parameters.scale,
        np.arange(len(judged.requests)),
    )
    if judged.own is not None:
        everything = np.arange(len(judged.tools))
        return [
            (search(judged, cosines, scale, rows, everything), 1 - _ABSENT_SHARE),
            (search(judged, cosines, scale, rows, everything, without_gold=True), _ABSENT_SHARE),
        ]
    found = [protocol(judged, cosines, scale, rows, seed) for seed in _SEEDS]
    found += small_libraries(judged, cosines, scale, rows)
    return [(f, 1 / len(found)) for f in found]


def _stacked(
    searches: Sequence[tuple[Searches, float]], sets: Sequence[Judged]
) -> tuple[Floats, Bools, Floats, Rows, Bools]:
    """All candidates, stacked: features, label, weight, fold of the request's tool, whether it is
    the best of its search.
    """
    fold_of = {judged.name: judged.gold.argmax(axis=1) % 2 for judged in sets}
    features = np.concatenate([s.features.reshape(-1, s.features.shape[-1]) for s, _ in searches])
    right = np.concatenate([s.right.ravel() for s, _ in searches])
    weight = np.concatenate([(s.weights * share).ravel() for s, share in searches])
    folds = np.concatenate(
        [np.repeat(fold_of[s.set][s.rows], s.right.shape[1]) for s, _ in searches]
    )
    best = np.concatenate(
        [np.tile(np.arange(s.right.shape[1]) == 0, len(s.rows)) for s, _ in searches]
    )
    return features, right, weight, folds, best


def _of_mean_one(weight: Floats) -> Floats:
    return np.asarray(weight / weight.mean(), dtype=np.float64)


def write(parameters: Parameters, folder: Path) -> Path:
    """Put the file in place in one step. Raises: OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {
        "embedder": np.array(parameters.embedder),
        "weights": np.array(parameters.weights, dtype=np.float32),
    }
    if parameters.scale is not None:
        arrays["scale"] = np.array(parameters.scale, dtype=np.float32)
    if parameters.map is not None:
        arrays |= {
            "left": parameters.map.left.astype(np.float16),
            "right": parameters.map.right.astype(np.float16),
        }
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    path = parameters_file(folder, parameters.embedder)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".partial", delete=False) as file:
        file.write(content.getbuffer())
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)
    return path
