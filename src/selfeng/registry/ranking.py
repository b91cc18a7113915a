"""Ranking what a search has found: by meaning and words together, each tool with a calibrated
confidence.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selfeng.core.protocols import Embedder
from selfeng.registry.confidence import BM25_EVIDENCE, confidences, measure
from selfeng.registry.fusion import Vector
from selfeng.registry.parameters import Parameters, current

_UNKNOWN = -3.0
"""Evidence, in natural log-odds, of a cosine that is not known: the likeliest for what words alone
find of the labelled requests in `tests/registry/requests.jsonl`, where no wrong tool then reaches
0.75 and no right one falls below 0.05.
"""


class Evidence(NamedTuple):
    """What speaks for a tool."""

    name: str
    cosine: float | None
    """Between the mapped request and the tool, -1..1; None where one of them has no vector yet."""
    bm25: float
    """0 where no word of the request is among the tool's."""


class Ranked(NamedTuple):
    name: str
    cosine: float
    confidence: float
    """0..1."""


class Ranking:
    """Ranks with the vectors of one embedder. Usable from several threads."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._lock = threading.Lock()

    @classmethod
    def for_embedder(cls, embedder: str, folder: Path | None = None) -> "Ranking":
        """For the embedder with that id; `folder` is where `selfeng calibrate` keeps what it fitted
        to the library at hand.
        """
        return cls(current(embedder, folder))

    @property
    def parameters(self) -> Parameters:
        return self._parameters

    def prepare(self, embedder: Embedder) -> None:
        """Measure the scale of an embedder for which nothing ships, once. Blocking. Raises what the
        embedder raises.
        """
        with self._lock:
            if self._parameters.scale is None:
                self._parameters = replace(self._parameters, scale=measure(embedder))

    def request(self, vector: Vector) -> Vector:
        """The vector that tools are compared with, from that of a request."""
        return self._parameters.map(vector) if self._parameters.map else vector

    def rank(self, evidence: Sequence[Evidence], tools: int) -> list[Ranked]:
        """Best first; `tools` is how many were searched. After `prepare`, if there are cosines."""
        strengths = np.array(
            [self._meaning(e) + BM25_EVIDENCE * e.bm25 for e in evidence], dtype=np.float64
        )
        if not len(strengths):
            return []
        likely = confidences(strengths, tools, self._parameters.weights)
        order = sorted(range(len(evidence)), key=lambda i: (-strengths[i], evidence[i].name))
        return [
            Ranked(evidence[i].name, evidence[i].cosine or 0.0, float(likely[i])) for i in order
        ]

    def _meaning(self, evidence: Evidence) -> float:
        if evidence.cosine is None:
            return _UNKNOWN
        if self._parameters.scale is None:
            raise RuntimeError("the embedder's scale is not known: `prepare` comes first")
        return self._parameters.scale.evidence(evidence.cosine)
