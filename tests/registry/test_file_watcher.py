"""A look at the library costs what has changed, and misses nothing."""

import time
from pathlib import Path

from benchmarks.synthetic import fill, requests
from selfeng.library import records, revisions
from selfeng.library.tool_files import FolderListing
from selfeng.store.database import reading, writing
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import REVERSE


def test_a_folder_is_listed_again_only_after_it_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    listing = FolderListing(tmp_path, lambda: time.time_ns() + 3_000_000_000)
    assert listing.look() == {"a.py"}
    assert listing.look() is listing.look()
    (tmp_path / "b.py").touch()
    (tmp_path / "note.txt").touch()
    assert listing.look() == {"a.py", "b.py"}
    (tmp_path / "a.py").unlink()
    assert listing.look() == {"b.py"}
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    assert listing.look() == {"c.py"}
    assert FolderListing(tmp_path / "nowhere").look() == frozenset()


async def test_every_change_is_noted_in_its_own_transaction(place: Place) -> None:
    async with place.open() as library:
        await library.add(REVERSE)
        with reading(place.engine) as connection:
            before = revisions.current(connection)
            assert revisions.changed(connection, 0) == ["reverse_text"]
            assert revisions.changed(connection, before) == []
        await library.record_use("reverse_text", 1, "a call")  # says nothing to a search
        await library.retire("reverse_text")
        with reading(place.engine) as connection:
            assert revisions.current(connection) == before + 1
            assert revisions.changed(connection, before) == ["reverse_text"]
        try:
            with writing(place.engine) as connection:
                records.set_state(connection, "reverse_text", "missing")
                raise KeyError
        except KeyError:
            pass
        with reading(place.engine) as connection:
            assert revisions.current(connection) == before + 1


async def test_a_synthetic_library_is_like_any_other(place: Place) -> None:
    fill(place.engine, place.tools_dir, HashingEmbedder(), 30)
    async with place.open() as library:
        assert (await library.count(), await library.settle(), place.heard) == (30, "ready", [])
        found = await library.search(requests(1)[0])
        assert len(found) == 8
        edited = place.tools_dir / f"{found[0].tool.name}.py"
        edited.write_text(edited.read_text() + "# mine\n")
        assert found[0].tool.name not in [c.tool.name for c in await library.search(requests(1)[0])]
        assert place.take_heard() == [("modified", found[0].tool.name)]
        edited.write_text(found[0].tool.code)
        assert await library.search(requests(1)[0]) == found
        assert place.heard == [("restored", found[0].tool.name)]
