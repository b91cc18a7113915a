"""Word search with BM25: SQLite's full-text index, updated by triggers in the transaction that
changes a tool; on PostgreSQL its own full-text search finds the tools, and BM25 as SQLite computes
it ranks them, because the confidence was fitted to its scores.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import sqlalchemy as sa

from selfeng.core.tool import ToolDraft
from selfeng.library.fusion import parameter_words, split_words
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

_PG_COUNTS = """SELECT word, (SELECT count(*) FROM (
        SELECT 1 FROM tool_words WHERE lexemes @@ plainto_tsquery('english', word) LIMIT :most) AS found)
    FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS given (word, place) ORDER BY place"""  # noqa: E501
_PG_SCORES = """WITH whole AS (SELECT count(*) AS tools, avg(length) AS length FROM tool_words),
    terms AS (SELECT lexeme, ln((tools - known + 0.5) / (known + 0.5)) AS rarity FROM (
        SELECT lexeme, (SELECT count(*) FROM tool_words
            WHERE lexemes @@ CAST(quote_literal(lexeme) AS tsquery)) AS known
        FROM unnest(to_tsvector('english', :words))) AS counted, whole)
    SELECT name, CAST(sum(greatest(rarity, 1e-6) * times * 2.2
        / (times + 1.2 * (0.25 + 0.75 * found.length / whole.length))) AS float) AS score
    FROM whole, (
        SELECT name, length, lexeme, cardinality(positions) AS times
        FROM tool_words, unnest(lexemes)
        WHERE lexemes @@ CAST(:query AS tsquery) {chosen}) AS found JOIN terms USING (lexeme)
    GROUP BY name ORDER BY score DESC, name LIMIT :most"""
_PG_QUERY = """SELECT coalesce(string_agg(quote_literal(lexeme), ' | '), '')
    FROM unnest(to_tsvector('english', :words))"""


class Words(NamedTuple):
    """The words to search for, as FTS5 expressions, on PostgreSQL as they are; "" matches
    nothing.
    """

    listed: str
    scored: str


def text(draft: ToolDraft, used: Sequence[str]) -> str:
    """The words of a tool that has served the `used` requests, without punctuation: PostgreSQL
    takes `km/h` for a file.
    """
    texts = (draft.description, parameter_words(draft), *draft.example_requests, *used)
    return re.sub(r"[!-/:-@[-`{-~]+", " ", "\n".join([split_words(draft.name), *texts]))


def write(connection: sa.Connection, draft: ToolDraft, used: Sequence[str]) -> None:
    words = text(draft, used)
    updated = connection.execute(
        tool_words.update().where(tool_words.c.name == draft.name).values(words=words)
    )
    if not updated.rowcount:
        connection.execute(tool_words.insert().values(name=draft.name, words=words))


def words_of(connection: sa.Connection, request: str, counts: dict[str, int]) -> Words:
    """The rarest words of a request, limited so that searching them takes a few milliseconds.
    `counts` keeps the number of tools that contain a word, of words that some do.
    """
    split = list(dict.fromkeys(split_words(request).casefold().split()))[:_MOST_WORDS]
    new = [word for word in split if word not in counts]
    counts.update((word, n) for word, n in zip(new, _tools_with(connection, new), strict=True) if n)
    rare = sorted((counts[word], word) for word in split if counts.get(word, _COMMON) < _COMMON)
    listed, scored = _within(rare, _LISTED), _within(rare, _SCORED)
    if _is_postgres(connection):
        return Words(" ".join(listed), " ".join(scored))
    return Words(" OR ".join(map(_quoted, listed)), " OR ".join(map(_quoted, scored)))


def best(connection: sa.Connection, words: Words, count: int) -> list[str]:
    """Names of the tools that contain any of the words, by BM25, the best first."""
    if not words.listed:
        return []
    if _is_postgres(connection):
        return list(_pg_scores(connection, words.listed, count))
    return list(connection.exec_driver_sql(_BEST, (words.listed, count)).scalars())


def scores(connection: sa.Connection, words: Words, names: Collection[str]) -> Mapping[str, float]:
    """Positive BM25 scores by name, without tools that contain none of the words."""
    if not words.scored or not names:
        return {}
    if _is_postgres(connection):
        return _pg_scores(connection, words.scored, len(names), names)
    return {
        row.name: row.score
        for row in connection.exec_driver_sql(_SCORES, (words.scored, json.dumps(list(names))))
    }


def _tools_with(connection: sa.Connection, words: Sequence[str]) -> Sequence[int]:
    """How many tools contain each of the words, counted up to `_COMMON`."""
    if not words:
        return ()
    if _is_postgres(connection):
        return _pg_counts(connection, words, _COMMON)
    return tuple(
        connection.exec_driver_sql(
            f"SELECT {', '.join([_COUNT] * len(words))}", tuple(map(_quoted, words))
        ).one()
    )


def _within(rare: Sequence[tuple[int, str]], places: int) -> Iterator[str]:
    """The first words that together have at most `places` index entries."""
    for count, word in rare:
        places -= count
        if places < 0:
            break
        yield word


def _quoted(word: str) -> str:
    """The word as FTS5 takes it for nothing else; it holds only letters and digits."""
    return f'"{word}"'


def _is_postgres(connection: sa.Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _pg_counts(connection: sa.Connection, words: Sequence[str], most: int) -> Sequence[int]:
    """How many tools contain each of the words, counted up to `most`."""
    rows = connection.execute(sa.text(_PG_COUNTS), {"words": list(words), "most": most})
    return [row[1] for row in rows]


def _pg_scores(
    connection: sa.Connection, words: str, most: int, names: Collection[str] | None = None
) -> dict[str, float]:
    """Positive scores by name of at most `most` tools that contain any of the words, the best
    first: of these tools, or of all.
    """
    if not (query := connection.scalar(sa.text(_PG_QUERY), {"words": words})):
        return {}
    name_condition = "" if names is None else "AND name = ANY(CAST(:names AS text[]))"
    parameters = {"words": words, "query": query, "most": most}
    parameters |= {} if names is None else {"names": list(names)}
    rows = connection.execute(sa.text(_PG_SCORES.format(chosen=name_condition)), parameters)
    return {row.name: row.score for row in rows}
