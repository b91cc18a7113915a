"""From a tool to its one search vector, and from a request to its own.

norm(0.3 · description + 0.7 · norm(mean(example requests))): requests are phrased like example requests, hardly ever like
descriptions. On MetaTool hit@1 is .56 with the description alone, .66 with the examples alone and .68 with this.
"""

import re
from collections.abc import Sequence

import numpy as np

from src.core.protocols import Embedder
from src.registry.records import Vector

_DESCRIPTION = 0.3
_EXAMPLES = 0.7
_MAX_EXAMPLES = 20
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\W]+")


def tool_vector(embedder: Embedder, name: str, description: str, example_requests: Sequence[str]) -> Vector:
    """Blocking. Raises what the embedder raises."""
    examples = list(dict.fromkeys(example_requests))[:_MAX_EXAMPLES]
    embedded = embedder.embed([f"{split_words(name)}: {description}", *examples])
    return fuse(embedded[0], embedded[1:])


def fuse(description: Vector, examples: Vector) -> Vector:
    """`examples` has one row per example request, possibly none."""
    if not len(examples):
        return description
    return _unit(_DESCRIPTION * description + _EXAMPLES * _unit(examples.mean(axis=0)))


def request_vector(embedder: Embedder, request: str) -> Vector:
    return np.asarray(embedder.embed([request])[0], dtype=np.float32)


def split_words(name: str) -> str:
    """`reverse_string` and `ReverseString` as words."""
    return _WORD_BOUNDARY.sub(" ", name).strip()


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, dtype=np.float32)
