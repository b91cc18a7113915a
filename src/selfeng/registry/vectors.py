"""The search vectors of tools, made by the embedder at hand."""

import logging
from collections.abc import Callable
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.protocols import Embedder
from selfeng.core.tool import Tool, ToolDraft
from selfeng.registry import records
from selfeng.registry.fusion import parameter_words, same_request, tool_vector
from selfeng.registry.records import Embedding
from selfeng.store.database import reading, writing

_log = logging.getLogger(__name__)

MOST_USED = 15
"""Served requests that a tool is found by; the oldest make room."""

Used = tuple[str, ...]
"""Requests that a tool has served, the newest first."""


class Vectors:
    """Blocking. What embeds raises EmbedderUnavailable."""

    def __init__(self, engine: sa.Engine, embedder: Embedder) -> None:
        self._engine, self._embedder = engine, embedder
        self.former: Embedder | None = None
        """The one before, while searches go by its vectors."""

    def of_new(self, draft: ToolDraft) -> Embedding | None:
        """Of a tool that has served nothing yet, whatever a former one of its name has; None while
        the embedder is not there.
        """
        try:
            return self._of(draft, ())
        except EmbedderUnavailable as error:
            _log.info("%s is found by its words alone for now: %s", draft.name, error)
            return None

    def of_next(self, draft: ToolDraft) -> Embedding:
        """Of the next version of a tool, found by the requests that the tool has served as well."""
        return self._of(draft, self.used(draft.name))

    def used(self, name: str) -> Used:
        """What a tool of that name has served; empty if there is none."""
        with reading(self._engine) as connection:
            return records.used_requests(connection, name)

    def complete(self, name: str) -> None:
        """Give a tool that has none its vector of this embedder; nothing if it is gone."""
        while True:
            with reading(self._engine) as connection:
                before = _found_by(connection, name)
            if before is None:
                return
            embedding = self._by(self._embedder, *before)
            with writing(self._engine) as connection:
                if (
                    _found_by(connection, name) == before
                ):  # else something else came in while this was embedded
                    records.insert_vector(connection, name, embedding)
                    return

    def serve(self, name: str, version: int, request: str) -> None:
        """Let search find a tool by a request that this version has served; nothing if it is gone,
        changed, or found by it already.
        """

        def add(tool: Tool, used: Used) -> Used | None:
            known = map(same_request, (*tool.example_requests, *used))
            return (
                None
                if tool.version != version or same_request(request) in known
                else (request, *used)[:MOST_USED]
            )

        self._change(name, add)

    def forget(self, name: str, request: str) -> bool:
        """Remove a learned request from a tool; False if there is no such request."""
        return self._change(
            name,
            lambda _, used: tuple(r for r in used if r != request) if request in used else None,
        )

    def _change(self, name: str, change: Callable[[Tool, Used], Used | None]) -> bool:
        """Put what `change` makes of the used requests in their place; False if it makes nothing of
        them, or there is no such tool.
        """
        while True:
            with reading(self._engine) as connection:
                before = _found_by(connection, name)
            after = before and change(*before)
            if before is None or after is None:
                return False
            embedding = self._of(before.tool, after)
            with writing(self._engine) as connection:
                if (
                    _found_by(connection, name) == before
                ):  # else something else came in while this was embedded
                    records.serve(connection, before.tool, after, embedding)
                    return True

    def _of(self, draft: ToolDraft, used: Used) -> Embedding:
        own, former = self._by(self._embedder, draft, used), self.former
        try:
            return own._replace(former=self._by(former, draft, used)) if former else own
        except EmbedderUnavailable as error:
            _log.warning("%s is not found until all tools are re-embedded: %s", draft.name, error)
            return own

    @staticmethod
    def _by(embedder: Embedder, draft: ToolDraft, used: Used) -> Embedding:
        examples = (*draft.example_requests, *used)
        return Embedding(
            embedder.id,
            tool_vector(embedder, draft.name, draft.description, examples, parameter_words(draft)),
        )


class _FoundBy(NamedTuple):
    tool: Tool
    used: Used


def _found_by(connection: sa.Connection, name: str) -> _FoundBy | None:
    tool = next(records.load(connection, [name]), None)
    return _FoundBy(tool, records.used_requests(connection, name)) if tool is not None else None
