from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry, LibraryChange
from selfeng.core.protocols import Embedder
from tests.embedding.hashing import HashingEmbedder


@dataclass
class Place:
    """Where a library lives, and what its listeners heard."""

    root: Path
    engine: sa.Engine
    heard: list[tuple[str, str]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    index: str = ""
    """URL of a Chroma server; empty: the index is in a folder."""

    @property
    def tools_dir(self) -> Path:
        return self.root / "tools"

    @property
    def chroma_dir(self) -> Path:
        return self.root / "chroma_db"

    def python_files(self) -> list[str]:
        return sorted(p.name for p in self.tools_dir.rglob("*.py"))

    def hear(self, change: LibraryChange) -> None:
        assert change.name in change.reason
        self.heard.append((change.change, change.name))
        self.reasons.append(change.reason)

    def take_heard(self) -> list[tuple[str, str]]:
        heard, self.heard = self.heard, []
        return heard

    @asynccontextmanager
    async def open(self, embedder: Embedder | None = None) -> AsyncIterator[CapabilityRegistry]:
        library = CapabilityRegistry(
            self.engine,
            self.tools_dir,
            self.index or self.chroma_dir,
            embedder or HashingEmbedder(),
            on_change=self.hear,
        )
        await library.start()
        try:
            yield library
        finally:
            await library.aclose()


Opened = Callable[[], AbstractAsyncContextManager[CapabilityRegistry]]


@pytest.fixture
def place(tmp_path: Path, database: sa.Engine) -> Place:
    return Place(tmp_path, database)


@pytest.fixture
async def library(place: Place) -> AsyncIterator[CapabilityRegistry]:
    async with place.open() as opened:
        yield opened
