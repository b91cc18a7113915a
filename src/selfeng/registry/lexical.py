"""Finding tools by their words: SQLite's full-text index with its BM25, kept by triggers in the
transaction that changes a tool.

Other databases have no such index here; there no tool is found by its words.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.tool import ToolDraft
from selfeng.registry.fusion import parameter_words, split_words
from selfeng.store.schema import WORD_INDEX, tool_words

_MOST_WORDS = 64
"""Of a request; what a person pastes may hold any number. With 32, requests of several sentences
lose 5 points of recall.
"""
_COMMON = 4_000
"""Words that so many tools contain are left out: they cost time and hardly tell one tool from
another.
"""
_LISTED, _SCORED = 1_000, 6_000
"""Places in the index that are looked at to list the best tools, and to score given ones; either
takes up to two milliseconds.
"""


_BEST = f"""SELECT w.name FROM (SELECT rowid AS id FROM {WORD_INDEX} WHERE {WORD_INDEX} MATCH ? ORDER BY rank LIMIT ?) AS b
    JOIN tool_words AS w USING (id)"""  # noqa: E501, S608
_SCORES = (  # the + keeps FTS5 from searching once for each tool
    f"""SELECT w.name, f.score FROM tool_words AS w JOIN (
        SELECT rowid AS id, -bm25({WORD_INDEX}) AS score FROM {WORD_INDEX} WHERE {WORD_INDEX} MATCH ?
        AND +rowid IN (SELECT id FROM tool_words WHERE name IN (SELECT value FROM json_each(?)))) AS f USING (id)"""  # noqa: E501, S608
)
_COUNT = (
    f"(SELECT count(*) FROM (SELECT 1 FROM {WORD_INDEX} WHERE {WORD_INDEX} MATCH ? LIMIT "  # noqa: S608
    f"{_COMMON}))"
)


class Words(NamedTuple):
    """What is searched for, as expressions of FTS5; "" matches nothing."""

    listed: str
    scored: str


def text(draft: ToolDraft, used: Sequence[str]) -> str:
    """The words of a tool that has served the `used` requests."""
    return "\n".join(
        [
            split_words(draft.name),
            draft.description,
            parameter_words(draft),
            *draft.example_requests,
            *used,
        ]
    )


def write(connection: sa.Connection, draft: ToolDraft, used: Sequence[str]) -> None:
    words = text(draft, used)
    updated = connection.execute(
        tool_words.update().where(tool_words.c.name == draft.name).values(words=words)
    )
    if not updated.rowcount:
        connection.execute(tool_words.insert().values(name=draft.name, words=words))


def words_of(connection: sa.Connection, request: str) -> Words:
    """The rarest words of a request, as many as the index can be searched for in a few
    milliseconds.
    """
    if connection.dialect.name != "sqlite":
        return Words("", "")
    split = list(dict.fromkeys(split_words(request).casefold().split()))[:_MOST_WORDS]
    counts = _tools_with(connection, split)
    rare = sorted(
        (count, word) for count, word in zip(counts, split, strict=True) if 0 < count < _COMMON
    )
    return Words(_any_of(rare, _LISTED), _any_of(rare, _SCORED))


def best(connection: sa.Connection, words: Words, count: int) -> list[str]:
    """Names of the tools that contain any of the words, by BM25, the best first."""
    if not words.listed:
        return []
    return list(connection.exec_driver_sql(_BEST, (words.listed, count)).scalars())


def scores(connection: sa.Connection, words: Words, names: Collection[str]) -> Mapping[str, float]:
    """BM25 by name, above 0; tools that contain none of the words are left out."""
    if not words.scored or not names:
        return {}
    found = connection.exec_driver_sql(_SCORES, (words.scored, json.dumps(list(names))))
    return {row.name: row.score for row in found}


def _tools_with(connection: sa.Connection, words: Sequence[str]) -> Sequence[int]:
    """How many tools contain each of the words, counted up to `_COMMON`."""
    if not words:
        return ()
    return tuple(
        connection.exec_driver_sql(
            f"SELECT {', '.join([_COUNT] * len(words))}", tuple(map(_quoted, words))
        ).one()
    )


def _any_of(rare: Sequence[tuple[int, str]], places: int) -> str:
    """The first words, as many as have so many places in the index."""
    chosen: list[str] = []
    for count, word in rare:
        places -= count
        if places < 0:
            break
        chosen.append(_quoted(word))
    return " OR ".join(chosen)


def _quoted(word: str) -> str:
    """A word that FTS5 takes for nothing else; it holds letters and digits only."""
    return f'"{word}"'
