"""The search vectors of tools, made by the current embedder."""

import logging
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.protocols import Embedder
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.words import request_key
from selfeng.library import records
from selfeng.library.fusion import (
    distinct_requests,
    parameter_words,
    tool_vector,
)
from selfeng.library.records import Embedding
from selfeng.store.database import reading, reads, writing

_log = logging.getLogger(__name__)

MOST_USED = 15
"""Maximum number of served requests that a tool is found by; the oldest are dropped."""
_RECENT = 20
"""Vectors that are kept, for tools that are about to be added."""

Used = tuple[str, ...]
"""Requests that a tool has served, newest first."""


class Vectors:
    """Blocking. Methods that embed raise EmbedderUnavailable."""

    def __init__(self, engine: sa.Engine, embedder: Embedder) -> None:
        self._engine, self._embedder = engine, embedder
        self._vector = lru_cache(_RECENT)(tool_vector)
        self.former: Embedder | None = None
        """The former embedder, while searches use its vectors."""

    def of_new(
        self, draft: ToolDraft, requests: Sequence[str] = ()
    ) -> tuple[Used, Embedding | None]:
        """Those of the requests that find a new tool, in addition to its example requests, and its
        vector, ignoring what an earlier tool of its name has served; None while the embedder is
        unavailable.
        """
        examples = distinct_requests(draft.example_requests)
        used = distinct_requests((*examples, *requests))[len(examples) :][:MOST_USED]
        try:
            return used, self._of(draft, used)
        except EmbedderUnavailable as error:
            _log.info("%s is found only by its words for now: %s", draft.name, error)
            return used, None

    def of_next(self, draft: ToolDraft) -> Embedding:
        """The vector of a tool's next version, which includes the requests that the tool has
        served.
        """
        return self._of(draft, self.used([draft.name])[draft.name])

    used = reads(records.used_requests)

    def complete(self, name: str) -> None:
        """Embed a tool that has no vector of this embedder; does nothing if the tool was
        removed.
        """
        while True:
            with reading(self._engine) as connection:
                before = _found_by(connection, name)
            if before is None:
                return
            embedding = self._by(self._embedder, *before)
            with writing(self._engine) as connection:
                if (
                    _found_by(connection, name) == before
                ):  # otherwise something changed while this was embedded
                    records.insert_vector(connection, name, embedding)
                    return

    def serve(self, name: str, version: int, request: str) -> bool:
        """Let search find a tool by a request that this version has served; False if the tool was
        removed, changed, or is already found by it.
        """

        def add(tool: Tool, used: Used) -> _FoundBy | None:
            request_keys = map(request_key, (*tool.example_requests, *used))
            if tool.version != version or request_key(request) in request_keys:
                return None
            return _FoundBy(tool, (request, *used)[:MOST_USED])

        return self._change(name, add)

    def forget(self, name: str, request: str) -> bool:
        """Remove a learned request from a tool; False if there is no such request."""

        def remove(tool: Tool, used: Used) -> _FoundBy | None:
            remaining = tuple(r for r in used if r != request)
            return _FoundBy(tool, remaining) if remaining != used else None

        return self._change(name, remove)

    def forget_all(self, name: str, requests: Collection[str]) -> bool:
        """Remove these requests from those that a tool has learned and from its examples; False if
        it has none of them. While the embedder is unavailable, the tool has no vector then.
        """

        def remove(tool: Tool, used: Used) -> _FoundBy | None:
            examples, remaining = (
                tuple(text for text in texts if text not in requests)
                for texts in (tool.example_requests, used)
            )
            if (examples, remaining) == (tool.example_requests, used):
                return None
            return _FoundBy(tool.model_copy(update={"example_requests": examples}), remaining)

        return self._change(name, remove, records.release, without_vector=True)

    def release(self, name: str) -> bool:
        """Let search find an imported tool by the example requests that it came with; False if it
        is by them already, or came with none.
        """
        return self._change(name, _released, records.release)

    def _change(
        self,
        name: str,
        change: Callable[[Tool, Used], "_FoundBy | None"],
        store: Callable[[sa.Connection, Tool, Used, Embedding | None], None] = records.serve,
        *,
        without_vector: bool = False,
    ) -> bool:
        """Replace what a tool is found by with the result of `change`; False if that is None or
        there is no such tool.
        """
        while True:
            with reading(self._engine) as connection:
                before = _found_by(connection, name)
            after = before and change(*before)
            if before is None or after is None:
                return False
            try:
                embedding = self._of(*after)
            except EmbedderUnavailable:
                if not without_vector:
                    raise
                embedding = None
            with writing(self._engine) as connection:
                if (
                    _found_by(connection, name) == before
                ):  # otherwise something changed while this was embedded
                    store(connection, *after, embedding)
                    return True

    def _of(self, draft: ToolDraft, used: Used) -> Embedding:
        embedding, former = self._by(self._embedder, draft, used), self.former
        try:
            return embedding._replace(former=self._by(former, draft, used)) if former else embedding
        except EmbedderUnavailable as error:
            _log.warning("%s is not found until all tools are re-embedded: %s", draft.name, error)
            return embedding

    def _by(self, embedder: Embedder, draft: ToolDraft, used: Used) -> Embedding:
        examples, parameters = (*draft.example_requests, *used), parameter_words(draft)
        words = draft.name, draft.description, examples, parameters
        vector = self._vector(embedder, *words)  # type: ignore[arg-type]  # hashed by its identity
        return Embedding(embedder.id, vector)


class _FoundBy(NamedTuple):
    tool: Tool
    used: Used


def _released(tool: Tool, used: Used) -> _FoundBy | None:
    """The tool with the requests that it came with; None if there are none that it lacks."""
    if tool.imported is None or not tool.imported.requests:
        return None
    requests = distinct_requests((*tool.example_requests, *tool.imported.requests))
    imported = tool.imported.model_copy(update={"requests": ()})
    update = {"example_requests": requests, "imported": imported}
    return _FoundBy(tool.model_copy(update=update), used)


def _found_by(connection: sa.Connection, name: str) -> _FoundBy | None:
    tool = next(records.load(connection, [name]), None)
    return (
        _FoundBy(tool, records.used_requests(connection, [name])[name])
        if tool is not None
        else None
    )
