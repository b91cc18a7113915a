"""The tool editor: makes a tool from a draft, makes its next version from another draft or an old
version, and looks up its versions; and the proposals, which wait for a person to accept them.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

import sqlalchemy as sa

from selfeng.core.errors import ResourceNotFound
from selfeng.core.owner import current_owner
from selfeng.core.protocols import ToolLibrary
from selfeng.core.provenance import Proposal, Provenance, RolledBack
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.tool import Candidate, Tool, ToolDraft
from selfeng.library import records
from selfeng.library.file_watcher import FileWatcher
from selfeng.library.tool_files import Sources
from selfeng.library.tool_writer import ToolWriter
from selfeng.library.vectors import Vectors
from selfeng.library.versions import load, load_all
from selfeng.store.database import fetch_column, fetch_value, reads, storable, writing
from selfeng.store.schema import proposals


class ToolEditor:
    """Blocking. Embeds the searchable text before taking the writer's lock."""

    def __init__(
        self, engine: sa.Engine, watcher: FileWatcher, writer: ToolWriter, vectors: Vectors
    ) -> None:
        self._engine, self._watcher, self._writer, self._vectors = engine, watcher, writer, vectors

    def add(
        self, draft: ToolDraft, provenance: Provenance, requests: Sequence[str]
    ) -> tuple[Tool, bool]:
        """The tool, and whether it has its vector. Raises: ToolExists, LibraryError."""
        self._watcher.look()  # a tool with files deleted just now frees its name
        used, embedding = self._vectors.of_new(draft, requests)
        return self._writer.add(draft, provenance, embedding, used), embedding is not None

    def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        """Raises: VersionConflict, ToolModified, ToolNotFound, VersionNotFound,
        EmbedderUnavailable, LibraryError.
        """
        before = self.version(draft.name, based_on)
        same = (before.description, before.example_requests) == (
            draft.description,
            draft.example_requests,
        )
        return self._writer.revise(
            draft, provenance, based_on, None if same else self._vectors.of_next(draft)
        )

    def rollback(self, name: str, to: int) -> Tool:
        """Raises: VersionNotFound, VersionConflict, ToolModified, ToolNotFound,
        EmbedderUnavailable, LibraryError.
        """
        old = self.version(name, to)
        newest = self.versions(name)[0].version
        return self.revise(
            old.draft(),
            newest,
            Provenance(origin=RolledBack(to=to), verdict=old.provenance.verdict),
        )

    def freeze(self, name: str, frozen: bool) -> bool:
        """Whether there was a tool of this name."""
        with writing(self._engine) as connection:
            return records.set_frozen(connection, name, frozen)

    versions = reads(load_all)
    version = reads(load)


class Proposals:
    """The proposals of persons, one for each name. Blocking."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, owner: str, proposal: Proposal) -> None:
        """Store it in place of any other of that name."""
        self.remove(owner, proposal.name)
        text = proposal.model_dump_json()
        with writing(self._engine) as connection:
            row = {"owner": owner, "name": proposal.name, "proposal": text}
            connection.execute(proposals.insert().values(**row))

    def remove(self, owner: str, name: str) -> None:
        with writing(self._engine) as connection:
            connection.execute(proposals.delete().where(_is(owner, name)))

    def get(self, owner: str, name: str) -> Proposal:
        """Waiting or refused. Raises: ResourceNotFound."""
        text = fetch_value(self._engine, sa.select(proposals.c.proposal).where(_is(owner, name)))
        if text is None:
            raise ResourceNotFound(
                f"no proposal {name[:80]!r} waits for you",
                "`selfeng proposals` lists those that do",
            )
        return Proposal.model_validate_json(text)

    def of(self, owner: str) -> tuple[Proposal, ...]:
        """Those that wait, by name."""
        query = sa.select(proposals.c.proposal).where(proposals.c.owner == owner)
        texts = fetch_column(self._engine, query.order_by(proposals.c.name))
        return tuple(p for p in map(Proposal.model_validate_json, texts) if not p.refused)


def _is(owner: str, name: str) -> sa.ColumnElement[bool]:
    return (proposals.c.owner == owner) & (proposals.c.name == storable(name))


class ComparingLibrary(ToolLibrary, Protocol):
    async def compare(
        self, request: str, tools: Sequence[ServerTool]
    ) -> tuple[ServerCandidate, ...]: ...


class ProposingLibrary:
    """A `ToolLibrary` whose changes are proposals to the person whose turn makes them; what it adds
    is found by that person's later requests, so that it is not proposed again.
    """

    def __init__(self, library: ComparingLibrary, waiting: Proposals) -> None:
        self._library, self._waiting = library, waiting

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._library, name)
        return method

    async def add(
        self,
        draft: ToolDraft,
        provenance: Provenance | None = None,
        requests: Sequence[str] = (),
    ) -> Tool:
        await self._library.check(draft)
        return await self._proposed(draft, 0, provenance or Provenance())

    async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        return await self._proposed(draft, based_on, provenance)

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        candidates = await self._library.search(request, limit)
        waiting = await asyncio.to_thread(self._waiting.of, current_owner())
        new = {proposal.name: proposal for proposal in waiting if not proposal.based_on}
        if not new:
            return candidates
        matches = await self._library.compare(request, [*map(_as_described, new.values())])
        proposed = (
            Candidate(tool=new[m.tool.tool], similarity=m.similarity, confidence=m.confidence)
            for m in matches
        )
        return tuple(sorted((*candidates, *proposed), key=lambda c: -c.confidence)[:limit])

    async def _proposed(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Proposal:
        proposal = proposal_of(draft, based_on, provenance)
        await asyncio.to_thread(self._waiting.put, current_owner(), proposal)
        return proposal


def proposal_of(draft: ToolDraft, based_on: int, provenance: Provenance) -> Proposal:
    """A proposal made now, see there."""
    return Proposal(
        **dict(draft.draft()),
        created_at=datetime.now(UTC),
        digest=Sources(code=draft.code, tests=draft.tests).digest,
        version=based_on + 1,
        based_on=based_on,
        provenance=provenance,
    )


def _as_described(proposal: Proposal) -> ServerTool:
    """The proposal as what a search compares by its description."""
    schema = proposal.signature.input_schema()
    described = f"{proposal.description} {' '.join(proposal.example_requests)}"
    return ServerTool(
        server="", address="", tool=proposal.name, description=described, input_schema=schema
    )
