"""The shelf: what the library holds at one moment, in memory, with the exact search over it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from src.core.tool import Tool
from src.registry.fusion import Vector


@dataclass(frozen=True)
class Shelf:
    """Immutable, so that a search goes on undisturbed while the library changes."""

    tools: Mapping[str, Tool]
    """All registered tools by name."""
    modified: frozenset[str]
    """Those whose files differ from what was verified."""
    reserved: frozenset[str]
    """Names that have a record, whether or not their files are there now."""
    strangers: frozenset[str]
    """Python files in the folder that belong to no registered tool."""
    halves: Mapping[str, str]
    """Tools of which one file is there and one was deleted by hand: the missing file by the tool's name."""
    vectors: Mapping[str, Vector]
    """Of the tools that search offers: files as verified, not retired, vector of this embedder present."""
    unembedded: frozenset[str]
    """Tools that have no vector of this embedder."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the tools that search offers."""
        return tuple(sorted(self.vectors))

    @cached_property
    def matrix(self) -> npt.NDArray[np.float32]:
        return np.stack([self.vectors[name] for name in self.names])

    @cached_property
    def stamps(self) -> dict[str, str]:
        """Changes with the vector; tells the index which of its entries are out of date."""
        return {name: hashlib.sha256(vector.tobytes()).hexdigest()[:16] for name, vector in self.vectors.items()}

    @cached_property
    def revision(self) -> str:
        """Equal for shelves that offer the same tools with the same vectors."""
        return hashlib.sha256(repr(sorted(self.stamps.items())).encode()).hexdigest()

    def nearest(self, vector: Vector, count: int) -> list[str]:
        """Names of the nearest tools, best first."""
        if not self.names:
            return []
        return [self.names[i] for i in np.argsort(-(self.matrix @ vector), kind="stable")[:count]]

    def cosines(self, vector: Vector, names: Sequence[str]) -> list[float]:
        return [float(self.vectors[name] @ vector) for name in names]


EMPTY = Shelf(tools={}, modified=frozenset(), reserved=frozenset(), strangers=frozenset(), halves={}, vectors={}, unembedded=frozenset())
