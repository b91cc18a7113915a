"""The search: from a request to the tools that may serve it, by meaning and by words."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.tool import Candidate
from selfeng.library import lexical, records, revisions
from selfeng.library.file_watcher import FileWatcher
from selfeng.library.fusion import Vector, split_words, tool_vector
from selfeng.library.index import SearchIndex
from selfeng.library.library_snapshot import LibrarySnapshot
from selfeng.library.ranking import Evidence
from selfeng.library.reembedding import Reembedding, Space
from selfeng.store.database import reading

_log = logging.getLogger(__name__)
_LISTED = 30
"""Number of candidates by meaning, and as many by words."""
_SHARED_WORD = 1.0
"""BM25 that a word which a request shares with a tool of another server counts for; there is no
index of such tools.
"""
_MOST_SERVER_TOOLS = 2_000
"""Vectors of tools of other servers that are kept."""
_RECENT = 200
"""Maximum number of tools changed since they were indexed that are compared as well; if there are
more, the exact search serves.
"""


class _Query(NamedTuple):
    """A request in a space."""

    space: Space
    vector: Vector | None
    """None if the embedder is unavailable."""


class Search:
    """Any number of searches may run at once, even while the library changes."""

    def __init__(
        self,
        engine: sa.Engine,
        watcher: FileWatcher,
        index: SearchIndex,
        reembedding: Reembedding,
        space: Space,
    ) -> None:
        """`space`: the space of the index, which is searched unless the tools are being
        re-embedded.
        """
        self._engine, self._watcher, self._index, self._reembedding, self._space = (
            engine,
            watcher,
            index,
            reembedding,
            space,
        )
        self._server_vectors: dict[tuple[str, str], Vector] = {}

    async def find(self, request: str, limit: int) -> tuple[Candidate, ...]:
        """The best tools for a request, best first, without retired and hand-edited ones.

        While the embedder is unavailable, tools are found by their words alone.
        """
        await self._reembedding.wait()
        return await self._reembedding.threads.run(partial(self._find, request, limit))

    async def compare(
        self, request: str, tools: Sequence[ServerTool]
    ) -> tuple[ServerCandidate, ...]:
        """How well tools of other servers fit a request, best first: by their descriptions, or by
        the words that they share with it while the embedder is unavailable.
        """
        return await self._reembedding.threads.run(partial(self._compare, request, tools))

    @property
    def _current(self) -> Space:
        """The space that searches use now."""
        return self._reembedding.former or self._space

    def _find(self, request: str, limit: int) -> tuple[Candidate, ...]:
        snapshot = self._watcher.look()
        if not snapshot.searched:
            return ()
        query = self._embed_request(request)
        evidence = self._evidence(snapshot, request, query)
        if query.space is not self._current:  # re-embedding just ended and dropped the old vectors
            query = self._embed_request(request)
            evidence = self._evidence(snapshot, request, query)
        while True:
            best = query.space.ranking.rank(_of_offered(snapshot, evidence), snapshot.searched)[
                :limit
            ]
            names = [ranked.name for ranked in best]
            snapshot = self._watcher.look(names)
            if all(map(snapshot.offers, names)):
                break
        with reading(self._engine) as connection:
            tools = {tool.name: tool for tool in records.load(connection, names)}
        return tuple(
            Candidate(
                tool=tools[ranked.name], similarity=ranked.cosine, confidence=ranked.confidence
            )
            for ranked in best
            if ranked.name in tools
        )

    def _compare(self, request: str, tools: Sequence[ServerTool]) -> tuple[ServerCandidate, ...]:
        space, vector = self._embed_request(request)
        words = set(split_words(request).lower().split())
        evidence = [
            Evidence(
                tool.name,
                None if vector is None else float(self._server_vector(tool, space) @ vector),
                _SHARED_WORD * len(words & set(_words_of(tool))),
            )
            for tool in tools
        ]
        by_name = {tool.name: tool for tool in tools}
        return tuple(
            ServerCandidate(
                tool=by_name[ranked.name], similarity=ranked.cosine, confidence=ranked.confidence
            )
            for ranked in space.ranking.rank(evidence, len(tools))
        )

    def _server_vector(self, tool: ServerTool, space: Space) -> Vector:
        """Blocking. Raises: EmbedderUnavailable."""
        key = space.embedder.id, tool.digest
        if key not in self._server_vectors:
            if len(self._server_vectors) >= _MOST_SERVER_TOOLS:
                self._server_vectors.clear()
            self._server_vectors[key] = tool_vector(
                space.embedder, tool.tool, tool.description, (), " ".join(_words_of(tool))
            )
        return self._server_vectors[key]

    def _evidence(self, snapshot: LibrarySnapshot, request: str, query: _Query) -> list[Evidence]:
        """The evidence for the nearest tools and for those that share words with the request; some
        may no longer be offered.
        """
        space, vector = query
        with reading(self._engine) as connection:
            words = lexical.words_of(connection, request, snapshot.word_counts)
            near = [] if vector is None else self._near(connection, snapshot, space, vector)
            names = list({*near, *self._worded(connection, snapshot, words)})
            vectors = records.vectors(connection, space.embedder.id, names)
            cosines = {
                name: float(embedding @ vector)
                for name, embedding in vectors.items()
                if vector is not None
            }
            scores = lexical.scores(connection, words, names)
        return [Evidence(name, cosines.get(name), scores.get(name, 0.0)) for name in names]

    def _embed_request(self, request: str) -> _Query:
        """Blocking."""
        space = self._current
        try:
            space.ranking.prepare(space.embedder)
            return _Query(space, space.ranking.request(space.embedder.embed([request])[0]))
        except EmbedderUnavailable as error:
            _log.info("searched by words alone: %s", error)
            return _Query(space, None)

    def _near(
        self, connection: sa.Connection, snapshot: LibrarySnapshot, space: Space, vector: Vector
    ) -> list[str]:
        """Names of the nearest tools, and of some others that have changed since they were
        indexed.
        """
        count = _LISTED + len(snapshot.modified)
        nearest = self._index.nearest(vector, count) if space is self._space else None
        if nearest is not None:
            recent = (
                revisions.changed(connection, nearest.revision, ("", space.embedder.id))
                if nearest.revision < snapshot.revision
                else []
            )
            if len(recent) <= _RECENT:
                space.exact.release()
                return [*nearest.names, *recent]
        return space.exact.nearest(connection, vector, count)

    def _worded(
        self, connection: sa.Connection, snapshot: LibrarySnapshot, words: lexical.Words
    ) -> list[str]:
        """Names of the best tools by words; the index also holds retired, modified and missing
        ones.
        """
        count = _LISTED + len(snapshot.entries) - snapshot.searched
        return list(filter(snapshot.offered, lexical.best(connection, words, count)))[:_LISTED]


def _of_offered(snapshot: LibrarySnapshot, evidence: Sequence[Evidence]) -> list[Evidence]:
    """The evidence for the tools that are offered; what was merged into one of them counts for
    it.
    """
    by_name = dict[str, Evidence]()
    for item in evidence:
        if name := snapshot.offered(item.name):
            rival = by_name.get(name, item)
            cosines = [cosine for cosine in (item.cosine, rival.cosine) if cosine is not None]
            best = max(item.bm25, rival.bm25)
            by_name[name] = Evidence(name, max(cosines, default=None), best)
    return list(by_name.values())


def _words_of(tool: ServerTool) -> list[str]:
    parameters = " ".join(tool.input_schema["properties"])
    return split_words(f"{tool.tool} {tool.description} {parameters}").lower().split()
