"""Word search on PostgreSQL: its own full-text search finds the tools; BM25 as SQLite computes it
ranks them, because the confidence was fitted to its scores.
"""

from collections.abc import Collection, Sequence

import sqlalchemy as sa

_OF_WORDS = """SELECT word, (SELECT count(*) FROM (
        SELECT 1 FROM tool_words WHERE lexemes @@ plainto_tsquery('english', word) LIMIT :most) AS found)
    FROM unnest(CAST(:words AS text[])) WITH ORDINALITY AS given (word, place) ORDER BY place"""  # noqa: E501
_BM25 = """WITH whole AS (SELECT count(*) AS tools, avg(length) AS length FROM tool_words),
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
_QUERY = """SELECT coalesce(string_agg(quote_literal(lexeme), ' | '), '')
    FROM unnest(to_tsvector('english', :words))"""


def counts(connection: sa.Connection, words: Sequence[str], most: int) -> Sequence[int]:
    """How many tools contain each of the words, counted up to `most`."""
    found = connection.execute(sa.text(_OF_WORDS), {"words": list(words), "most": most})
    return [row[1] for row in found]


def bm25(
    connection: sa.Connection, words: str, most: int, names: Collection[str] | None = None
) -> dict[str, float]:
    """Positive scores by name of at most `most` tools that contain any of the words, the best
    first: of these tools, or of all.
    """
    query = connection.scalar(sa.text(_QUERY), {"words": words})
    if not query:
        return {}
    chosen = "" if names is None else "AND name = ANY(CAST(:names AS text[]))"
    given = {"words": words, "query": query, "most": most}
    given |= {} if names is None else {"names": list(names)}
    found = connection.execute(sa.text(_BM25.format(chosen=chosen)), given)
    return {row.name: row.score for row in found}
