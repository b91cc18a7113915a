"""Ranks the tools that a search has found by meaning and words together, each with a calibrated
confidence.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from selfeng.core.protocols import Embedder
from selfeng.library.confidence import BM25_EVIDENCE, confidences, measure
from selfeng.library.fusion import Vector
from selfeng.library.parameters import Parameters, current

_UNKNOWN = -3.0
"""Evidence, in natural log-odds, if the cosine is unknown: the most likely value for tools found by
words alone, on the labelled requests in `tests/registry/requests.jsonl`. With it, no wrong tool
reaches 0.75 there and no right one falls below 0.05.
"""


class Evidence(NamedTuple):
    """The evidence for a tool."""

    name: str
    cosine: float | None
    """Between the mapped request and the tool, -1..1; None where one of them has no vector yet."""
    bm25: float
    """BM25; 0 if request and tool share no word."""


class Ranked(NamedTuple):
    name: str
    cosine: float
    confidence: float
    """0..1."""


class Ranking:
    """Ranks with the vectors of one embedder. Thread-safe."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self._lock = threading.Lock()

    @classmethod
    def for_embedder(cls, embedder: str, folder: Path | None = None) -> "Ranking":
        """For the embedder with that id; `folder` may have parameters fitted to this library."""
        return cls(current(embedder, folder))

    def prepare(self, embedder: Embedder) -> None:
        """Measure the scale of an embedder without shipped parameters, once. Blocking. Raises what
        the embedder raises.
        """
        with self._lock:
            if self.parameters.scale is None:
                self.parameters = replace(self.parameters, scale=measure(embedder))

    def request(self, vector: Vector) -> Vector:
        """Map the vector of a request to the one that tools are compared with."""
        return self.parameters.map(vector) if self.parameters.map else vector

    def rank(self, evidence: Sequence[Evidence], tools: int) -> list[Ranked]:
        """Rank the tools, best first; `tools` is the number searched. Call `prepare` first if there
        are cosines.
        """
        strengths = np.array(
            [self._meaning(e) + BM25_EVIDENCE * e.bm25 for e in evidence], dtype=np.float64
        )
        if not len(strengths):
            return []
        likely = confidences(strengths, tools, self.parameters.weights)
        order = sorted(range(len(evidence)), key=lambda i: (-strengths[i], evidence[i].name))
        return [
            Ranked(evidence[i].name, evidence[i].cosine or 0.0, float(likely[i])) for i in order
        ]

    def _meaning(self, evidence: Evidence) -> float:
        if evidence.cosine is None:
            return _UNKNOWN
        if self.parameters.scale is None:
            raise RuntimeError("the embedder's scale is unknown: call `prepare` first")
        return self.parameters.scale.evidence(evidence.cosine)
