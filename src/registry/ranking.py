"""Ranking what a search has found: by meaning and words together, each with a calibrated confidence."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from src.registry.confidence import confidence
from src.registry.fusion import Vector

_BM25 = 0.015
"""What a point of BM25 counts beside the cosine, which is -1..1."""


class Evidence(NamedTuple):
    """What speaks for a tool."""

    name: str
    cosine: float
    """Between request and tool, -1..1."""
    bm25: float
    """0 where no word of the request is among the tool's."""


class Ranked(NamedTuple):
    name: str
    cosine: float
    confidence: float
    """0..1."""


class Ranking:
    """What is known of an embedder's vectors."""

    @classmethod
    def of(cls, embedder: str, folder: Path | None = None) -> "Ranking":
        """Of the embedder with that id; `folder` holds what was fitted to the library at hand."""
        return cls()

    def request(self, vector: Vector) -> Vector:
        """The vector that tools are compared with, from that of a request."""
        return vector

    def rank(self, evidence: Sequence[Evidence], tools: int) -> list[Ranked]:
        """Best first; `tools` is how many were searched."""
        best = sorted(evidence, key=lambda e: (-(e.cosine + _BM25 * e.bm25), e.name))
        cosines = [e.cosine for e in best]
        return [Ranked(e.name, e.cosine, confidence(cosines, rank, tools)) for rank, e in enumerate(best)]
