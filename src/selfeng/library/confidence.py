"""Calibrated confidence: the probability that a found tool is a right one.

A cosine alone says little: right tools score anywhere from 0.3 up, and the nearest wrong tool gets
nearer as the library grows. So a logistic model uses the tool's evidence, its lead over the other
tools, and the number of tools. Evidence is in natural log-odds, so one model serves every
embedder.

The scale of an embedder converts its cosines to evidence. Cosines of unrelated texts lie around 0.1
with one embedder and around 0.7 with another, and their spread differs too. If the cosines of
matching and of unrelated pairs are normal with the means m and u and the same standard deviation s,
the log-likelihood ratio of a cosine is (m - u) / s² · (cosine - (m + u) / 2). The seeds ship with
their requests, which gives enough pairs to measure all three; s is measured on the unrelated pairs,
because there are many.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from selfeng.core.protocols import Embedder
from selfeng.library.fusion import described, distinct_requests, fuse
from selfeng.seeds import load_seeds

Floats = npt.NDArray[np.float64]

FEATURES = 4
BM25_EVIDENCE = 0.58
"""Weight of one BM25 point, in natural log-odds: equals 0.015 of a cosine with all-MiniLM-L6-v2,
which was best or second best on every data set.
"""
_NOTHING = -15.0
"""Evidence of a tool unrelated to the request, which every tool has among its rivals."""
_RIVALS = 9
"""The best tools of a search, over which leads are measured: the number that the fit sees."""
_SOFTNESS = 3.0
"""Rivals within so much evidence of each other, in natural log-odds, count together. Of 1 to 6, 2
and 3 had the least log loss on unseen tasks (0.409; the best rival alone: 0.412).
"""
_MOST_TOOLS = 4096
"""The number of tools counts by its logarithm up to this limit, which is beyond what was measured.
"""


def confidences(evidence: Floats, tools: int, weights: Sequence[float]) -> Floats:
    """The confidences of the candidates of one search, or of a matrix with one search per row;
    `tools` is the number of tools searched.
    """
    score = features(evidence, tools) @ np.asarray(weights, dtype=np.float64)
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -500, 500))), dtype=np.float64)


def features(evidence: Floats, tools: int) -> Floats:
    """The inputs of the model, along a new last axis: 1, the evidence, its lead over the others,
    log2 of the number of tools.
    """
    lead = evidence - _rivals(evidence)
    size = np.full_like(evidence, np.log2(min(tools, _MOST_TOOLS)))
    return np.stack([np.ones_like(evidence), evidence / 10, lead / 10, size / 10], axis=-1)


def _rivals(evidence: Floats) -> Floats:
    """The evidence of the other tools together, as a soft maximum."""
    top = np.maximum(evidence.max(axis=-1, keepdims=True), _NOTHING)
    weights, nothing = (np.exp((e - top) / _SOFTNESS) for e in (evidence, _NOTHING))
    best = np.sort(weights, axis=-1)[..., -_RIVALS:].sum(axis=-1, keepdims=True)
    others = np.maximum(best - weights, 0) + nothing
    return np.asarray(top + _SOFTNESS * np.log(others), dtype=np.float64)


_LEAST_DISTANCE, _LEAST_SPREAD = 0.01, 0.01
"""Lower limits: an embedder that can't distinguish texts gets little evidence, and no division by
zero.
"""


class Scale(NamedTuple):
    """The two numbers that convert a cosine to evidence in natural log-odds."""

    middle: float
    steepness: float

    def evidence(self, cosine: float) -> float:
        return self.steepness * (cosine - self.middle)


def measure(embedder: Embedder) -> Scale:
    """Measure an embedder's scale on the seeds, some hundred short texts. Blocking. Raises what the
    embedder raises.
    """
    seeds = [
        embedder.embed([described(seed.name, seed.description), *distinct_requests(requests)])
        for seed in load_seeds()
        if len(requests := seed.example_requests) > 1
    ]
    tools = np.stack([fuse(vectors[0], vectors[1:]) for vectors in seeds])
    together, apart = [], []
    for number, vectors in enumerate(seeds):
        description, request_vectors = vectors[0], vectors[1:]
        found_by = [
            fuse(description, np.delete(request_vectors, place, axis=0))
            for place in range(len(request_vectors))
        ]
        together.append((request_vectors * np.stack(found_by)).sum(axis=1))
        apart.append((request_vectors @ np.delete(tools, number, axis=0).T).ravel())
    return scale_of(np.concatenate(together), np.concatenate(apart))


def scale_of(together: Floats, apart: Floats) -> Scale:
    """The scale from cosines of requests with their tools, found by their other requests, and from
    those with all other tools.
    """
    distance = max(float(together.mean() - apart.mean()), _LEAST_DISTANCE)
    spread = max(float(np.std(apart)), _LEAST_SPREAD)
    return Scale(middle=float(together.mean() + apart.mean()) / 2, steepness=distance / spread**2)
