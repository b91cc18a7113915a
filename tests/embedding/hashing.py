"""A small embedder for tests in which the model does not matter: words are hashed into
dimensions.
"""

import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from selfeng.capability_registry import CapabilityRegistry
from selfeng.store.database import open_database


class HashingEmbedder:
    """Texts with words in common are near each other; deterministic on every machine."""

    def __init__(self, embedder_id: str = "hashing:64", dimensions: int = 64) -> None:
        self._id = embedder_id
        self._dimensions = dimensions

    @property
    def id(self) -> str:
        return self._id

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest, "big") % self._dimensions] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@asynccontextmanager
async def hashed_library(folder: Path, **options: Any) -> AsyncIterator[CapabilityRegistry]:
    """A real library in a folder, which the embedder above searches."""
    database = open_database(f"sqlite:///{folder / 'agent.db'}")
    library = CapabilityRegistry(
        database, folder / "tools", folder / "chroma_db", HashingEmbedder(), **options
    )
    await library.start()
    yield library
    await library.aclose()
    database.dispose()
