"""Measures of retrieval: hit@1, recall, nDCG; F1 and AUROC of knowing that something was found."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.fitting.judged import Judged, Rows
from selfeng.library.ranking import RequestMap

DEPTH = 10
Bools = npt.NDArray[np.bool_]


class Ranks(NamedTuple):
    """Of the tools that serve one request."""

    found: tuple[int, ...]
    """Their ranks, from 0, as far as they are among the first ten."""
    gold: int
    """How many there are."""


def best_ranks(
    judged: Judged, request_map: RequestMap | None, bm25_weight: float, rows: Rows
) -> list[Ranks]:
    scores = judged.cosines(request_map)[rows] + bm25_weight * judged.bm25[rows]
    best = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    right = np.take_along_axis(judged.gold[rows], best, axis=1)
    return [
        Ranks(tuple(np.flatnonzero(r).tolist()), int(n))
        for r, n in zip(right, judged.gold[rows].sum(axis=1), strict=True)
    ]


def quality(ranks: Sequence[Ranks]) -> dict[str, float]:
    """Mean over requests, in percent: a right tool first, share of the right tools among the first
    5 and 8, nDCG@10.
    """
    if not ranks:
        return {}
    hit1 = [0 in found for found, _ in ranks]
    r5, r8 = ([sum(r < depth for r in found) / gold for found, gold in ranks] for depth in (5, 8))
    gains = [1 / np.log2(rank + 2) for rank in range(DEPTH)]
    ndcg = [sum(gains[r] for r in found) / sum(gains[:gold]) for found, gold in ranks]
    return {
        name: round(100 * float(np.mean(v)), 1)
        for name, v in (("hit1", hit1), ("r5", r5), ("r8", r8), ("ndcg10", ndcg))
    }


def f1(said: Bools, true: Bools) -> float:
    """In percent."""
    return round(200 * float((said & true).sum()) / max(1, int(said.sum() + true.sum())), 1)


def auroc(scores: npt.NDArray[np.float64], true: Bools) -> float | None:
    """Probability, in percent, that a true one scores above a false one; None without both."""
    positives, negatives = int(true.sum()), int((~true).sum())
    if not positives or not negatives:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return round(
        100
        * float((ranks[true].sum() - positives * (positives + 1) / 2) / (positives * negatives)),
        1,
    )
