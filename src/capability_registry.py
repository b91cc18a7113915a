"""The capability registry: the library of tools, kept in files and SQL and searched by meaning.

`tools/<name>.py`, `tools/test_<name>.py` and a record in SQL are the truth; the vectors in SQL serve an exact search, and
the index in Chroma is a copy of them that can be deleted at any time. `python src/capability_registry.py` shows it working.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

from src.core.errors import AgentError, ToolModified
from src.core.protocols import Embedder
from src.core.tool import Candidate, Tool, ToolDraft
from src.registry import names, records
from src.registry.change import LibraryChange
from src.registry.confidence import confidence
from src.registry.files import Checkpoint, ToolFiles, code_file, tests_file
from src.registry.fusion import request_vector, tool_vector
from src.registry.index import IndexState, SearchIndex
from src.registry.inventory import Inventory
from src.registry.registrar import Registrar, edited, exists, file_in_the_way, half, not_found, verify_again
from src.registry.shelf import Shelf
from src.registry.sources import Sources
from src.runtime import PromisingContext
from src.store.database import writing

__all__ = ["CapabilityRegistry", "LibraryChange", "Sources"]

_log = logging.getLogger(__name__)


class CapabilityRegistry:
    """The tool library. Its methods are called on one event loop, between `start` and `aclose`."""

    def __init__(
        self,
        engine: sa.Engine,
        tools_dir: Path,
        chroma_dir: Path,
        embedder: Embedder,
        *,
        on_change: Callable[[LibraryChange], None] = lambda change: None,
        checkpoint: Checkpoint = lambda step: None,
    ) -> None:
        """`on_change` is called on the event loop; `checkpoint` is for tests of crashes, see `Checkpoint`."""
        self._engine = engine
        self._embedder = embedder
        self._on_change = on_change
        self._files = ToolFiles(tools_dir, checkpoint)
        self._registrar = Registrar(engine, self._files, checkpoint)
        self._inventory = Inventory(engine, self._files, self._registrar, embedder.id)
        self._index = SearchIndex(chroma_dir, embedder.id)
        self._background = PromisingContext()

    async def start(self) -> None:
        """Complete what a killed process began and reconcile records with files; the index opens in the background."""
        shelf = await asyncio.to_thread(self._start)
        self._tell()
        if shelf.strangers:
            listed = ", ".join(sorted(shelf.strangers))
            _log.warning("files in %s that the library did not write are left alone: %s", self._files.folder, listed)
        if len(shelf.vectors) < len(shelf.tools) - len(shelf.modified):
            self._background.start(self._embed_missing(shelf))

    async def aclose(self) -> None:
        self._background.cancel()
        await self._background.aflush_tasks()
        await asyncio.to_thread(self._index.close)

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        """The tools nearest to a request, best first. Raises: EmbedderUnavailable."""
        shelf = await self._look()
        return await asyncio.to_thread(self._rank, shelf, request, limit)

    async def tools(self) -> tuple[Tool, ...]:
        """All tools by name, also those whose files were edited by hand."""
        shelf = await self._look()
        return tuple(shelf.tools[name] for name in sorted(shelf.tools))

    async def get(self, name: str) -> Tool:
        """Raises: ToolNotFound, ToolModified."""
        shelf = await self._look()
        if name in shelf.halves:
            raise half(name, shelf.halves[name])
        if name not in shelf.tools:
            raise not_found(name)
        if name in shelf.modified:
            raise ToolModified(f"{code_file(name)} or {tests_file(name)} differs from what was verified", verify_again(name))
        return shelf.tools[name]

    async def version(self, name: str, version: int) -> Tool:
        """What the tool was at a version. Raises: ToolNotFound, also where there is no such version."""
        tool = (await self._look()).tools.get(name)
        if tool is None or tool.version != version:
            raise not_found(name)
        return tool

    def check_name(self, name: str) -> None:
        """Judge by the last look at the library; `add` judges again. Raises: ToolNameInvalid, ToolExists, FileInTheWay."""
        names.check_form(name)
        shelf = self._inventory.shelf
        if name in shelf.reserved:
            raise exists(name)
        for file in (code_file(name), tests_file(name)):
            if file in shelf.strangers:
                raise file_in_the_way(self._files.folder, file)

    async def check(self, draft: ToolDraft) -> None:
        """Whether `add` would take the draft: as `check_name`, but files that say the same are no hindrance.

        Raises: ToolNameInvalid, ToolExists, LibraryError.
        """
        names.check_form(draft.name)
        await asyncio.to_thread(self._registrar.check, draft.name, Sources(code=draft.code, tests=draft.tests))

    async def add(self, draft: ToolDraft) -> Tool:
        """Register files, record and vector, or nothing, whatever happens in between.

        Raises: ToolNameInvalid, ToolExists, EmbedderUnavailable, LibraryError (such as FileInTheWay).
        """
        tool = await asyncio.to_thread(self._add, draft)
        await self._look()
        return tool

    async def sources(self, name: str) -> Sources:
        """What stands in the files now, verified or not. Raises: ToolNotFound, ToolModified (the tests are missing)."""
        shelf = await self._look()
        if name in shelf.halves:
            raise half(name, shelf.halves[name])
        found = await asyncio.to_thread(self._files.read, name) if name in shelf.tools else None
        if found is None:
            raise not_found(name)
        return found

    async def edited(self, name: str) -> ToolDraft:
        """The tool as its files have it now, ready to be verified. Raises: ToolNotFound, ToolModified (they define it no more)."""
        sources = await self.sources(name)
        tool = self._inventory.shelf.tools.get(name)
        if tool is None:  # removed this moment
            raise not_found(name)
        return edited(tool, sources)

    async def accept(self, name: str, sources: Sources) -> Tool:
        """Take files that were edited by hand, and verified since, for the tool's own.

        Raises: ToolNotFound, ToolModified (the files are not these `sources`, or define no function of that name).
        """
        await asyncio.to_thread(self._registrar.accept, name, sources)
        return await self.get(name)

    async def remove(self, name: str) -> None:
        """Raises: ToolNotFound."""
        await self._look()
        await asyncio.to_thread(self._registrar.remove, name)
        await self._look()

    async def record_use(self, name: str) -> None:
        """Raises: ToolNotFound."""
        if not await asyncio.to_thread(self._count_use, name):
            raise not_found(name)

    async def settle(self, seconds: float = 60.0) -> IndexState:
        """Wait for the work in the background; says what became of the index."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._background.aflush_tasks()
        shelf = await self._look()
        return await asyncio.to_thread(self._index.settle, shelf, seconds)

    def _start(self) -> Shelf:
        names.warm_up()
        self._inventory.begin()
        self._registrar.recover()
        shelf = self._inventory.look()
        self._index.start()
        self._index.follow(shelf)
        return shelf

    async def _look(self) -> Shelf:
        shelf = await asyncio.to_thread(self._inventory.look)
        self._index.follow(shelf)
        self._tell()
        return shelf

    def _tell(self) -> None:
        while self._inventory.changes:
            self._on_change(self._inventory.changes.popleft())

    def _rank(self, shelf: Shelf, request: str, limit: int) -> tuple[Candidate, ...]:
        if not shelf.names:
            return ()
        vector = request_vector(self._embedder, request)
        count = max(limit, 2)  # the confidence of the first depends on the second
        nearest = self._index.nearest(shelf, vector, count)
        if nearest is None:
            nearest = shelf.nearest(vector, count)
        scored = sorted(zip(shelf.cosines(vector, nearest), nearest, strict=True), key=lambda s: (-s[0], s[1]))
        cosines = [cosine for cosine, _ in scored]
        return tuple(
            Candidate(tool=shelf.tools[name], similarity=cosine, confidence=confidence(cosines, rank, len(shelf.names)))
            for rank, (cosine, name) in enumerate(scored[:limit])
        )

    def _add(self, draft: ToolDraft) -> Tool:
        names.check_form(draft.name)
        self._inventory.look()  # a tool whose files were deleted just now gives its name up
        sources = Sources(code=draft.code, tests=draft.tests)
        self._registrar.check(draft.name, sources)
        vector = tool_vector(self._embedder, draft.name, draft.description, draft.example_requests)
        tool = Tool(**draft.model_dump(include=set(ToolDraft.model_fields)), created_at=datetime.now(UTC), digest=sources.digest)
        self._registrar.add(tool, self._embedder.id, vector)
        return tool

    def _count_use(self, name: str) -> bool:
        with writing(self._engine) as connection:
            return records.count_use(connection, name)

    async def _embed_missing(self, shelf: Shelf) -> None:
        """Give a vector of this embedder to every tool that has none, as after a change of embedder."""
        try:
            for tool in shelf.tools.values():
                if tool.name not in shelf.vectors:
                    await asyncio.to_thread(self._embed, tool)
        except AgentError as error:
            _log.warning("tools can't be searched: %s; %s", error, error.remedy)
        await self._look()

    def _embed(self, tool: Tool) -> None:
        vector = tool_vector(self._embedder, tool.name, tool.description, tool.example_requests)
        with writing(self._engine) as connection:
            if records.state_of(connection, tool.name) is not None:
                records.insert_vector(connection, tool.name, self._embedder.id, vector)


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "capability_registry"]
    runpy.run_module("src", run_name="__main__")
