"""Requests of which it is known what tools serve them, with all that ranking has to go by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from selfeng.core.protocols import Embedder
from selfeng.core.tool import ToolDraft
from selfeng.registry.fitting.bm25 import Bm25
from selfeng.registry.fitting.data import RetrievalSet
from selfeng.registry.fusion import described, fuse, parameter_words, tool_vector
from selfeng.registry.lexical import text
from selfeng.registry.request_map import Matrix, RequestMap
from selfeng.registry.requests import distinct

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Judged:
    """m requests, n tools, d dimensions."""

    name: str
    ids: tuple[str, ...]
    """Of the tools."""
    requests: Matrix
    """(m, d)"""
    tools: Matrix
    """(n, d)"""
    gold: Bools
    """(m, n): whether the tool serves the request."""
    words: Bm25
    own: Matrix | None = None
    """(m, d), where each request is among those that its only tool is found by: the tool's vector without this request."""

    @property
    def answerable(self) -> Bools:
        """(m): whether any tool serves the request."""
        return np.asarray(self.gold.any(axis=1))

    @cached_property
    def bm25(self) -> Matrix:
        """(m, n)"""
        return self.bm25_among(np.arange(len(self.requests)), np.arange(len(self.tools)))

    def bm25_among(self, rows: Rows, tools: Rows) -> Matrix:
        """(rows, tools), in a library of just these tools."""
        scores = self.words.scores(rows, tools)
        if self.own is not None:
            gold = self.gold[np.ix_(rows, tools)]
            scores[gold] = self.words.without_request(self.gold.argmax(axis=1))[rows][gold.any(axis=1)]
        return scores

    def cosines(self, request_map: RequestMap | None = None) -> Matrix:
        """(m, n)"""
        requests = request_map(self.requests) if request_map else self.requests
        cosines = requests @ self.tools.T
        if self.own is not None:
            cosines[self.gold] = (requests * self.own).sum(axis=1)
        return np.asarray(cosines, dtype=np.float32)


def judge(data: RetrievalSet, embedder: Embedder, progress: Callable[[], None] = lambda: None) -> Judged:
    """A data set as a library would hold it; `progress` is called for each tool and request. Blocking. Raises what the embedder raises."""
    places = {tool.name: place for place, tool in enumerate(data.tools)}
    gold = np.zeros((len(data.queries), len(data.tools)), dtype=np.bool_)
    for row, query in enumerate(data.queries):
        gold[row, [places[name] for name in query.gold]] = True

    def after(vector: Matrix) -> Matrix:
        progress()
        return vector

    return Judged(
        name=data.name,
        ids=data.ids,
        requests=np.stack([after(embedder.embed([query.request])[0]) for query in data.queries]),
        tools=np.stack([after(tool_vector(embedder, t.name, t.description, t.example_requests, parameter_words(t))) for t in data.tools]),
        gold=gold,
        words=Bm25([text(tool, ()) for tool in data.tools], [query.request for query in data.queries]),
    )


def leave_one_out(
    tools: Sequence[tuple[ToolDraft, Sequence[str]]], embedder: Embedder, progress: Callable[[], None] = lambda: None
) -> Judged:
    """Every request that a tool with others is found by, put to the library as if it were not known.

    `tools` have beside them the requests that they have served; `progress` is called for each. Blocking. Raises what the embedder raises.
    """
    asked: list[str] = []
    gold: list[int] = []
    requests, own, fused = [], [], []
    for number, (tool, used) in enumerate(tools):
        known = distinct([*tool.example_requests, *used])
        vectors = embedder.embed([described(tool.name, tool.description), *known])
        fused.append(fuse(vectors[0], vectors[1:]))
        for place in range(len(known) if len(known) > 1 else 0):
            asked.append(known[place])
            gold.append(number)
            requests.append(vectors[1 + place])
            own.append(fuse(vectors[0], np.delete(vectors[1:], place, axis=0)))
        progress()
    shape = len(asked), embedder.dimensions
    return Judged(
        name="library",
        ids=tuple(tool.name for tool, _ in tools),
        requests=np.array(requests, dtype=np.float32).reshape(shape),
        tools=np.array(fused, dtype=np.float32).reshape(len(tools), embedder.dimensions),
        gold=np.eye(len(tools), dtype=np.bool_)[gold],
        words=Bm25([text(tool, used) for tool, used in tools], asked),
        own=np.array(own, dtype=np.float32).reshape(shape),
    )


def restricted(judged: Judged, tools: Rows) -> Judged:
    """A library of these tools only, with all the requests."""
    part = Judged(
        name=judged.name,
        ids=tuple(judged.ids[t] for t in tools),
        requests=judged.requests,
        tools=judged.tools[tools],
        gold=judged.gold[:, tools],
        words=judged.words,
    )
    part.__dict__["bm25"] = judged.bm25[:, tools]
    return part
