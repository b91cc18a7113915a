"""Folders are copies of what SQL has: each process writes what its folder lacks, follows changes
that others make, and never touches files that a person made.
"""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import ToolExists, ToolModified, ToolNotFound, VersionConflict
from selfeng.core.provenance import Provenance, Repaired
from selfeng.library import records
from selfeng.library.tool_writer import LOG, ToolCopies
from selfeng.store.database import writing
from selfeng.store.schema import properties
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REPAIRED, REVERSE, SHOUT, draft

NAME = REVERSE.name
FILES = ["reverse_text.py", "test_reverse_text.py"]


@pytest.fixture
def places(tmp_path: Path, database: sa.Engine) -> tuple[Place, Place]:
    """Two machines that share a database."""
    return Place(tmp_path / "first", database), Place(tmp_path / "second", database)


@pytest.fixture
async def machines(
    places: tuple[Place, Place],
) -> AsyncIterator[tuple[CapabilityRegistry, CapabilityRegistry]]:
    async with places[0].open() as first, places[1].open() as second:
        yield first, second


def code(place: Place, name: str = NAME) -> str:
    return (place.tools_dir / f"{name}.py").read_text()


async def test_a_machine_with_an_empty_folder_gets_every_tool(
    places: tuple[Place, Place],
) -> None:
    first, second = places
    async with first.open() as library:
        for each in (REVERSE, SHOUT, COUNT):
            await library.add(each)
    async with second.open() as library:
        await library.settle()
        assert [tool.name for tool in await library.tools()] == sorted(
            each.name for each in (REVERSE, SHOUT, COUNT)
        )
        assert second.python_files() == first.python_files()
        assert second.take_heard() == []
    async with first.open() as library:
        assert len(await library.tools()) == 3
        assert first.take_heard() == [("added", each.name) for each in (REVERSE, SHOUT, COUNT)]


async def test_changes_elsewhere_come_to_the_folder(places, machines) -> None:
    first, second = machines
    await first.add(REVERSE)
    assert (await second.get(NAME)).code == code(places[1]) == REVERSE.code
    await second.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    assert (await first.get(NAME)).code == code(places[0]) == REPAIRED.code
    await first.remove(NAME)
    with pytest.raises(ToolNotFound):
        await second.get(NAME)
    assert (places[0].python_files(), places[1].python_files()) == ([], [])
    await second.add(REVERSE)
    assert (await first.get(NAME)).version == 3
    changes = ["added", "revised", "removed", "added"]
    for place in places:
        assert place.take_heard() == [(change, NAME) for change in changes]


async def test_a_tool_that_was_removed_while_a_machine_was_off_leaves_its_folder(places) -> None:
    async with places[0].open() as first:
        await first.add(REVERSE)
        await first.add(SHOUT)
        async with places[1].open() as second:
            await second.tools()
        await first.remove(NAME)
        await first.revise(
            draft(SHOUT.name, body="return text.upper()"), 1, Provenance(origin=Repaired())
        )
    (places[1].tools_dir / "mine.py").write_text("precious")
    async with places[1].open() as second:
        await second.tools()
        assert places[1].python_files() == ["mine.py", "shout_text.py", "test_shout_text.py"]
        assert "upper" in code(places[1], SHOUT.name)


async def test_an_edit_by_hand_is_kept_on_its_machine_and_the_others_go_on(
    places, machines
) -> None:
    first, second = machines
    await first.add(REVERSE)
    await second.get(NAME)
    (places[1].tools_dir / FILES[0]).write_text("edited = True\n")
    with pytest.raises(ToolModified):
        await second.get(NAME)
    assert (await first.get(NAME)).code == REVERSE.code
    await first.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    with pytest.raises(ToolModified):
        await second.get(NAME)
    await first.remove(NAME)
    with pytest.raises(ToolNotFound):
        await second.get(NAME)
    assert code(places[1]) == "edited = True\n"
    with pytest.raises(Exception, match=FILES[0]):
        await second.add(REVERSE)


async def test_an_edit_that_is_accepted_goes_to_the_others(places, machines) -> None:
    first, second = machines
    await first.add(REVERSE)
    await second.get(NAME)
    (places[1].tools_dir / FILES[0]).write_text(REPAIRED.code)
    await second.accept(await second.edited(NAME))
    assert (await first.get(NAME)).code == code(places[0]) == REPAIRED.code


async def test_files_deleted_on_one_of_several_machines_are_written_again(places, machines) -> None:
    first, second = machines
    await first.add(REVERSE)
    await second.get(NAME)
    for file in places[1].tools_dir.glob("*.py"):
        file.unlink()
    for library in (second, first, second):
        assert (await library.get(NAME)).code == REVERSE.code
    assert places[0].python_files() == places[1].python_files() == FILES
    (places[0].tools_dir / FILES[0]).unlink()
    assert (await first.get(NAME)).code == code(places[0]) == REVERSE.code
    assert [place.take_heard() for place in places] == [[("added", NAME)]] * 2


async def test_on_the_only_machine_a_person_removes_a_tool_by_deleting_its_file(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    for file in FILES:
        (place.tools_dir / file).unlink()
    with pytest.raises(ToolNotFound):
        await library.get(NAME)
    assert place.python_files() == []


async def test_two_machines_revise_a_tool_and_one_of_them_is_told(places, machines) -> None:
    first, second = machines
    await first.add(REVERSE)
    origin = Provenance(origin=Repaired())
    await first.revise(REPAIRED, 1, origin)
    with pytest.raises(VersionConflict):
        await second.revise(draft(NAME, body="return text.upper()"), 1, origin)
    with writing(places[0].engine) as connection:
        records.set_state(connection, NAME, "revising")
    with pytest.raises(VersionConflict):
        await second.revise(draft(NAME, body="return text.upper()"), 1, origin)
    assert code(places[1]) == REPAIRED.code


async def test_a_strangers_file_is_not_overwritten_by_a_tool_of_its_name(places, machines) -> None:
    first, second = machines
    (places[1].tools_dir / FILES[0]).write_text("mine = True\n")
    await first.add(REVERSE)
    with pytest.raises(ToolModified):
        await second.get(NAME)
    assert code(places[1]) == "mine = True\n"


async def test_a_folder_of_another_database_is_left_alone(
    places, new_database: Callable[[], sa.Engine]
) -> None:
    async with places[0].open() as first:
        await first.add(REVERSE)
    other = Place(places[0].root, new_database())
    with writing(other.engine) as connection:  # those of the tests begin as copies of one
        connection.execute(sa.update(properties).where(properties.c.name == "id").values(value="x"))
    async with other.open() as library:
        assert await library.tools() == ()
        assert other.python_files() == FILES
        await library.add(SHOUT)
    async with places[0].open() as first:
        assert (await first.get(NAME)).code == REVERSE.code
        assert len(other.python_files()) == 4


async def test_a_folder_that_can_not_be_written_serves_from_sql(places, machines) -> None:
    first, second = machines
    (places[1].tools_dir / ".staging").rmdir()
    (places[1].tools_dir / ".staging").write_text("in the way")
    await first.add(REVERSE)
    assert (await second.get(NAME)).code == REVERSE.code
    assert [c.tool.name for c in await second.search("reverse the word banana")] == [NAME]
    assert places[1].python_files() == []


async def test_both_machines_add_a_name_and_one_of_them_gets_it(places, machines) -> None:
    first, second = machines
    await first.add(REVERSE)
    with pytest.raises(ToolExists):
        await second.add(REPAIRED)
    assert (await second.get(NAME)).code == REVERSE.code


def test_the_log_of_copies_is_read_whole_however_it_was_left(
    tmp_path: Path, database: sa.Engine
) -> None:
    writer, reader = ToolCopies(tmp_path, database), ToolCopies(tmp_path, database)
    digests = [f"{n:064x}" for n in range(3)]
    for n in range(2500):
        writer.note("often", digests[n % 3])
    writer.note("kept", digests[0])
    with (tmp_path / LOG).open("a") as log:
        log.write("torn 00")
    writer.note("late", digests[1])
    writer.note("often", None)
    assert reader.names() == writer.names() == {"kept", "late"}
    assert (reader.digest("kept"), reader.digest("often")) == (digests[0], None)
    assert len((tmp_path / LOG).read_text().splitlines()) < 2500
    again = ToolCopies(tmp_path, database)
    assert again.names() == {"kept", "late"}


async def test_a_tool_that_another_machine_is_writing_is_there_for_who_comes_second(
    machines, database: sa.Engine
) -> None:
    first, second = machines
    await first.add(REVERSE)
    with writing(database) as connection:
        records.set_state(connection, NAME, "pending")  # its files are being written
    with pytest.raises(ToolExists):
        await second.add(REVERSE)
    assert (await second.get(NAME)).code == REVERSE.code
