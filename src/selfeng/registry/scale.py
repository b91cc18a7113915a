"""The scale of an embedder: what its cosines are worth as evidence.

Cosines of texts that have nothing to do with each other lie around 0.1 with one embedder and around 0.7 with another, and spread
more or less. If the cosines of pairs that belong together and of pairs that don't are normal with one spread s and the means m
and u, the log of how much likelier a cosine is of the former is (m - u) / s² · (cosine - (m + u) / 2). The seeds, which ship with
their requests, are pairs enough to measure the three; s is that of pairs that don't belong together, of which there are many.
"""

from typing import NamedTuple

import numpy as np

from selfeng.core.protocols import Embedder
from selfeng.registry.fitting.judged import Judged, leave_one_out
from selfeng.registry.request_map import RequestMap
from selfeng.seeds import load_seeds

_LEAST_DISTANCE, _LEAST_SPREAD = 0.01, 0.01
"""An embedder that tells nothing apart gets little evidence, and no division by zero."""


class Scale(NamedTuple):
    """The two numbers that make evidence, in natural log-odds, of a cosine."""

    middle: float
    steepness: float

    def evidence(self, cosine: float) -> float:
        return self.steepness * (cosine - self.middle)


def measure(embedder: Embedder, request_map: RequestMap | None = None) -> Scale:
    """By the seeds: some hundred short texts are embedded. Blocking. Raises what the embedder raises."""
    return scale_of(leave_one_out([(seed, ()) for seed in load_seeds()], embedder), request_map)


def scale_of(judged: Judged, request_map: RequestMap | None = None) -> Scale:
    """By requests of which it is known what tools serve them."""
    cosines = judged.cosines(request_map)
    together, apart = cosines[judged.gold], cosines[~judged.gold]
    distance = max(float(together.mean() - apart.mean()), _LEAST_DISTANCE)
    spread = max(float(np.std(apart)), _LEAST_SPREAD)
    return Scale(middle=float(together.mean() + apart.mean()) / 2, steepness=distance / spread**2)
