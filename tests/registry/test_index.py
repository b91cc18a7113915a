"""The index is a copy: whatever happens to it, searches go on and it is made again."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.tool import Standing
from selfeng.library import records, revisions
from selfeng.library.fusion import Vector
from selfeng.library.index import SearchIndex
from selfeng.library.records import Embedding
from selfeng.library.reembedding import ExactSearch
from selfeng.library.trust import Trust, TrustRule
from selfeng.store.database import open_database, reading, writing
from tests.databases import address
from tests.doubles import registered
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT, draft

SECONDS = 60.0
ROOT = Path(__file__).parents[2]


def _vectors(*names: str, seed: int = 1) -> dict[str, Vector]:
    vectors = np.random.default_rng(seed).normal(size=(len(names), 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return dict(zip(names, vectors, strict=True))


VECTORS = _vectors(*(f"tool_{i}" for i in range(30)))
QUERY = _vectors("query", seed=2)["query"]


class Indexed:
    """A database of vectors with its index."""

    def __init__(self, engine: sa.Engine, place: Path | str, embedder: str) -> None:
        self.engine, self.embedder = engine, embedder
        self.index = SearchIndex(place, engine, embedder)
        self.index.start()

    def put(self, vectors: dict[str, Vector]) -> None:
        with writing(self.engine) as connection:
            for name, vector in vectors.items():
                embedding = Embedding(self.embedder, vector)
                if records.state_of(connection, name):
                    records.insert_vector(connection, name, embedding)
                else:
                    records.insert(connection, registered(draft(name)), "active", embedding)

    def exact(self, count: int) -> list[str]:
        with reading(self.engine) as connection:
            return ExactSearch(self.embedder).nearest(connection, QUERY, count)

    def nearest(self, count: int = 8) -> list[str] | None:
        found = self.index.nearest(QUERY, count)
        return found and found.names

    def settle(self) -> str:
        with reading(self.engine) as connection:
            revision = revisions.current(connection)
        self.index.follow(revision)
        return self.index.settle(revision, SECONDS)

    def ready(self) -> "Indexed":
        assert self.settle() == "ready"
        return self


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "chroma_db"


@pytest.fixture
def opened(place: Place, folder: Path) -> Iterator[Callable[[str], Indexed]]:
    opened: list[Indexed] = []

    def open_index(embedder: str = "hashing", vectors: dict[str, Vector] = VECTORS) -> Indexed:
        first = not opened
        opened.append(Indexed(place.engine, folder, embedder))
        if first:
            opened[0].put(vectors)
        return opened[-1]

    yield open_index
    for each in opened:
        each.index.close()


Open = Callable[..., Indexed]


def test_the_index_finds_what_the_exact_search_finds(opened: Open) -> None:
    indexed = opened()
    assert indexed.nearest() is None
    assert indexed.ready().nearest() == indexed.exact(8)
    assert indexed.nearest(100) == indexed.exact(100)


def test_a_folders_index_reads_no_certificates(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssl.create_default_context", None)
    assert opened().ready().nearest(1) is not None


def test_an_empty_library_has_an_empty_index(opened: Open) -> None:
    assert opened(vectors={}).ready().nearest() == []


def test_the_index_follows_the_library(opened: Open) -> None:
    indexed = opened().ready()
    with writing(indexed.engine) as connection:
        for name in list(VECTORS)[2:]:
            records.delete(connection, name)
    indexed.put(_vectors("tool_1", "new", seed=3))
    assert indexed.ready().nearest(3) == indexed.exact(3)


def _retire(engine: sa.Engine, name: str) -> None:
    Trust(engine, TrustRule()).retire(name)


def _lose(engine: sa.Engine, name: str) -> None:
    with writing(engine) as connection:
        records.set_state(connection, name, "missing")


def _restore(engine: sa.Engine, name: str) -> None:
    with writing(engine) as connection:
        records.set_state(connection, name, "active")
    Trust(engine, TrustRule()).restore(name)


@pytest.mark.parametrize("leave", [_retire, _lose], ids=["retired", "its files deleted"])
def test_a_tool_that_is_not_offered_takes_no_place_among_the_nearest_until_it_is_again(
    opened: Open, leave: Callable[[sa.Engine, str], None]
) -> None:
    indexed, following = opened().ready(), ExactSearch("hashing")

    def nearest() -> list[list[str] | None]:
        with reading(indexed.engine) as connection:
            counted, followed = (
                records.searched_count(connection, "hashing"),
                following.nearest(connection, QUERY, 8),
            )
        assert counted == len(indexed.exact(100))
        return [indexed.exact(8), followed, indexed.ready().nearest()]

    first, *others = indexed.exact(100)
    assert nearest() == [[first, *others[:7]]] * 3
    leave(indexed.engine, first)
    assert nearest() == [others[:8]] * 3
    _restore(indexed.engine, first)
    assert nearest() == [[first, *others[:7]]] * 3


def test_tools_that_are_trusted_or_being_replaced_are_among_the_nearest(place: Place) -> None:
    vector = Embedding("hashing", QUERY)
    with writing(place.engine) as connection:
        for standing, state in product(get_args(Standing), get_args(records.State)):
            tool = registered(draft(f"{standing}_{state}")).model_copy(
                update={"standing": standing}
            )
            records.insert(connection, tool, state, vector)
        found = [name for name, _ in records.searched(connection, "hashing")]
        assert found == [
            "provisional_active",
            "provisional_revising",
            "suspect_active",
            "suspect_revising",
            "trusted_active",
            "trusted_revising",
        ]
        assert [
            name
            for name, _ in records.searched(
                connection, "hashing", ["trusted_active", "retired_active"]
            )
        ] == ["trusted_active"]
        assert list(records.searched(connection, "another")) == []


def test_the_index_is_kept_for_the_next_process(opened: Open, folder: Path) -> None:
    opened().ready().index.close()
    before = (folder / "chroma.sqlite3").stat().st_ino
    indexed = opened().ready()
    assert indexed.nearest() == indexed.exact(8)
    assert (folder / "chroma.sqlite3").stat().st_ino == before


@pytest.mark.extended
def test_an_index_of_another_database_is_made_again(
    opened: Open, folder: Path, tmp_path: Path
) -> None:
    opened().ready().index.close()
    other = open_database(f"sqlite:///{tmp_path / 'other.db'}")
    indexed = Indexed(other, folder, "hashing")
    indexed.put(_vectors(*VECTORS, seed=5))
    assert indexed.ready().nearest() == indexed.exact(8)
    indexed.index.close()
    other.dispose()


@pytest.mark.extended
def test_a_deleted_index_is_made_again_while_it_is_in_use(opened: Open, folder: Path) -> None:
    indexed = opened().ready()
    shutil.rmtree(folder)
    assert indexed.nearest() is None
    assert indexed.ready().nearest() == indexed.exact(8)
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


@pytest.mark.parametrize(
    "damage",
    [
        _scrambled,
        *(
            pytest.param(way, marks=pytest.mark.extended)
            for way in (_garbage, _truncated, _emptied, _without_database)
        ),
    ],
)
def test_a_damaged_index_is_made_again(
    opened: Open, folder: Path, damage: Callable[[Path], None]
) -> None:
    opened().ready().index.close()
    damage(folder)
    indexed = opened().ready()
    assert indexed.nearest() == indexed.exact(8)


SIGNALLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from selfeng.library.index import SearchIndex
from selfeng.store.database import attach

signal.signal(signal.SIGTERM, lambda *_: None)
index = SearchIndex(Path(sys.argv[2]), attach(sys.argv[1]), "hashing")
index.start()
index.follow(1)
index.settle(0, 60)
os.killpg(0, signal.SIGTERM)
print(index.nearest(np.ones(16, np.float32), 1) is not None, index.settle(0, 60))
index.close()
"""


@pytest.mark.extended
def test_a_signal_to_everything_that_runs_says_nothing_of_the_index(
    opened: Open, place: Place, folder: Path
) -> None:
    opened().ready().index.close()
    command = [sys.executable, "-c", SIGNALLED, address(place.engine), str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True
    )
    assert (done.stdout, done.stderr) == ("True ready\n", "")


@pytest.mark.extended
def test_making_the_index_again_deletes_nothing_of_others(opened: Open, folder: Path) -> None:
    opened().ready().index.close()
    _garbage(folder)
    (folder / "thesis.txt").write_text("precious")
    (folder / "photos").mkdir()
    opened().ready()
    assert ((folder / "thesis.txt").read_text(), (folder / "photos").is_dir()) == ("precious", True)


def test_a_folder_that_can_not_be_used_is_no_error_of_a_search(opened: Open, folder: Path) -> None:
    folder.write_text("a file")
    indexed = opened()
    assert indexed.settle() == "broken"
    assert indexed.nearest() is None


@pytest.mark.extended
def test_another_embedder_gets_an_index_of_its_own_size(opened: Open) -> None:
    opened("small").ready().index.close()
    larger = opened("large")
    larger.put(
        {name: np.concatenate([v, v]) / np.float32(np.sqrt(2)) for name, v in VECTORS.items()}
    )
    larger.ready()
    found = larger.index.nearest(np.concatenate([QUERY, QUERY]), 5)
    assert found is not None
    assert found.names == opened("small").exact(5)


@pytest.mark.extended
def test_one_of_two_keeps_the_index_and_the_other_takes_over(opened: Open) -> None:
    first, second = opened().ready(), opened()
    assert second.settle() == "elsewhere"
    assert second.nearest() is None
    first.index.close()
    assert second.ready().nearest() == first.exact(8)


def test_importing_the_registry_does_not_import_chroma() -> None:
    code = (
        "import sys, selfeng.capability_registry; sys.exit('chromadb' in sys.modules or "
        "'onnxruntime' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


async def test_the_registry_searches_the_same_with_and_without_index(
    place: Place, library: CapabilityRegistry
) -> None:
    for each in (REVERSE, SHOUT, COUNT):
        await library.add(each)
    assert await library.settle() == "ready"
    indexed = await library.search("reverse the word banana")
    async with place.open() as another:
        assert await another.settle() == "elsewhere"
        assert await another.search("reverse the word banana") == indexed
    shutil.rmtree(place.chroma_dir)
    assert await library.search("reverse the word banana") == indexed
    assert await library.settle() == "ready"
    assert await library.search("reverse the word banana") == indexed


@pytest.mark.extended
async def test_a_change_of_embedder_gives_every_tool_a_new_vector(place: Place) -> None:
    async with place.open() as library:
        await library.add(REVERSE)
        await library.add(SHOUT)
    async with place.open(HashingEmbedder("hashing:128", 128)) as library:
        assert await library.settle() == "ready"
        assert [c.tool.name for c in await library.search("reverse the word banana")] == [
            "reverse_text",
            "shout_text",
        ]
        await library.add(COUNT)
    async with place.open() as library:  # back again: only the tool that came since needs a vector
        assert await library.settle() == "ready"
        assert len(await library.search("reverse the word banana")) == 3
