"""Training of the confidence: searches in libraries of many sizes, with and without the right tool,
and the fit to them.

The fit is a logistic regression with a prior. A tool is absent by the data's protocol: int(md5(seed
+ id), 16) % 1000 < 300.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.fitting.judged import Bools, Judged, Rows
from selfeng.library.confidence import BM25_EVIDENCE, Scale, features
from selfeng.library.ranking import Matrix

Floats = npt.NDArray[np.float64]
_STEPS = 50
_BANDS = 10
SIZES = (3, 5, 10, 20, 40, 100, 300, 1000)
_TOP = 8
_ABSENT = 300
"""Absent tools per thousand."""
_TOOLS_DRAWN, _MOST_DRAWS = 400, 40
_MOST_ASKED = 150
ANSWERABLE = 0.7
_REST_WEIGHT = 0.3
"""Weight of a candidate that is not the best; its confidence decides less."""


class Searches(NamedTuple):
    """The searches in one library: for each of q requests, its c best candidates, best first."""

    set: str
    tools: int
    rows: Rows
    """(q): the requests."""
    features: Floats
    """(q, c, features)"""
    right: Bools
    """(q, c)"""
    present: Bools
    """(q): whether the library holds a right tool."""

    @property
    def weights(self) -> Floats:
        """(q, c): all searches together weigh 1, the best candidate of each most."""
        weights = np.full(self.right.shape, _REST_WEIGHT)
        weights[:, 0] = 1.0
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def search(
    judged: Judged,
    cosines: Matrix,
    scale: Scale,
    rows: Rows,
    tools: Rows,
    *,
    without_gold: bool = False,
) -> Searches:
    """Search a library of these tools for these requests; `cosines` has all requests and tools.

    `without_gold`: for each request, the tools that serve it count as absent; there must be others.
    """
    evidence = scale.steepness * (
        cosines[np.ix_(rows, tools)] - scale.middle
    ) + BM25_EVIDENCE * judged.bm25_among(rows, tools)
    right = judged.gold[np.ix_(rows, tools)]
    there = len(tools)
    if without_gold:
        evidence, right, there = (
            np.where(right, -np.inf, evidence),
            np.zeros_like(right),
            there - int(right.sum(axis=1).max()),
        )
    order = np.argsort(-evidence, axis=1, kind="stable")[:, : min(_TOP + 1, there)]
    best = np.take_along_axis(evidence, order, axis=1).astype(np.float64)
    return Searches(
        set=judged.name,
        tools=there,
        rows=rows,
        features=features(best, there)[:, :_TOP],
        right=np.take_along_axis(right, order, axis=1)[:, :_TOP],
        present=np.asarray(right.any(axis=1)),
    )


def protocol(judged: Judged, cosines: Matrix, scale: Scale, rows: Rows, seed: str) -> Searches:
    return search(judged, cosines, scale, rows, np.flatnonzero(present(judged.ids, seed)))


def small_libraries(
    judged: Judged, cosines: Matrix, scale: Scale, rows: Rows
) -> Iterator[Searches]:
    """Libraries drawn at random from the tools that serve any of the requests; 70 % of their
    requests are answerable.
    """
    random = np.random.default_rng(5)
    serving = np.flatnonzero(judged.gold[rows].any(axis=0))
    for size in SIZES:
        if size > len(serving):
            return
        for _ in range(max(2, min(_MOST_DRAWS, _TOOLS_DRAWN // size))):
            tools = random.permutation(serving)[:size]
            answerable = judged.gold[np.ix_(rows, tools)].any(axis=1)
            yes = random.permutation(rows[answerable])[:_MOST_ASKED]
            no = random.permutation(rows[~answerable])[
                : max(1, round(len(yes) * (1 - ANSWERABLE) / ANSWERABLE))
            ]
            yield search(judged, cosines, scale, np.concatenate([yes, no]), tools)


def related_libraries(
    judged: Judged, cosines: Matrix, scale: Scale, rows: Rows
) -> Iterator[Searches]:
    """Libraries of a tool that serves any of the requests and of those nearest to it, as people
    build them for one subject; the right tool is absent for 30 % of the requests.
    """
    random = np.random.default_rng(6)
    serving = np.flatnonzero(judged.gold[rows].any(axis=0))
    for size in SIZES:
        if size > len(serving) / 2:
            return
        for first in random.permutation(serving)[: max(2, min(_MOST_DRAWS, _TOOLS_DRAWN // size))]:
            nearest = np.argsort(-(judged.tools[serving] @ judged.tools[first]), kind="stable")
            tools = serving[nearest[:size]]
            served = judged.gold[np.ix_(rows, tools)].sum(axis=1)
            asked = random.permutation(rows[(served > 0) & (2 * served < size)])[:_MOST_ASKED]
            yes = round(ANSWERABLE * len(asked))
            for part, absent in ((asked[:yes], False), (asked[yes:], True)):
                if len(part):
                    yield search(judged, cosines, scale, part, tools, without_gold=absent)


def present(ids: Sequence[str], seed: str) -> Bools:
    return np.array(
        [
            int(hashlib.md5((seed + tool).encode(), usedforsecurity=False).hexdigest(), 16) % 1000
            >= _ABSENT
            for tool in ids
        ]
    )


def balanced(searches: Sequence[Searches]) -> list[Floats]:
    """(q) for each: weights by which every size of library of every set weighs 1, and the right
    tool is absent in 30 % of its requests.
    """
    group = [(s.set, int(np.log2(s.tools))) for s in searches]
    served, asked = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for g, s in zip(group, searches, strict=True):
        served[g] += int(s.present.sum())
        asked[g] += len(s.present)
    return [
        np.where(
            s.present,
            ANSWERABLE / max(1, served[g]),
            (1 - ANSWERABLE) / max(1, asked[g] - served[g]),
        )
        for g, s in zip(group, searches, strict=True)
    ]


def fit_logistic(
    features: Floats, right: Bools, weight: Floats, prior: Floats, strength: float
) -> Floats:
    """Weights by Newton's method; `features` is (k, f) with a column of ones.

    `strength` is how many samples, of mean weight, the prior counts for.
    """
    pull = strength / len(prior) * _information(features, weight / weight.sum(), prior)
    weights = prior.copy()
    for _ in range(_STEPS):
        p = probabilities(features, weights)
        curvature = _information(features, weight, weights) + pull
        weights += np.linalg.solve(
            curvature, features.T @ (weight * (right - p)) - pull @ (weights - prior)
        )
    return weights


def probabilities(features: Floats, weights: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-features @ weights)), dtype=np.float64)


def log_loss(p: Floats, right: Bools, weight: Floats) -> float:
    return float(-np.average(np.log(np.clip(np.where(right, p, 1 - p), 1e-9, 1)), weights=weight))


def calibration_error(p: Floats, right: Bools, weight: Floats | None = None) -> float:
    """Expected calibration error: the average distance of ten bands of probability from the share
    that was right.
    """
    bands = np.minimum((p * _BANDS).astype(int), _BANDS - 1)
    weights = np.ones_like(p) if weight is None else weight
    gaps = np.bincount(bands, weights * (p - right), minlength=_BANDS)
    return float(np.abs(gaps).sum() / weights.sum())


def _information(features: Floats, weight: Floats, weights: Floats) -> Floats:
    p = probabilities(features, weights)
    return np.asarray((features * (weight * p * (1 - p))[:, None]).T @ features, dtype=np.float64)
