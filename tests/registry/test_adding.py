import asyncio
from datetime import UTC, datetime

import pytest

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import (
    FileInTheWay,
    LibraryError,
    ToolExists,
    ToolNameInvalid,
    ToolNotFound,
)
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library.tool_files import source_digest
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REVERSE, SHOUT, draft


async def test_an_added_tool_is_two_files_and_a_record(
    place: Place, library: CapabilityRegistry
) -> None:
    before = datetime.now(UTC)
    tool = await library.add(REVERSE)
    assert before <= tool.created_at <= datetime.now(UTC)
    assert tool == Tool(
        **dict(REVERSE),
        created_at=tool.created_at,
        digest=source_digest(REVERSE.code, REVERSE.tests),
    )
    assert place.python_files() == ["reverse_text.py", "test_reverse_text.py"]
    assert (place.tools_dir / "reverse_text.py").read_text() == REVERSE.code
    assert (place.tools_dir / "test_reverse_text.py").read_text() == REVERSE.tests
    assert (await library.get("reverse_text"), await library.tools()) == (tool, (tool,))
    assert place.heard == [("added", "reverse_text")]


async def test_tools_outlive_the_process_that_added_them(place: Place) -> None:
    async with place.open() as library:
        added = (await library.add(REVERSE), await library.add(COUNT))
    place.take_heard()
    async with place.open() as library:
        assert await library.tools() == (added[1], added[0])
        assert [c.tool.name for c in await library.search("count the letters")] == [
            "count_letters",
            "reverse_text",
        ]
    assert place.heard == []


async def test_a_name_is_taken_once(place: Place, library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    with pytest.raises(ToolExists, match="reverse_text"):
        await library.check_name("reverse_text")
    with pytest.raises(ToolExists, match="reverse_text"):
        await library.add(draft("reverse_text", body="return text[::-1]"))
    assert (place.tools_dir / "reverse_text.py").read_text() == REVERSE.code


async def test_of_two_at_once_one_wins(place: Place, library: CapabilityRegistry) -> None:
    drafts = [draft("same_name", body=f"return '{i}'") for i in range(4)]
    outcomes = await asyncio.gather(*(library.add(d) for d in drafts), return_exceptions=True)
    (winner,) = (o for o in outcomes if isinstance(o, Tool))
    assert sum(isinstance(o, ToolExists) for o in outcomes) == 3
    assert (place.tools_dir / "same_name.py").read_text() == winner.code
    assert await library.tools() == (winner,)


async def test_many_at_once_are_all_there(place: Place, library: CapabilityRegistry) -> None:
    drafts = [draft(f"tool_number_{i}") for i in range(8)]
    added = await asyncio.gather(*(library.add(d) for d in drafts))
    assert await library.tools() == tuple(added)
    assert sorted(place.heard) == [("added", d.name) for d in drafts]


async def test_a_bad_name_registers_nothing(place: Place, library: CapabilityRegistry) -> None:
    with pytest.raises(ToolNameInvalid):
        await library.check_name("json")
    with pytest.raises(ToolNameInvalid):
        await library.add(draft("json"))
    assert (place.python_files(), await library.tools()) == ([], ())


@pytest.mark.parametrize("file", ["reverse_text.py", "test_reverse_text.py"])
async def test_a_file_put_there_by_hand_is_never_overwritten(
    place: Place, library: CapabilityRegistry, file: str
) -> None:
    (place.tools_dir / file).write_text("mine")
    for refused in (library.add(REVERSE), library.check(REVERSE)):
        with pytest.raises(FileInTheWay, match=f"{place.tools_dir / file} is in the way"):
            await refused
    with pytest.raises(FileInTheWay, match=f"{place.tools_dir / file} is in the way") as caught:
        await library.check_name("reverse_text")
    assert caught.value.remedy == "move the file away, or choose another name"
    assert (place.python_files(), (place.tools_dir / file).read_text(), await library.tools()) == (
        [file],
        "mine",
        (),
    )


@pytest.mark.parametrize(
    "files",
    [("reverse_text.py", "test_reverse_text.py"), ("reverse_text.py",), ("test_reverse_text.py",)],
)
async def test_files_that_say_the_same_are_taken_for_the_tools(
    place: Place, library: CapabilityRegistry, files: tuple[str, ...]
) -> None:
    for file in files:
        (place.tools_dir / file).write_text(
            REVERSE.tests if file.startswith("test_") else REVERSE.code
        )
    await library.check(REVERSE)
    tool = await library.add(REVERSE)
    assert (await library.tools(), place.python_files()) == (
        (tool,),
        ["reverse_text.py", "test_reverse_text.py"],
    )


async def test_files_put_there_by_hand_are_reported_and_left(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.tools_dir.mkdir()
    (place.tools_dir / "mine.py").write_text("x = 1")
    async with place.open() as library:
        assert await library.tools() == ()
    assert place.python_files() == ["mine.py"]
    assert "mine.py" in caplog.text


async def test_a_disk_that_refuses_leaves_nothing(
    place: Place, library: CapabilityRegistry
) -> None:
    (place.tools_dir / ".staging").rmdir()
    (place.tools_dir / ".staging").write_text("in the way")
    with pytest.raises(LibraryError, match="can't be written"):
        await library.add(REVERSE)
    assert (place.python_files(), await library.tools(), place.heard) == ([], (), [])
    (place.tools_dir / ".staging").unlink()
    assert (await library.add(REVERSE)).name == "reverse_text"


async def test_removing_takes_files_record_and_vector(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    kept = await library.add(SHOUT)
    await library.remove("reverse_text")
    assert place.python_files() == ["shout_text.py", "test_shout_text.py"]
    assert await library.tools() == (kept,)
    assert [c.tool for c in await library.search("reverse the word banana")] == [kept]
    assert place.heard[-1] == ("removed", "reverse_text")
    for refused in (
        library.get("reverse_text"),
        library.remove("reverse_text"),
        library.record_use("reverse_text", 1, "a"),
    ):
        with pytest.raises(ToolNotFound, match="reverse_text"):
            await refused
    await library.check_name("reverse_text")


async def test_a_removed_tool_can_be_added_again_with_other_words(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    await library.remove("reverse_text")
    again = await library.add(ToolDraft(**{**dict(REVERSE), "description": "Something else."}))
    assert (await library.tools(), again.version) == ((again,), 2)


async def test_uses_are_counted(place: Place, library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    await asyncio.gather(*(library.record_use("reverse_text", 1, "a") for _ in range(5)))
    assert (await library.get("reverse_text")).uses == 5
    async with place.open() as another:
        assert (await another.get("reverse_text")).uses == 5


async def test_what_another_process_does_is_seen_at_the_next_look(
    place: Place, library: CapabilityRegistry
) -> None:
    async with place.open() as another:
        tool = await another.add(REVERSE)
        assert await library.get("reverse_text") == tool
        assert [c.tool for c in await library.search("reverse")] == [tool]
        await another.remove("reverse_text")
        assert (await library.tools(), await library.search("reverse")) == ((), ())


async def test_text_of_any_kind_survives(place: Place, library: CapabilityRegistry) -> None:
    odd = draft(
        "odd_text", body="return text + 'ä\\u2028\U0001f40d'  # \r\n    # mixed line ends\r"
    )
    tool = await library.add(odd)
    assert (await library.get("odd_text"), (place.tools_dir / "odd_text.py").read_bytes()) == (
        tool,
        odd.code.encode(),
    )
