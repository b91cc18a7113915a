"""The index is a copy: whatever happens to it, searches go on and it is made again."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from src.capability_registry import CapabilityRegistry
from src.registry.index import SearchIndex
from src.registry.shelf import EMPTY, Shelf
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT

SECONDS = 60.0
ROOT = Path(__file__).parents[2]


def _shelf(*names: str, seed: int = 1) -> Shelf:
    vectors = np.random.default_rng(seed).normal(size=(len(names), 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return replace(EMPTY, vectors=dict(zip(names, vectors, strict=True)))


SHELF = _shelf(*(f"tool_{i}" for i in range(30)))
QUERY = _shelf("query", seed=2).vectors["query"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "chroma_db"


@pytest.fixture
def opened(folder: Path) -> Iterator[Callable[[str], SearchIndex]]:
    opened: list[SearchIndex] = []

    def open_index(embedder: str = "hashing") -> SearchIndex:
        opened.append(SearchIndex(folder, embedder))
        opened[-1].start()
        return opened[-1]

    yield open_index
    for index in opened:
        index.close()


def _at(index: SearchIndex, shelf: Shelf) -> SearchIndex:
    index.follow(shelf)
    assert index.settle(shelf, SECONDS) == "ready"
    return index


Open = Callable[..., SearchIndex]


def test_the_index_finds_what_the_exact_search_finds(opened: Open) -> None:
    index = opened()
    assert index.nearest(SHELF, QUERY, 8) is None
    assert _at(index, SHELF).nearest(SHELF, QUERY, 8) == SHELF.nearest(QUERY, 8)
    assert index.nearest(SHELF, QUERY, 100) == SHELF.nearest(QUERY, 100)


def test_the_index_follows_the_shelf(opened: Open) -> None:
    index = _at(opened(), SHELF)
    other = _shelf("tool_1", "tool_2", "new", seed=3)  # fewer tools, other vectors
    assert index.nearest(other, QUERY, 8) is None
    assert _at(index, other).nearest(other, QUERY, 8) == other.nearest(QUERY, 8)
    _at(index, EMPTY)


def test_the_index_is_kept_for_the_next_process(opened: Open) -> None:
    _at(opened(), SHELF).close()
    assert _at(opened(), SHELF).nearest(SHELF, QUERY, 8) == SHELF.nearest(QUERY, 8)


def test_a_deleted_index_is_made_again_while_it_is_in_use(opened: Open, folder: Path) -> None:
    index = _at(opened(), SHELF)
    shutil.rmtree(folder)
    assert index.nearest(SHELF, QUERY, 8) is None
    assert index.settle(SHELF, SECONDS) == "ready"
    assert index.nearest(SHELF, QUERY, 8) == SHELF.nearest(QUERY, 8)
    assert (folder / "chroma.sqlite3").exists()


def _garbage(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"garbage" * 5000)


def _truncated(folder: Path) -> None:
    content = (folder / "chroma.sqlite3").read_bytes()
    (folder / "chroma.sqlite3").write_bytes(content[: len(content) // 2])


def _emptied(folder: Path) -> None:
    (folder / "chroma.sqlite3").write_bytes(b"")


def _without_database(folder: Path) -> None:
    (folder / "chroma.sqlite3").unlink()


def _scrambled(folder: Path) -> None:
    content = bytearray((folder / "chroma.sqlite3").read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 64] = b"\xa5" * 64
    (folder / "chroma.sqlite3").write_bytes(content)


@pytest.mark.parametrize("damage", [_garbage, _truncated, _emptied, _without_database, _scrambled])
def test_a_damaged_index_is_made_again(opened: Open, folder: Path, damage: Callable[[Path], None]) -> None:
    _at(opened(), SHELF).close()
    damage(folder)
    assert _at(opened(), SHELF).nearest(SHELF, QUERY, 8) == SHELF.nearest(QUERY, 8)


SIGNALLED = """
import os, signal, sys
from pathlib import Path
from src.registry.index import SearchIndex
from tests.registry.test_index import SHELF

signal.signal(signal.SIGTERM, lambda *_: None)
index = SearchIndex(Path(sys.argv[1]), "hashing")
index.start()
index.follow(SHELF)
while index._probe is None:
    os.sched_yield()
os.killpg(0, signal.SIGTERM)
print(index.settle(SHELF, 60))
index.close()
"""


def test_a_signal_to_everything_that_runs_says_nothing_of_the_index(opened: Open, folder: Path) -> None:
    _at(opened(), SHELF).close()
    command = [sys.executable, "-c", SIGNALLED, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True)
    assert (done.stdout, done.stderr) == ("ready\n", "")


def test_making_the_index_again_deletes_nothing_of_others(opened: Open, folder: Path) -> None:
    _at(opened(), SHELF).close()
    _garbage(folder)
    (folder / "thesis.txt").write_text("precious")
    (folder / "photos").mkdir()
    _at(opened(), SHELF)
    assert ((folder / "thesis.txt").read_text(), (folder / "photos").is_dir()) == ("precious", True)


def test_a_folder_that_can_not_be_used_is_no_error_of_a_search(opened: Open, folder: Path) -> None:
    folder.write_text("a file")
    index = opened()
    index.follow(SHELF)
    assert index.settle(SHELF, SECONDS) == "broken"
    assert index.nearest(SHELF, QUERY, 8) is None


def test_another_embedder_gets_an_index_of_its_own_size(opened: Open) -> None:
    _at(opened("small"), SHELF).close()
    vectors = {name: np.concatenate([v, v]) / np.float32(np.sqrt(2)) for name, v in SHELF.vectors.items()}
    larger = replace(EMPTY, vectors=vectors)
    query = np.concatenate([QUERY, QUERY])
    assert _at(opened("large"), larger).nearest(larger, query, 5) == SHELF.nearest(QUERY, 5)


def test_one_of_two_keeps_the_index_and_the_other_takes_over(opened: Open) -> None:
    first = _at(opened(), SHELF)
    second = opened()
    second.follow(SHELF)
    assert second.settle(SHELF, SECONDS) == "elsewhere"
    assert second.nearest(SHELF, QUERY, 8) is None
    first.close()
    assert _at(second, SHELF).nearest(SHELF, QUERY, 8) == SHELF.nearest(QUERY, 8)


def test_importing_the_registry_does_not_import_chroma() -> None:
    code = "import sys, src.capability_registry; sys.exit('chromadb' in sys.modules or 'onnxruntime' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


async def test_the_registry_searches_the_same_with_and_without_index(place: Place, library: CapabilityRegistry) -> None:
    for draft in (REVERSE, SHOUT, COUNT):
        await library.add(draft)
    assert await library.settle() == "ready"
    indexed = await library.search("reverse the word banana")
    async with place.open() as another:
        assert await another.settle() == "elsewhere"
        assert await another.search("reverse the word banana") == indexed
    shutil.rmtree(place.chroma_dir)
    assert await library.search("reverse the word banana") == indexed
    assert await library.settle() == "ready"
    assert await library.search("reverse the word banana") == indexed


async def test_a_change_of_embedder_gives_every_tool_a_new_vector(place: Place) -> None:
    async with place.open() as library:
        await library.add(REVERSE)
        await library.add(SHOUT)
    async with place.open(HashingEmbedder("hashing:128", 128)) as library:
        assert await library.settle() == "ready"
        assert [c.tool.name for c in await library.search("reverse the word banana")] == ["reverse_text", "shout_text"]
        await library.add(COUNT)
    async with place.open() as library:  # back again: only the tool that came since needs a vector
        assert await library.settle() == "ready"
        assert len(await library.search("reverse the word banana")) == 3
