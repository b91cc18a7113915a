"""BM25 of many requests and tools at once, as SQLite's full-text index gives it for one request.

SQLite cuts the words (`porter unicode61`); the sums are made here, since libraries of every size are drawn from the same tools.
"""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing

import numpy as np
import numpy.typing as npt

from selfeng.registry.fusion import split_words
from selfeng.registry.request_map import Matrix

Rows = npt.NDArray[np.intp]
_SATURATION, _LENGTH = 1.2, 0.75
"""SQLite's k1 and b."""


class Bm25:
    """The words of a set's requests and documents, cut once."""

    def __init__(self, documents: Sequence[str], requests: Sequence[str]) -> None:
        self._documents, self._requests = _words(documents), _words([split_words(r) for r in requests])
        self._lengths = np.array([max(1, words.total()) for words in self._documents], dtype=np.float32)
        self._asking: Mapping[str, Rows] = _places(self._requests)
        containing = _places(self._documents)
        self._containing = {
            word: (places, np.array([self._documents[p][word] for p in places], dtype=np.float32))
            for word, places in containing.items()
            if word in self._asking
        }

    def scores(self, requests: Rows, tools: Rows) -> Matrix:
        """Shape (requests, tools) for a library of just these tools; 0 where no word matches. Neither may name one twice."""
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
                scores[np.ix_(asking, columns)] += weight * often * (_SATURATION + 1) / (often + spread[columns])
        return scores

    def without_request(self, tools: Rows) -> Matrix:
        """Shape (requests): the score of each request's tool, one of `tools`, if it did not hold the request's own words."""
        mean, size = self._lengths.mean(), len(self._documents)
        scores = np.zeros(len(tools), dtype=np.float32)
        for number, (request, tool) in enumerate(zip(self._requests, tools, strict=True)):
            length = self._lengths[tool] - request.total()
            spread = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
            left = self._documents[tool] - request
            for word in request.keys() & left.keys():
                scores[number] += _weight(len(self._containing[word][0]), size) * left[word] * (_SATURATION + 1) / (left[word] + spread)
        return scores


def _words(texts: Sequence[str]) -> list[Counter[str]]:
    words: list[Counter[str]] = [Counter() for _ in texts]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(words, tokenize='porter unicode61')")
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
    """Of a word; next to nothing, as SQLite has it, if half of the tools contain it."""
    return float(max(0.0, np.log((tools - containing + 0.5) / (containing + 0.5))))
