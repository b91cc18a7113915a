"""Calibrated confidence: the probability that a tool that a search found is a right one.

A cosine alone says little: what fits lies anywhere from 0.3 up, and the more tools there are, the
nearer the nearest wrong one. So a logistic model looks at the tool's own evidence, at its lead over
the best other tool, and at the number of tools. Evidence is in natural log-odds, which makes one
model serve every embedder.

The scale of an embedder says what its cosines are worth as evidence. Cosines of texts that have
nothing to do with each other lie around 0.1 with one embedder and around 0.7 with another, and
spread more or less. If the cosines of pairs that belong together and of pairs that don't are normal
with one spread s and the means m and u, the log of how much likelier a cosine is of the former is
(m - u) / s² · (cosine - (m + u) / 2). The seeds, which ship with their requests, are pairs enough
to measure the three; s is that of pairs that don't belong together, of which there are many.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from selfeng.core.protocols import Embedder
from selfeng.registry.fitting.judged import Judged, leave_one_out
from selfeng.registry.request_map import RequestMap
from selfeng.seeds import load_seeds

Floats = npt.NDArray[np.float64]

FEATURES = 4
BM25_EVIDENCE = 0.58
"""Of a point of BM25, in natural log-odds: 0.015 of a cosine with all-MiniLM-L6-v2, which was best
or next to it on every data set.
"""
_NOTHING = -15.0
"""Evidence for a tool that has nothing to do with a request, which stands for the best other one
where there is none.
"""
_MOST_TOOLS = 4096
"""Beyond what was measured; the number of tools counts by its logarithm up to here."""


def confidences(evidence: Floats, tools: int, weights: Sequence[float]) -> Floats:
    """Of the candidates of one search, or of many in a matrix with one in each row; `tools` is how
    many were searched.
    """
    score = features(evidence, tools) @ np.asarray(weights, dtype=np.float64)
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -500, 500))), dtype=np.float64)


def features(evidence: Floats, tools: int) -> Floats:
    """What the model looks at, along a new last axis: 1, the evidence, its lead over the best
    other, log2 of the number of tools.
    """
    lead = evidence - np.maximum(_best_other(evidence), _NOTHING)
    size = np.full_like(evidence, np.log2(min(tools, _MOST_TOOLS)))
    return np.stack([np.ones_like(evidence), evidence / 10, lead / 10, size / 10], axis=-1)


def _best_other(evidence: Floats) -> Floats:
    if evidence.shape[-1] < 2:
        return np.full_like(evidence, _NOTHING)
    top = np.partition(evidence, -2, axis=-1)[..., -2:]
    return np.where(evidence >= top[..., 1:], top[..., :1], top[..., 1:])


_LEAST_DISTANCE, _LEAST_SPREAD = 0.01, 0.01
"""An embedder that tells nothing apart gets little evidence, and no division by zero."""


class Scale(NamedTuple):
    """The two numbers that make evidence, in natural log-odds, of a cosine."""

    middle: float
    steepness: float

    def evidence(self, cosine: float) -> float:
        return self.steepness * (cosine - self.middle)


def measure(embedder: Embedder, request_map: RequestMap | None = None) -> Scale:
    """By the seeds: some hundred short texts are embedded. Blocking. Raises what the embedder
    raises.
    """
    return scale_of(leave_one_out([(seed, ()) for seed in load_seeds()], embedder), request_map)


def scale_of(judged: Judged, request_map: RequestMap | None = None) -> Scale:
    """By requests of which it is known what tools serve them."""
    cosines = judged.cosines(request_map)
    together, apart = cosines[judged.gold], cosines[~judged.gold]
    distance = max(float(together.mean() - apart.mean()), _LEAST_DISTANCE)
    spread = max(float(np.std(apart)), _LEAST_SPREAD)
    return Scale(middle=float(together.mean() + apart.mean()) / 2, steepness=distance / spread**2)
