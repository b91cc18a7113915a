from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library import records, revisions
from selfeng.library.fusion import Vector, fuse, split_words
from selfeng.library.index import Found, SearchIndex
from selfeng.library.records import Embedding
from selfeng.library.searching import Search
from selfeng.library.tool_files import Sources
from selfeng.models.embedding.minilm import MiniLM
from selfeng.models.embedding.model_files import FOLDER
from selfeng.seeds import load_seeds
from selfeng.store.database import writing
from tests.embedding.hashing import HashingEmbedder
from tests.embedding.prepared import DATA_DIR, prepared_minilm
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT, draft

REQUESTS = {
    "What is 15 percent of 300?": "calculate_percentage",
    "how much is a 20% tip on 85 dollars": "calculate_percentage",
    "my rent went from 900 to 990, by how much did it go up in percent?": "percentage_change",
    "how far is 26.2 miles in kilometers": "convert_length",
    "what's 180 cm in feet": "convert_length",
    "number of days from 2024-02-01 until 2024-03-01": "days_between",
    "give me mean and median of 3, 9, 4": "summarize_numbers",
    "average of the price column in this csv": "summarize_csv_column",
    "pretty print this json": "format_json",
    "how many words does this sentence have": "count_words",
    "can 97 be divided by anything but 1 and itself?": "is_prime",
    "factorize 360": "prime_factors",
    "write 1994 in roman numerals": "number_to_roman",
    "what will 1000 at 5% a year grow to in ten years": "compound_interest",
    "make a url slug from 'Hello, World!'": "slugify_text",
    "put these names in alphabetical order": "sort_list",
}
"""Other words than the seeds' own example requests."""


async def test_an_empty_library_finds_nothing(library: CapabilityRegistry) -> None:
    assert await library.search("anything") == ()


async def test_the_best_come_first_and_no_more_than_asked_for(library: CapabilityRegistry) -> None:
    for each in (REVERSE, SHOUT, COUNT):
        await library.add(each)
    found = await library.search("reverse the word banana")
    assert found[0].tool.name == "reverse_text"
    assert [c.similarity for c in found] == sorted((c.similarity for c in found), reverse=True)
    assert found[0].confidence > 0.75 > max(c.confidence for c in found[1:])
    assert await library.search("reverse the word banana", limit=1) == found[:1]


def _put(
    place: Place,
    vectors: dict[str, Vector],
    descriptions: dict[str, str],
    retired: Collection[str],
    edited: Collection[str] = (),
) -> None:
    """Put tools into the library as they are, with their files."""
    place.tools_dir.mkdir()
    with writing(place.engine) as connection:
        for name, vector in vectors.items():
            described = draft(name, descriptions.get(name, ""))
            digest = Sources(code=described.code, tests=described.tests).digest
            standing = "retired" if name in retired else "provisional"
            made = Tool(
                **dict(described), created_at=datetime.now(UTC), digest=digest, standing=standing
            )
            records.insert(connection, made, "active", Embedding(HashingEmbedder().id, vector))
            (place.tools_dir / f"{name}.py").write_text(
                made.code + "# by hand\n" * (name in edited)
            )
            (place.tools_dir / f"test_{name}.py").write_text(made.tests)


async def test_retired_tools_take_no_places_among_those_found_by_words(place: Place) -> None:
    request, embedder, apart = "frobnicate", HashingEmbedder(), np.zeros(64, dtype=np.float32)
    retired = {f"old_{n}": f"{request}s" for n in range(31)}
    nearer = {f"near_{n}": embedder.embed([request])[0] for n in range(31)}
    descriptions = {**retired, "worded": f"What {request}s all sorts of texts."}
    _put(place, {**dict.fromkeys(descriptions, apart), **nearer}, descriptions, set(retired))
    async with place.open(embedder) as library:
        found = {c.tool.name for c in await library.search(request, limit=100)}
    assert ("worded" in found, found & retired.keys()) == (True, set())


@pytest.mark.parametrize("why", ["retired", "edited"])
async def test_tools_that_are_not_offered_take_no_places_among_those_found_by_meaning(
    place: Place, why: str
) -> None:
    request, embedder = "frobnicate", HashingEmbedder()
    nearer = {f"old_{n}": embedder.embed([request])[0] for n in range(31)}
    gone = {"retired": set[str](), "edited": set[str](), why: set(nearer)}
    _put(place, {**nearer, "apart": embedder.embed(["apart"])[0]}, {}, **gone)
    async with place.open(embedder) as library:
        assert [c.tool.name for c in await library.search(request)] == ["apart"]
        assert await library.settle() == "ready"
        assert [c.tool.name for c in await library.search(request)] == ["apart"]


class Late(SearchIndex):
    """An index that holds the library as it was long ago."""

    def nearest(self, vector: Vector, count: int) -> Found:
        return Found([], 0)


@pytest.mark.parametrize(
    ("changes", "reads"),
    [(1, 0), (200, 0), (201, 1)],
    ids=["behind", "just not too far behind", "too far behind"],
)
async def test_while_the_index_is_behind_what_has_changed_is_looked_at_or_all_vectors_are_read_once(
    place: Place, library: CapabilityRegistry, changes: int, reads: int
) -> None:
    await library.add(REVERSE)
    with writing(place.engine) as connection:
        for number in range(changes - 1):
            revisions.note(connection, f"removed_{number}")
    late = Late(place.root / "late", place.engine, library._space.embedder.id)
    search = Search(place.engine, library._watcher, late, library._reembedding, library._space)
    read: list[str] = []

    @sa.event.listens_for(place.engine, "before_cursor_execute")
    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        read.extend(
            [statement]
            if "tool_vectors" in statement and "ORDER BY tools.name" in statement
            else []
        )

    for _ in range(2):
        assert [c.tool.name for c in await search.find("nothing like it", 8)] == ["reverse_text"]
    assert len(read) == reads


async def test_without_its_model_a_tool_is_found_by_its_words_and_gets_its_vector_later(
    place: Place, tmp_path: Path
) -> None:
    model = Linked(tmp_path / "model")
    async with place.open(model) as library:
        for tool in (REVERSE, SHOUT):
            await library.add(tool)
        by_words = await library.search("Reverse the text")
        model.link()
        await library.embed()
        by_meaning = await library.search("Reverse the text")
    assert (
        [c.tool.name for c in by_words]
        == [c.tool.name for c in by_meaning]
        == ["reverse_text", "shout_text"]
    )
    assert by_words[0].similarity == 0.0
    assert by_meaning[0].similarity > 0.5


async def test_where_the_model_is_lost_tools_are_found_by_words(
    place: Place, tmp_path: Path
) -> None:
    async with place.open(prepared_minilm()) as library:
        await library.add(REVERSE)
    async with place.open(MiniLM(tmp_path / "nowhere")) as library:
        assert [c.tool.name for c in await library.search("reverse it")] == ["reverse_text"]
        assert await library.search("nothing alike") == ()


class Linked(MiniLM):
    """A model that is not there before `link`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.link = lambda: folder.symlink_to(DATA_DIR / FOLDER)


async def test_seed_tools_are_found_by_what_people_say(place: Place) -> None:
    async with place.open(prepared_minilm()) as library:
        seeds = load_seeds()
        for seed in seeds:
            await library.add(seed)
        assert await library.settle() == "ready"
        missed = {}
        for request, tool in REQUESTS.items():
            names = [c.tool.name for c in await library.search(request, limit=3)]
            if tool not in names:
                missed[request] = names
        assert missed == {}
        fitting = [c.tool.name for c in await library.matches("percent", 20)]
        assert "calculate_percentage" in fitting
        assert len(fitting) < len(await library.search("percent", 20))
        await _assert_reference_conversation(library)


async def _assert_reference_conversation(library: CapabilityRegistry) -> None:
    percentage = (await library.search("What is 15 percent of 300?"))[0]
    assert (percentage.tool.name, percentage.confidence > 0.75) == ("calculate_percentage", True)
    assert (await library.search("Reverse the string 'hello world'"))[0].confidence < 0.75
    await library.add(
        ToolDraft(
            **{
                **dict(REVERSE),
                "name": "reverse_string",
                "description": "Reverse the characters of a string.",
            }
        )
    )
    reverse = (await library.search("Reverse 'Python'"))[0]
    assert (reverse.tool.name, reverse.confidence > 0.75) == ("reverse_string", True)


def test_examples_count_more_than_the_description() -> None:
    description, example = np.eye(2, dtype=np.float32)
    fused = fuse(description, np.stack([example, example]))
    np.testing.assert_allclose(fused, np.array([0.3, 0.7]) / np.hypot(0.3, 0.7), rtol=1e-6)
    np.testing.assert_array_equal(
        fuse(description, np.empty((0, 2), dtype=np.float32)), description
    )


def test_names_are_split_into_words() -> None:
    assert [split_words(n) for n in ("reverse_string", "PDFTool", "to_base64")] == [
        "reverse string",
        "PDF Tool",
        "to base64",
    ]
