"""Word search: SQLite's full-text index with BM25, updated by triggers in the transaction that
changes a tool.

There is no such index for other databases: with them no tool is found by its words.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.tool import ToolDraft
from selfeng.registry.fusion import parameter_words, split_words
from selfeng.store.schema import WORD_INDEX, tool_words

_MOST_WORDS = 64
"""Maximum number of words of a request, because pasted text may hold any number. With 32, requests
of several sentences lose 5 points of recall.
"""
_COMMON = 4_000
"""Words that this many tools contain are ignored: they cost time and hardly distinguish tools."""
_LISTED, _SCORED = 1_000, 6_000
"""Index entries read to list the best tools, and to score given ones; each takes up to two
milliseconds.
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
    """The words to search for, as FTS5 expressions; "" matches nothing."""

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
    """The rarest words of a request, limited so that searching them takes a few milliseconds."""
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
    """Positive BM25 scores by name, without tools that contain none of the words."""
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
    """The first words that together have at most `places` index entries, as an FTS5 expression."""
    chosen: list[str] = []
    for count, word in rare:
        places -= count
        if places < 0:
            break
        chosen.append(_quoted(word))
    return " OR ".join(chosen)


def _quoted(word: str) -> str:
    """The word quoted, so that FTS5 takes it for nothing else; it holds only letters and digits."""
    return f'"{word}"'
