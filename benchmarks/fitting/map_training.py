"""Fits the request map: cross-entropy over all tools of a set, so that the right ones rank first.

score = cosine(map(request), tool) + weight · BM25, as the library ranks; probabilities are the
softmax of 20 · score. Adam with a decreasing step; the penalty pulls the map towards its starting
point.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.fitting.judged import Judged, Rows
from selfeng.library.ranking import Matrix, RequestMap

RANK = 64
STEPS = 120
STRENGTH = 0.03
"""Weight of the penalty on half the squared distance to the start: the best of 0.03, 0.06 and 0.1
on requests that the fit had not seen.
"""
_SHARPNESS = 20.0
_STEP = 0.005
_MOMENTUM, _SPREAD, _TINY = 0.9, 0.99, 1e-6
_PLACES = 500_000
"""Request-tool pairs per step in each set; larger sets contribute a sample of their requests."""


class TrainingPart(NamedTuple):
    """Training requests of a set; each is served by some tool."""

    judged: Judged
    rows: Rows
    weight: float = 1.0


def train(
    parts: Sequence[TrainingPart],
    bm25_weight: float,
    *,
    start: RequestMap | None = None,
    strength: float = STRENGTH,
    progress: Callable[[], None] = lambda: None,
) -> RequestMap:
    """`progress` is called after each of `STEPS` steps."""
    dimensions = parts[0].judged.requests.shape[1]
    origin = (
        start.left @ start.right if start else np.zeros((dimensions, dimensions), dtype=np.float32)
    )
    change, mean, square = origin.copy(), np.zeros_like(origin), np.zeros_like(origin)
    total = sum(part.weight for part in parts)
    random = np.random.default_rng(0)
    for step in range(1, STEPS + 1):
        gradient = strength * (change - origin)
        for judged, rows, weight in parts:
            most = max(1, _PLACES // len(judged.tools))
            chosen = rows if len(rows) <= most else random.choice(rows, most, replace=False)
            gradient += weight / total * _gradient(judged, chosen, change, bm25_weight)
        mean = _MOMENTUM * mean + (1 - _MOMENTUM) * gradient
        square = _SPREAD * square + (1 - _SPREAD) * gradient**2
        size = _STEP * (1 - (step - 1) / STEPS)
        change -= (
            size * (mean / (1 - _MOMENTUM**step)) / (np.sqrt(square / (1 - _SPREAD**step)) + _TINY)
        )
        progress()
    return low_rank(change, RANK)


def _gradient(judged: Judged, rows: Rows, change: Matrix, bm25_weight: float) -> Matrix:
    """The gradient of the mean cross-entropy with respect to `change`, where map(request) =
    unit(request + request · change).
    """
    requests, gold = judged.requests[rows], judged.gold[rows]
    moved = requests + requests @ change
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    mapped = moved / lengths
    scores = mapped @ judged.tools.T
    if judged.own is not None:
        scores[gold] = (mapped * judged.own[rows]).sum(axis=1)
    scores += bm25_weight * judged.bm25[rows]
    scores *= _SHARPNESS
    scores -= scores.max(axis=1, keepdims=True)
    error = np.exp(scores)
    error /= error.sum(axis=1, keepdims=True)
    error -= gold / gold.sum(axis=1, keepdims=True)
    others = error if judged.own is None else np.where(gold, 0, error)
    pull = others @ judged.tools
    if judged.own is not None:
        pull += error[gold][:, None] * judged.own[rows]
    pull *= _SHARPNESS / len(rows)
    along = (pull - mapped * (pull * mapped).sum(axis=1, keepdims=True)) / lengths
    return np.asarray(requests.T @ along, dtype=np.float32)


def low_rank(change: Matrix, rank: int) -> RequestMap:
    """The map nearest to identity + `change`."""
    left, singular, right = np.linalg.svd(change)
    root = np.sqrt(singular[:rank])
    return RequestMap(
        (left[:, :rank] * root).astype(np.float32),
        (root[:, None] * right[:rank]).astype(np.float32),
    )
