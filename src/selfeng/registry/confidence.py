"""Calibrated confidence: the probability that a tool that a search found is a right one.

A cosine alone says little: what fits lies anywhere from 0.3 up, and the more tools there are, the nearer the nearest wrong one.
So a logistic model looks at the tool's own evidence, at its lead over the best other tool, and at the number of tools. Evidence
is in natural log-odds (see `src/selfeng/registry/scale.py`), which makes one model serve every embedder.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEATURES = 4
BM25_EVIDENCE = 0.58
"""Of a point of BM25, in natural log-odds: 0.015 of a cosine with all-MiniLM-L6-v2, which was best or next to it on every data set."""
_NOTHING = -15.0
"""Evidence for a tool that has nothing to do with a request, which stands for the best other one where there is none."""
_MOST_TOOLS = 4096
"""Beyond what was measured; the number of tools counts by its logarithm up to here."""


def confidences(evidence: Floats, tools: int, weights: Sequence[float]) -> Floats:
    """Of the candidates of one search, or of many in a matrix with one in each row; `tools` is how many were searched."""
    score = features(evidence, tools) @ np.asarray(weights, dtype=np.float64)
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -500, 500))), dtype=np.float64)


def features(evidence: Floats, tools: int) -> Floats:
    """What the model looks at, along a new last axis: 1, the evidence, its lead over the best other, log2 of the number of tools."""
    lead = evidence - np.maximum(_best_other(evidence), _NOTHING)
    size = np.full_like(evidence, np.log2(min(tools, _MOST_TOOLS)))
    return np.stack([np.ones_like(evidence), evidence / 10, lead / 10, size / 10], axis=-1)


def _best_other(evidence: Floats) -> Floats:
    if evidence.shape[-1] < 2:
        return np.full_like(evidence, _NOTHING)
    top = np.partition(evidence, -2, axis=-1)[..., -2:]
    return np.where(evidence >= top[..., 1:], top[..., :1], top[..., 1:])
