"""Logistic regression towards a prior, and how well its probabilities hold."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_STEPS = 50
_BANDS = 10


def fit(features: Floats, right: Bools, weight: Floats, prior: Floats, strength: float) -> Floats:
    """Weights by Newton's method; `features` is (k, f) with a column of ones.

    `strength` is how many samples, of mean weight, the prior counts for.
    """
    pull = strength / len(prior) * _information(features, weight / weight.sum(), prior)
    weights = prior.copy()
    for _ in range(_STEPS):
        p = probabilities(features, weights)
        curvature = _information(features, weight, weights) + pull
        weights += np.linalg.solve(curvature, features.T @ (weight * (right - p)) - pull @ (weights - prior))
    return weights


def probabilities(features: Floats, weights: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-features @ weights)), dtype=np.float64)


def log_loss(p: Floats, right: Bools, weight: Floats) -> float:
    return float(-np.average(np.log(np.clip(np.where(right, p, 1 - p), 1e-9, 1)), weights=weight))


def calibration_error(p: Floats, right: Bools) -> float:
    """Expected calibration error: how far ten bands of probability are from the share that was right, on average."""
    bands = np.minimum((p * _BANDS).astype(int), _BANDS - 1)
    return sum(float((bands == b).mean() * abs(p[bands == b].mean() - right[bands == b].mean())) for b in np.unique(bands))


def _information(features: Floats, weight: Floats, weights: Floats) -> Floats:
    p = probabilities(features, weights)
    return np.asarray((features * (weight * p * (1 - p))[:, None]).T @ features, dtype=np.float64)
