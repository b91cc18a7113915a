"""The search terms of tools: their words, and the requests that they have served."""

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.provenance import Provenance, Repaired
from selfeng.library import lexical
from selfeng.library.vectors import MOST_USED
from selfeng.store.database import reading
from selfeng.store.schema import tool_words
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REPAIRED, REVERSE, SHOUT


def _by_words(place: Place, request: str) -> list[str]:
    with reading(place.engine) as connection:
        return lexical.best(connection, lexical.words_of(connection, request, {}), 30)


@pytest.fixture
async def three(library: CapabilityRegistry) -> CapabilityRegistry:
    for each in (REVERSE, SHOUT, COUNT):
        await library.add(each)
    return library


async def test_the_words_of_a_tool_come_and_go_with_it(
    place: Place, three: CapabilityRegistry
) -> None:
    assert _by_words(place, "spelled BACKWARDS?") == ["reverse_text"]
    assert _by_words(place, "letters") == ["count_letters"]
    await three.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    assert (_by_words(place, "backwards"), _by_words(place, "anna")) == ([], ["reverse_text"])
    await three.remove("reverse_text")
    assert _by_words(place, "anna") == []


async def test_whatever_is_asked_is_words_and_nothing_else(
    place: Place, three: CapabilityRegistry
) -> None:
    for request in (
        "",
        '" OR *',
        "NEAR(q z)",
        "name:q -y ^z",
        "q\x00z \ud800",
        "()" * 2000,
        "x " * 100_000,
    ):
        assert _by_words(place, request) == [], request


async def test_a_score_is_that_of_sqlite_for_the_tools_asked_for(
    place: Place, three: CapabilityRegistry
) -> None:
    with reading(place.engine) as connection:
        words = lexical.words_of(connection, "reverse banana", {})
        scores = lexical.scores(connection, words, ["reverse_text", "shout_text"])
        rows = connection.execute(sa.select(tool_words.c.name, tool_words.c.words)).all()
    with closing(sqlite3.connect(":memory:")) as sqlite:
        sqlite.execute(
            "CREATE VIRTUAL TABLE t USING fts5(name UNINDEXED, words, tokenize='porter')"
        )
        sqlite.executemany("INSERT INTO t VALUES (?, ?)", map(tuple, rows))
        query = "SELECT name, -bm25(t) FROM t WHERE t MATCH 'reverse OR banana'"
        expected = dict(sqlite.execute(query).fetchall())
    assert scores == {"reverse_text": pytest.approx(expected["reverse_text"])}


async def test_words_survive_a_vacuum(place: Place, three: CapabilityRegistry) -> None:
    await three.remove("shout_text")
    with place.engine.connect() as connection:
        if place.engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT")
        connection.connection.cursor().execute("VACUUM")
    assert (_by_words(place, "backwards"), _by_words(place, "letters")) == (
        ["reverse_text"],
        ["count_letters"],
    )


async def test_a_tool_is_found_by_what_it_has_served(
    place: Place, three: CapabilityRegistry
) -> None:
    before = {c.tool.name: c.similarity for c in await three.search("anna palindrome mirrored")}
    await three.record_request("reverse_text", 1, "Anna palindrome  mirrored")
    await three.record_request("reverse_text", 1, "anna palindrome mirrored")
    await three.record_request(
        "reverse_text", 1, "spell  HELLO backwards"
    )  # as it was written with
    await three.record_request("reverse_text", 2, "of another version")
    await three.record_request("nobody", 1, "of no tool")
    after = {c.tool.name: c.similarity for c in await three.search("anna palindrome mirrored")}
    assert (await three.used_requests(["reverse_text"]))["reverse_text"] == (
        "Anna palindrome  mirrored",
    )
    assert _by_words(place, "palindrome") == ["reverse_text"]
    assert after["reverse_text"] > before["reverse_text"] + 0.1
    await three.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    assert _by_words(place, "palindrome") == ["reverse_text"]
    assert await three.forget_request("reverse_text", "Anna palindrome  mirrored")
    assert not await three.forget_request("reverse_text", "Anna palindrome  mirrored")
    assert (
        _by_words(place, "palindrome"),
        (await three.used_requests(["reverse_text"]))["reverse_text"],
    ) == ([], ())


async def test_a_tool_is_found_by_the_requests_that_it_was_added_with(
    place: Place, three: CapabilityRegistry
) -> None:
    words = "anna palindrome mirrored"
    await three.remove("reverse_text")
    await three.prepare(REVERSE, (words,))
    assert (await three.count(), _by_words(place, "palindrome")) == (2, [])
    await three.add(REVERSE, requests=(words, words.title(), *REVERSE.example_requests))
    assert (await three.used_requests(["reverse_text"]))["reverse_text"] == (words,)
    assert _by_words(place, "palindrome") == ["reverse_text"]
    found = (await three.search(words))[0]
    await three.forget_request("reverse_text", words)
    assert found.tool.example_requests == REVERSE.example_requests
    assert found.similarity > (await three.search(words))[0].similarity + 0.1


async def test_a_new_tool_of_the_name_is_not_found_by_what_the_deleted_one_served(
    place: Place, three: CapabilityRegistry
) -> None:
    request = "anna palindrome mirrored"
    before = [c.similarity for c in await three.search(request) if c.tool.name == "reverse_text"]
    await three.record_request("reverse_text", 1, request)
    for file in ("reverse_text.py", "test_reverse_text.py"):
        (place.tools_dir / file).unlink()
    await three.add(REVERSE)
    assert (await three.used_requests(["reverse_text"]))["reverse_text"] == ()
    assert [
        c.similarity for c in await three.search(request) if c.tool.name == "reverse_text"
    ] == before


async def test_the_newest_requests_are_kept(three: CapabilityRegistry) -> None:
    asked = [f"request number {n}" for n in range(MOST_USED + 2)]
    for request in asked:
        await three.record_request("reverse_text", 1, request)
    assert (await three.used_requests(["reverse_text"]))["reverse_text"] == tuple(reversed(asked))[
        :MOST_USED
    ]
