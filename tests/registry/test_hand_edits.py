"""People may edit and delete the files; the library notices at its next look."""

import pytest

from selfeng.capability_registry import CapabilityRegistry, Sources
from selfeng.core.errors import ToolModified, ToolNotFound
from tests.registry.conftest import Place
from tests.registry.drafts import REVERSE, SHOUT


@pytest.fixture
async def two(place: Place, library: CapabilityRegistry) -> CapabilityRegistry:
    await library.add(REVERSE)
    await library.add(SHOUT)
    place.take_heard()
    return library


async def _offered(library: CapabilityRegistry) -> list[str]:
    return sorted(c.tool.name for c in await library.search("reverse the word banana"))


async def test_a_deleted_tool_disappears_with_an_event(
    place: Place, two: CapabilityRegistry
) -> None:
    for file in place.tools_dir.glob("*reverse*"):
        file.unlink()
    assert await _offered(two) == ["shout_text"]
    assert place.take_heard() == [("removed", "reverse_text")]
    assert [t.name for t in await two.tools()] == ["shout_text"]
    with pytest.raises(ToolNotFound):
        await two.get("reverse_text")
    assert place.heard == []


async def test_a_deletion_while_nobody_looked_is_told_once(place: Place) -> None:
    async with place.open() as library:
        await library.add(REVERSE)
    (place.tools_dir / "reverse_text.py").unlink()
    (place.tools_dir / "test_reverse_text.py").unlink()
    for expected in ([("added", "reverse_text"), ("removed", "reverse_text")], []):
        async with place.open() as library:
            assert await library.tools() == ()
        assert place.take_heard() == expected


async def test_files_that_come_back_restore_the_tool(place: Place, two: CapabilityRegistry) -> None:
    (place.tools_dir / "reverse_text.py").rename(place.root / "elsewhere")
    assert await _offered(two) == ["shout_text"]
    (place.root / "elsewhere").rename(place.tools_dir / "reverse_text.py")
    assert await _offered(two) == ["reverse_text", "shout_text"]
    assert place.heard == [("removed", "reverse_text"), ("restored", "reverse_text")]


async def test_a_deleted_tool_can_be_made_anew(place: Place, two: CapabilityRegistry) -> None:
    (place.tools_dir / "reverse_text.py").unlink()  # the tests stay behind
    assert await _offered(two) == ["shout_text"]
    again = await two.add(REVERSE)
    assert await two.get("reverse_text") == again
    assert place.heard == [("removed", "reverse_text"), ("added", "reverse_text")]


async def test_other_code_in_place_of_a_deleted_tool_is_left_alone(
    place: Place, two: CapabilityRegistry
) -> None:
    (place.tools_dir / "reverse_text.py").unlink()
    assert await _offered(two) == ["shout_text"]
    (place.tools_dir / "reverse_text.py").write_text("mine")
    assert await _offered(two) == ["shout_text"]
    assert (place.tools_dir / "reverse_text.py").read_text() == "mine"


@pytest.mark.parametrize("file", ["reverse_text.py", "test_reverse_text.py"])
async def test_an_edited_tool_is_not_offered(
    place: Place, two: CapabilityRegistry, file: str
) -> None:
    verified = (place.tools_dir / file).read_text()
    (place.tools_dir / file).write_text(verified + "# edited\n")
    assert await _offered(two) == ["shout_text"]
    with pytest.raises(ToolModified, match="reverse_text") as caught:
        await two.get("reverse_text")
    assert "selfeng verify reverse_text" in caught.value.remedy
    assert [t.name for t in await two.tools()] == ["reverse_text", "shout_text"]
    (place.tools_dir / file).write_text(verified)
    assert await _offered(two) == ["reverse_text", "shout_text"]
    assert place.heard == [("modified", "reverse_text"), ("restored", "reverse_text")]


async def test_deleted_tests_count_as_an_edit(place: Place, two: CapabilityRegistry) -> None:
    (place.tools_dir / "test_reverse_text.py").unlink()
    for refused in (
        two.get("reverse_text"),
        two.sources("reverse_text"),
        two.edited("reverse_text"),
    ):
        with pytest.raises(ToolModified) as caught:
            await refused
        assert (
            caught.value.message
            == "the file test_reverse_text.py of the tool reverse_text is missing"
        )
        assert caught.value.remedy == "restore it, or delete reverse_text.py as well"
    assert place.heard == [("modified", "reverse_text")]
    assert (
        place.reasons[-1]
        == "The file test_reverse_text.py was deleted; restore it, or delete reverse_text.py as "
        "well."
    )


async def test_tests_without_their_code_are_named(place: Place, two: CapabilityRegistry) -> None:
    (place.tools_dir / "reverse_text.py").unlink()
    for refused in (
        two.get("reverse_text"),
        two.sources("reverse_text"),
        two.edited("reverse_text"),
    ):
        with pytest.raises(ToolNotFound) as caught:
            await refused
        assert (
            caught.value.message == "the file reverse_text.py of the tool reverse_text is missing"
        )
        assert caught.value.remedy == "restore it, or delete test_reverse_text.py as well"
    assert place.heard == [("removed", "reverse_text")]
    assert (
        place.reasons[-1]
        == "The file reverse_text.py was deleted; restore it, or delete test_reverse_text.py as "
        "well."
    )


async def test_an_edit_is_a_draft_to_be_verified(place: Place, two: CapabilityRegistry) -> None:
    path = place.tools_dir / "reverse_text.py"
    path.write_text("def reverse_text(text: str, times: int = 1) -> str:\n    return text[::-1]\n")
    draft = await two.edited("reverse_text")
    assert str(draft.signature) == "reverse_text(text: str, times: int = 1) -> str"
    same = {"description", "tests", "example_requests", "model"}
    assert (draft.code, draft.model_dump(include=same)) == (
        path.read_text(),
        REVERSE.model_dump(include=same),
    )


async def test_an_edit_that_is_no_python_is_named(place: Place, two: CapabilityRegistry) -> None:
    (place.tools_dir / "reverse_text.py").write_text("def reverse_text(:\n")
    with pytest.raises(
        ToolModified, match="the code of reverse_text is not valid Python"
    ) as caught:
        await two.edited("reverse_text")
    assert caught.value.remedy == "correct the file, or restore what was verified"


async def test_an_edit_with_the_old_size_and_time_is_noticed(
    place: Place, two: CapabilityRegistry
) -> None:
    import os

    path = place.tools_dir / "reverse_text.py"
    status = path.stat()
    path.write_text(path.read_text().replace("return text", "return texT"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(ToolModified):
        await two.get("reverse_text")


async def test_an_edit_that_was_verified_is_accepted(place: Place, two: CapabilityRegistry) -> None:
    path = place.tools_dir / "reverse_text.py"
    path.write_text("def reverse_text(text: str, times: int = 1) -> str:\n    return text[::-1]\n")
    sources = await two.sources("reverse_text")
    assert sources == Sources(code=path.read_text(), tests=REVERSE.tests)
    tool = await two.accept(await two.edited("reverse_text"))
    assert (tool.code, tool.digest, tool.description) == (
        sources.code,
        sources.digest,
        REVERSE.description,
    )
    assert str(tool.signature) == "reverse_text(text: str, times: int = 1) -> str"
    assert tool.signature.parameters[0].description == "Any text."
    assert await _offered(two) == ["reverse_text", "shout_text"]
    assert place.heard == [("modified", "reverse_text"), ("restored", "reverse_text")]


async def test_an_edit_after_the_verification_is_not_accepted(
    place: Place, two: CapabilityRegistry
) -> None:
    path = place.tools_dir / "reverse_text.py"
    path.write_text("def reverse_text(text: str) -> str:\n    return text[::-1]\n")
    verified = await two.edited("reverse_text")
    path.write_text("def reverse_text(text: str) -> str:\n    return ''\n")
    with pytest.raises(ToolModified, match="since they were verified"):
        await two.accept(verified)


async def test_an_edit_without_the_function_is_not_accepted(
    place: Place, two: CapabilityRegistry
) -> None:
    (place.tools_dir / "reverse_text.py").write_text("def other() -> None: ...\n")
    with pytest.raises(ToolModified, match="defines no function reverse_text"):
        await two.edited("reverse_text")


async def test_undecodable_bytes_are_an_edit_like_any_other(
    place: Place, two: CapabilityRegistry
) -> None:
    (place.tools_dir / "reverse_text.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ToolModified):
        await two.get("reverse_text")
