"""A change of embedder: searches go on, what is interrupted goes on, and in the end only the new
vectors are left.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
import numpy.typing as npt
import pytest
import sqlalchemy as sa

from selfeng import capability_registry
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.protocols import Embedder
from selfeng.library.reembedding import Embedded
from selfeng.store.database import reading
from selfeng.store.schema import tool_vectors
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT

OLD = HashingEmbedder()
TOOLS = [REVERSE.name, SHOUT.name]


class Slow(HashingEmbedder):
    """Another embedder, which waits before it embeds a text that holds certain words, and fails
    after so many calls.
    """

    def __init__(self, waits_for: str = "", *, calls: int = 100) -> None:
        super().__init__("slow:32", 32)
        self._waits_for, self.calls = waits_for, calls
        self.go = threading.Event()
        self.embedded: list[str] = []
        """The first text of each call."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self._waits_for in " ".join(texts):
            assert self.go.wait(10)
        if len(self.embedded) == self.calls:
            raise EmbedderUnavailable("the server is gone", "start it")
        self.embedded.append(texts[0])
        return super().embed(texts)


@pytest.fixture
async def shelved(place: Place) -> Place:
    """A library of two tools with vectors of the old embedder."""
    async with place.open(OLD) as library:
        for draft in (REVERSE, SHOUT):
            await library.add(draft)
    return place


@asynccontextmanager
async def changed(
    place: Place, embedder: Slow, *former: Embedder
) -> AsyncIterator[CapabilityRegistry]:
    """The library with another embedder; what that has to wait for is let go at the end."""
    made = {one.id: one for one in former}
    library = CapabilityRegistry(
        place.engine, place.tools_dir, place.chroma_dir, embedder, former=made.get
    )
    await library.start()
    try:
        yield library
    finally:
        embedder.go.set()
        await library.aclose()


def vectors(place: Place) -> list[tuple[str, str]]:
    columns = tool_vectors.c.embedder, tool_vectors.c.name
    with reading(place.engine) as connection:
        return [tuple(row) for row in connection.execute(sa.select(*columns).order_by(*columns))]


async def found(library: CapabilityRegistry, request: str) -> str:
    return (await library.search(request))[0].tool.name


async def test_searches_go_by_the_old_vectors_until_all_tools_have_new_ones(shelved: Place) -> None:
    new = Slow()
    async with changed(shelved, new, OLD) as library:
        assert (library.embedded, str(library.embedded)) == (
            Embedded(0, 2, "slow:32"),
            "0 of 2 tools embedded for slow:32",
        )
        assert [await found(library, "reverse a text"), new.embedded] == ["reverse_text", []]
        new.go.set()
        await library._background.aflush_tasks()
        assert (library.embedded, vectors(shelved)) == (None, [("slow:32", name) for name in TOOLS])
        assert [await found(library, "reverse a text"), new.embedded[-1]] == [
            "reverse_text",
            "reverse a text",
        ]


async def test_what_is_added_or_served_meanwhile_is_found_at_once_and_afterwards(
    shelved: Place,
) -> None:
    new = Slow(waits_for=REVERSE.description)
    wanted = {"how many letters has anna": COUNT.name, "louder please": SHOUT.name}
    async with changed(shelved, new, OLD) as library:
        await library.add(COUNT)
        await library.record_request(SHOUT.name, 1, "louder please")
        assert {request: await found(library, request) for request in wanted} == wanted
        assert "louder please" not in new.embedded
        new.go.set()
        await library._background.aflush_tasks()
        assert {request: await found(library, request) for request in wanted} == wanted
        assert vectors(shelved) == [("slow:32", name) for name in (COUNT.name, *TOOLS)]


async def test_an_embedder_that_hangs_holds_up_only_what_waits_for_it(shelved: Place) -> None:
    async with changed(shelved, Slow()) as library:
        library._reembedding.patience = 0
        searches = [asyncio.create_task(library.search(f"request {n}")) for n in range(40)]
        try:
            async with asyncio.timeout(10):
                assert [tool.name for tool in await library.tools()] == TOOLS
        finally:
            for search in searches:
                search.cancel()


async def test_what_is_added_while_the_server_is_gone_gets_its_vector_when_it_is_back(
    shelved: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capability_registry, "_FIRST_PAUSE", 0.01)
    gone = Slow(waits_for="nothing", calls=2)
    async with changed(shelved, gone, OLD) as library:
        await library._background.aflush_tasks()
        await library.add(COUNT)
        assert vectors(shelved) == [("slow:32", name) for name in TOOLS]
        gone.calls = 100
        assert library._later
        await library._later
        assert vectors(shelved) == [("slow:32", name) for name in (COUNT.name, *TOOLS)]


async def test_what_is_interrupted_goes_on_at_the_next_start(
    shelved: Place, caplog: pytest.LogCaptureFixture
) -> None:
    failing, working = Slow(waits_for="nothing", calls=1), Slow(waits_for="nothing")
    async with changed(shelved, failing, OLD) as library:
        await library._background.aflush_tasks()
        assert await found(library, "reverse a text") == "reverse_text"
        assert [embedder for embedder, _ in vectors(shelved)] == [OLD.id] * 2 + ["slow:32"]
    assert "not all tools have vectors of slow:32 yet: the server is gone; start it" in caplog.text
    async with changed(shelved, working, OLD) as library:
        await library._background.aflush_tasks()
        assert vectors(shelved) == [("slow:32", name) for name in TOOLS]
    assert len(working.embedded) == 1


async def test_a_search_waits_a_moment_for_vectors_if_there_are_no_others(shelved: Place) -> None:
    async with changed(shelved, Slow(waits_for="nothing")) as library:
        assert [await found(library, "reverse a text"), library.embedded] == ["reverse_text", None]


async def test_where_the_old_embedder_can_not_be_made_words_find_what_has_no_vector_yet(
    shelved: Place,
) -> None:
    async with changed(shelved, Slow(waits_for=REVERSE.description)) as library:
        library._reembedding.patience = 0
        assert "reverse_text" in [c.tool.name for c in await library.search("backwards")]
