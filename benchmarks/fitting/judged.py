"""Requests with known right tools, and the inputs of ranking for them: vectors and BM25.

BM25 follows SQLite's full-text index, which splits the words (`porter unicode61`); the sums for
many requests and tools are computed here, because libraries of every size are drawn from the same
tools.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.fitting.data import RetrievalSet
from selfeng.core.protocols import Embedder
from selfeng.core.tool import ToolDraft
from selfeng.library.confidence import Scale, scale_of
from selfeng.library.fusion import (
    described,
    distinct_requests,
    fuse,
    parameter_words,
    split_words,
    tool_vector,
)
from selfeng.library.lexical import text
from selfeng.library.ranking import Matrix, RequestMap

Bools = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
_SATURATION, _LENGTH = 1.2, 0.75
"""SQLite's k1 and b."""


class Bm25:
    """The words of a set's requests and documents, split once."""

    def __init__(self, documents: Sequence[str], requests: Sequence[str]) -> None:
        self._documents, self._requests = (
            _words(documents),
            _words([split_words(r) for r in requests]),
        )
        self._lengths = np.array(
            [max(1, words.total()) for words in self._documents], dtype=np.float32
        )
        self._asking: Mapping[str, Rows] = _places(self._requests)
        containing = _places(self._documents)
        self._containing = {
            word: (places, np.array([self._documents[p][word] for p in places], dtype=np.float32))
            for word, places in containing.items()
            if word in self._asking
        }

    def scores(self, requests: Rows, tools: Rows) -> Matrix:
        """Shape (requests, tools) for a library of just these tools; 0 where no word matches.
        Neither list may contain duplicates.
        """
        row, column = _inverse(requests, len(self._requests)), _inverse(tools, len(self._documents))
        lengths = self._lengths[tools]
        spread = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / lengths.mean())
        scores = np.zeros((len(requests), len(tools)), dtype=np.float32)
        for word, (places, counts) in self._containing.items():
            asking = row[self._asking[word]]
            asking = asking[asking >= 0]
            columns = column[places]
            present = columns >= 0
            columns, often = columns[present], counts[present]
            weight = _weight(len(columns), len(tools))
            if len(asking) and weight > 0:
                scores[np.ix_(asking, columns)] += (
                    weight * often * (_SATURATION + 1) / (often + spread[columns])
                )
        return scores

    def without_request(self, tools: Rows) -> Matrix:
        """Shape (requests): the score of each request's tool, one of `tools`, as if the tool did
        not contain the request's own words.
        """
        mean, size = self._lengths.mean(), len(self._documents)
        scores = np.zeros(len(tools), dtype=np.float32)
        for number, (request, tool) in enumerate(zip(self._requests, tools, strict=True)):
            length = self._lengths[tool] - request.total()
            spread = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
            left = self._documents[tool] - request
            for word in request.keys() & left.keys():
                scores[number] += (
                    _weight(len(self._containing[word][0]), size)
                    * left[word]
                    * (_SATURATION + 1)
                    / (left[word] + spread)
                )
        return scores


def _words(texts: Sequence[str]) -> list[Counter[str]]:
    words: list[Counter[str]] = [Counter() for _ in texts]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(words, tokenize='porter unicode61')"
        )
        database.execute("CREATE VIRTUAL TABLE cut USING fts5vocab('texts', 'instance')")
        database.executemany("INSERT INTO texts (rowid, words) VALUES (?, ?)", enumerate(texts))
        for word, text in database.execute("SELECT term, doc FROM cut"):
            words[text][word] += 1
    return words


def _places(texts: Sequence[Counter[str]]) -> dict[str, Rows]:
    places = defaultdict(list)
    for number, words in enumerate(texts):
        for word in words:
            places[word].append(number)
    return {word: np.array(numbers) for word, numbers in places.items()}


def _inverse(chosen: Rows, size: int) -> Rows:
    places = np.full(size, -1)
    places[chosen] = np.arange(len(chosen))
    return places


def _weight(containing: int, tools: int) -> float:
    """The weight of a word; almost zero, as in SQLite, if half of the tools contain it."""
    return float(max(0.0, np.log((tools - containing + 0.5) / (containing + 0.5))))


@dataclass(frozen=True)
class Judged:
    """m requests, n tools, d dimensions."""

    name: str
    ids: tuple[str, ...]
    """Ids of the tools."""
    requests: Matrix
    """(m, d)"""
    tools: Matrix
    """(n, d)"""
    gold: Bools
    """(m, n): whether the tool serves the request."""
    words: Bm25
    own: Matrix | None = None
    """(m, d), if each request has one tool and that tool is found by it: the tool's vector without
    this request.
    """

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
            scores[gold] = self.words.without_request(self.gold.argmax(axis=1))[rows][
                gold.any(axis=1)
            ]
        return scores

    def cosines(self, request_map: RequestMap | None = None) -> Matrix:
        """(m, n)"""
        requests = request_map(self.requests) if request_map else self.requests
        cosines = requests @ self.tools.T
        if self.own is not None:
            cosines[self.gold] = (requests * self.own).sum(axis=1)
        return np.asarray(cosines, dtype=np.float32)

    def scale(self, request_map: RequestMap | None = None) -> Scale:
        """The scale that these requests measure."""
        cosines = self.cosines(request_map)
        return scale_of(cosines[self.gold], cosines[~self.gold])


def judge(
    data: RetrievalSet, embedder: Embedder, progress: Callable[[], None] = lambda: None
) -> Judged:
    """Embed a data set as a library would; `progress` is called for each tool and request.
    Blocking. Raises what the embedder raises.
    """
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
        tools=np.stack(
            [
                after(
                    tool_vector(
                        embedder, t.name, t.description, t.example_requests, parameter_words(t)
                    )
                )
                for t in data.tools
            ]
        ),
        gold=gold,
        words=Bm25(
            [text(tool, ()) for tool in data.tools], [query.request for query in data.queries]
        ),
    )


def leave_one_out(
    tools: Sequence[tuple[ToolDraft, Sequence[str]]],
    embedder: Embedder,
    progress: Callable[[], None] = lambda: None,
) -> Judged:
    """Every request of the tools that are found by more than one, each judged as if the library did
    not know it.

    `tools` are paired with the requests that they have served; `progress` is called for each.
    Blocking. Raises what the embedder raises.
    """
    asked: list[str] = []
    gold: list[int] = []
    requests, own, fused = [], [], []
    for number, (tool, used) in enumerate(tools):
        known = distinct_requests([*tool.example_requests, *used])
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
