"""The request map: a linear map that moves the vectors of requests towards those of tools.

An embedder captures what sentences mean; the map learns what matters in a search for tools: verbs
do, "I" and "please" don't. It is the identity plus a matrix of low rank, and is applied to requests
only, so stored vectors never change.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from selfeng.registry.fusion import Vector, unit

Matrix = npt.NDArray[np.float32]


class RequestMap(NamedTuple):
    """request -> unit(request + request · left · right)."""

    left: Matrix
    """Shape (dimensions, rank)."""
    right: Matrix
    """Shape (rank, dimensions)."""

    def __call__(self, requests: Vector) -> Vector:
        """Map the vector of one request, or a matrix with one request per row."""
        return unit(np.asarray(requests + requests @ self.left @ self.right, dtype=np.float32))

    def problem(self) -> str | None:
        """Why the factors don't form a map; None if they do."""
        shapes = self.left.shape, self.right.shape
        fits = self.left.ndim == self.right.ndim == 2 and shapes[0] == shapes[1][::-1]
        return (
            None
            if fits
            else f"the request map's factors have the shapes {shapes[0]} and {shapes[1]}"
        )
