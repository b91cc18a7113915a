"""Every version of a tool is kept with what is known of it, and any of them can come back."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import (
    LibraryError,
    ToolModified,
    ToolNotFound,
    VersionConflict,
    VersionNotFound,
)
from selfeng.core.events import Usage
from selfeng.core.http import NetworkAccess
from selfeng.core.package_lock import PackageLock
from selfeng.core.provenance import (
    AskedPrompt,
    Edited,
    Provenance,
    Repaired,
    RequirementChanged,
    RolledBack,
    ToolVersion,
)
from selfeng.core.tool import Imported, Requirement, Tool
from selfeng.core.verdict import CallLimits
from selfeng.library import records
from selfeng.library.tool_files import source_digest
from selfeng.library.tool_writer import next_version
from selfeng.store.database import reading, writing
from selfeng.store.grants import Grants
from selfeng.store.schema import cassettes, tools
from tests.doubles import passing, recorded
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REPAIRED, REVERSE, SHOUT

MADE = Provenance(
    verdict=passing(),
    prompts=(AskedPrompt(name="tests", digest="1" * 64),),
    usage=Usage(calls=3, input_tokens=20, output_tokens=5, cost=0.25),
)
REPAIR = Provenance(origin=Repaired(failure="it raised KeyError"), verdict=passing())


def _texts(place: Place) -> list[str]:
    return [(place.tools_dir / f"{prefix}reverse_text.py").read_text() for prefix in ("", "test_")]


class _Wider(Tool):
    """A tool with a field that nothing in the library has heard of."""

    colours: tuple[str, ...] = ()


def test_every_field_of_a_tool_has_its_column_and_comes_back() -> None:
    tool = _Wider(
        **dict(
            REVERSE.model_copy(
                update={
                    "requires": (Requirement(name="count_letters", version=2),),
                    "imported": Imported(file="tools.zip", requests=("reverse it",)),
                    "witnesses": ("def reverse_text(text): ...",),
                    "network": (NetworkAccess(host="api.example.org"),),
                    "exchanges": (exchange := recorded("https://api.example.org/", 1),),
                    "lock": PackageLock(requirements=("a",), text="a==1 --hash=sha256:0\n"),
                    "limits": CallLimits(seconds=600),
                }
            )
        ),
        created_at=datetime.now(UTC),
        digest="1" * 64,
        uses=3,
        version=2,
        standing="trusted",
        merged_into="shout_text",
        frozen=True,
        colours=("red", "blüe"),
    )
    assert [
        name for name, field in _Wider.model_fields.items() if getattr(tool, name) == field.default
    ] == []
    assert set(Tool.model_fields) - {"exchanges"} <= set(tools.c.keys())
    columns = records.columns(tool)
    assert columns.pop("cassette")
    exchanges = f"[{exchange.model_dump_json()}]"
    row = cast("sa.Row[Any]", SimpleNamespace(**columns, exchanges=exchanges))
    assert (row.colours, row.name, row.uses) == ('["red","blüe"]', "reverse_text", 3)
    assert _Wider(**records.fields(_Wider, row)) == tool


def test_the_next_version_keeps_every_field_that_is_not_made_anew() -> None:
    before = _Wider(
        **dict(REVERSE),
        created_at=datetime.now(UTC),
        digest="1",
        uses=3,
        standing="trusted",
        colours=("red",),
    )
    after = next_version(before, REPAIRED, REPAIR, 2)
    kept = {"created_at": before.created_at, "uses": 3, "colours": ("red",)}
    assert after == _Wider(
        **dict(REPAIRED), **kept, digest=after.digest, version=2, standing="provisional"
    )
    assert after.digest == source_digest(REPAIRED.code, REPAIRED.tests)


async def test_a_new_tool_is_version_1_with_all_that_is_known_of_it(
    library: CapabilityRegistry,
) -> None:
    before = datetime.now(UTC)
    needs = REVERSE.model_copy(update={"requires": (Requirement(name="count_letters", version=2),)})
    tool = await library.add(needs, MADE)
    (version,) = await library.versions("reverse_text")
    assert before <= version.created_at <= datetime.now(UTC)
    known = {"version": 1, "digest": tool.digest, "created_at": version.created_at}
    assert (
        version
        == ToolVersion(**dict(needs), **known, provenance=MADE)
        == await library.version("reverse_text", 1)
    )
    assert (tool.requires, tool.version, tool.standing) == (needs.requires, 1, "provisional")


async def test_a_revision_replaces_the_tool_and_keeps_what_it_was(
    place: Place, library: CapabilityRegistry
) -> None:
    first = await library.add(REVERSE, MADE)
    await library.record_use("reverse_text", 1, "a")
    tool = await library.revise(REPAIRED, 1, REPAIR)
    assert tool == Tool(
        **dict(REPAIRED), created_at=first.created_at, digest=tool.digest, uses=1, version=2
    )
    assert (await library.get("reverse_text"), _texts(place)) == (
        tool,
        [REPAIRED.code, REPAIRED.tests],
    )
    newest, oldest = await library.versions("reverse_text")
    assert [(v.version, v.draft(), v.provenance) for v in (newest, oldest)] == [
        (2, REPAIRED, REPAIR),
        (1, REVERSE, MADE),
    ]
    assert place.heard == [("added", "reverse_text"), ("revised", "reverse_text")]
    assert place.reasons[-1] == "Version 2 of reverse_text is in use."
    async with place.open() as another:
        assert await another.get("reverse_text") == tool


async def test_a_revised_tool_is_found_by_its_new_words(library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    await library.add(COUNT)
    before = (await library.search("write anna from its end"))[0]
    assert before.similarity < 0.9
    await library.revise(REPAIRED, 1, REPAIR)
    after = (await library.search("write anna from its end"))[0]
    assert (after.tool.version, after.similarity > 0.9) == (2, True)
    assert await library.settle() == "ready"


async def test_of_two_revisions_at_once_one_wins(place: Place, library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    outcomes = await asyncio.gather(
        *(library.revise(REPAIRED, 1, REPAIR) for _ in range(3)), return_exceptions=True
    )
    (winner,) = (o for o in outcomes if isinstance(o, Tool))
    lost = [o for o in outcomes if isinstance(o, VersionConflict)]
    assert [e.message for e in lost] == [
        "version 1 of reverse_text is no longer the newest, version 2 is"
    ] * 2
    assert (await library.tools(), len(await library.versions("reverse_text"))) == ((winner,), 2)


async def test_a_revision_that_can_not_be_written_leaves_the_old_version(
    place: Place, library: CapabilityRegistry
) -> None:
    tool = await library.add(REVERSE)
    (place.tools_dir / ".staging").rmdir()
    (place.tools_dir / ".staging").write_text("in the way")
    with pytest.raises(LibraryError, match="the files of reverse_text can't be written"):
        await library.revise(REPAIRED, 1, REPAIR)
    assert (await library.get("reverse_text"), _texts(place)) == (
        tool,
        [REVERSE.code, REVERSE.tests],
    )
    assert len(await library.versions("reverse_text")) == 1


async def test_a_version_that_another_process_died_with_waits_for_the_next_start(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    tool = await library.revise(REPAIRED, 1, REPAIR)
    place.take_heard()
    with writing(place.engine) as connection:
        connection.execute(tools.update().values(state="revising"))
    (place.tools_dir / "reverse_text.py").write_text(REVERSE.code)
    assert (await library.get("reverse_text"), place.heard) == (tool, [])
    with pytest.raises(
        LibraryError, match="the files of version 2 of reverse_text are not all in place yet"
    ):
        await library.rollback("reverse_text", 1)
    async with place.open() as another:
        assert (await another.get("reverse_text"), _texts(place)) == (
            tool,
            [REPAIRED.code, REPAIRED.tests],
        )


async def test_no_repair_changes_a_frozen_version_but_a_person_does(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    assert (await library.freeze("reverse_text")).frozen
    with pytest.raises(LibraryError, match="version 1 of reverse_text is frozen"):
        await library.revise(REPAIRED, 1, REPAIR)
    edited = await library.revise(REPAIRED, 1, Provenance(origin=Edited()))
    assert (edited.version, edited.frozen) == (2, True)
    assert not (await library.freeze("reverse_text", False)).frozen
    assert (await library.revise(REVERSE, 2, REPAIR)).version == 3
    with pytest.raises(ToolNotFound):
        await library.freeze("gone")


async def test_a_rollback_is_a_new_version_with_the_old_content(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE, MADE)
    await library.revise(REPAIRED, 1, REPAIR)
    tool = await library.rollback("reverse_text", 1)
    assert (tool.version, tool.draft(), tool.standing, _texts(place)) == (
        3,
        REVERSE,
        "provisional",
        [REVERSE.code, REVERSE.tests],
    )
    versions = await library.versions("reverse_text")
    assert [(v.version, str(v.provenance.origin)) for v in versions] == [
        (3, "rolled back to version 1"),
        (2, "repaired: it raised KeyError"),
        (1, "created"),
    ]
    assert versions[0].provenance == Provenance(origin=RolledBack(to=1), verdict=MADE.verdict), (
        "it was verified then, and cost nothing now"
    )
    assert (await library.search("reverse the word banana"))[0].similarity > 0.6
    for same in (1, 3):
        with pytest.raises(VersionConflict, match="version 3 of reverse_text is already in use"):
            await library.rollback("reverse_text", same)


async def test_witnesses_belong_to_their_version_and_an_edit_has_none(
    place: Place, library: CapabilityRegistry
) -> None:
    other = "def reverse_text(text: str) -> str:\n    return ''.join(reversed(text))\n"
    await library.add(REVERSE.model_copy(update={"witnesses": (other,)}))
    (place.tools_dir / "reverse_text.py").write_text(REPAIRED.code)
    assert (await library.accept(await library.edited("reverse_text"))).witnesses == ()
    assert (await library.rollback("reverse_text", 1)).witnesses == (other,)


async def test_a_version_that_never_was_is_named(library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    for refused in (
        library.rollback("reverse_text", 7),
        library.version("reverse_text", 7),
        library.revise(REPAIRED, 7, REPAIR),
    ):
        with pytest.raises(VersionNotFound, match="reverse_text has no version 7") as caught:
            await refused
        assert caught.value.remedy == "`selfeng versions reverse_text` lists its versions"
    with pytest.raises(ToolNotFound):
        await library.versions("shout_text")


async def test_an_edit_by_hand_is_never_overwritten(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    await library.revise(REPAIRED, 1, REPAIR)
    path = place.tools_dir / "reverse_text.py"
    path.write_text("mine")
    for refused in (library.rollback("reverse_text", 1), library.revise(REVERSE, 2, REPAIR)):
        with pytest.raises(ToolModified, match=r"reverse_text\.py was edited by hand") as caught:
            await refused
        assert "selfeng verify reverse_text" in caught.value.remedy
    assert (path.read_text(), len(await library.versions("reverse_text"))) == ("mine", 2)


async def test_a_rollback_brings_back_files_that_were_deleted(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    for file in place.tools_dir.glob("*reverse*"):
        file.unlink()
    assert await library.tools() == ()
    with pytest.raises(ToolNotFound):
        await library.revise(REPAIRED, 1, REPAIR)
    tool = await library.rollback("reverse_text", 1)
    assert (tool.version, await library.tools(), _texts(place)) == (
        2,
        (tool,),
        [REVERSE.code, REVERSE.tests],
    )


async def test_an_accepted_edit_is_a_version(place: Place, library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    (place.tools_dir / "reverse_text.py").write_text(REPAIRED.code)
    tool = await library.accept(await library.edited("reverse_text"))
    assert (tool.version, tool.code, tool.standing) == (2, REPAIRED.code, "provisional")
    newest, _ = await library.versions("reverse_text")
    assert (newest.code, newest.provenance) == (REPAIRED.code, Provenance(origin=Edited()))


async def test_a_removed_tool_leaves_its_versions_to_the_next_of_its_name(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    await library.remove("reverse_text")
    assert [v.draft() for v in await library.versions("reverse_text")] == [REVERSE]
    with pytest.raises(ToolNotFound):
        await library.rollback("reverse_text", 1)
    assert (await library.add(REPAIRED)).version == 2
    assert [v.draft() for v in await library.versions("reverse_text")] == [REPAIRED, REVERSE]


async def test_a_retired_tool_is_looked_at_but_not_offered(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    kept = await library.add(SHOUT)
    place.take_heard()
    retired = await library.retire("reverse_text")
    assert (retired.standing, await library.get("reverse_text"), (await library.tools())[0]) == (
        "retired",
        retired,
        retired,
    )
    assert [c.tool for c in await library.search("reverse the word banana")] == [kept]
    with pytest.raises(LibraryError, match="a tool named reverse_text is registered already"):
        await library.check_name("reverse_text")
    async with place.open() as another:
        assert [c.tool for c in await another.search("reverse the word banana")] == [kept]
    assert await library.retire("reverse_text") == retired
    restored = await library.restore("reverse_text")
    assert (restored.standing, (await library.search("reverse"))[0].tool) == (
        "provisional",
        restored,
    )
    assert await library.restore("reverse_text") == restored
    assert place.heard == [("retired", "reverse_text"), ("restored", "reverse_text")]
    for refused in (library.retire("nothing"), library.restore("nothing")):
        with pytest.raises(ToolNotFound):
            await refused


async def test_a_tool_that_is_retired_stays_so_when_only_what_it_imports_changes(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    await library.retire("reverse_text")
    again = await library.revise(
        REVERSE, 1, Provenance(origin=RequirementChanged(tool="count_letters", version=2))
    )
    assert (again.version, again.standing) == (2, "retired")
    assert (await library.revise(REPAIRED, 2, REPAIR)).standing == "provisional"


async def test_a_tool_that_was_retired_under_another_embedder_is_found_once_it_is_restored(
    place: Place,
) -> None:
    class Other(HashingEmbedder):
        id = "another embedder"

    async with place.open() as library:
        await library.add(REVERSE)
        await library.retire("reverse_text")
    async with place.open(Other()) as library:
        await library.settle()
        tool = await library.restore("reverse_text")
        assert [c.tool for c in await library.search("nothing like it")] == [tool]


async def test_versions_keep_hosts_and_what_was_recorded_of_them_once(
    place: Place, library: CapabilityRegistry
) -> None:
    access = NetworkAccess(host="api.example.org")
    exchange = recorded("https://api.example.org/", {"rate": 1.5})
    of_call = exchange.model_copy(update={"from_call": True})
    draft = REVERSE.model_copy(update={"network": (access,), "exchanges": (exchange,)})
    await library.add(draft)
    repaired = draft.model_copy(update={"code": REPAIRED.code})
    provenance = Provenance(origin=Repaired(failure="KeyError"))
    await library.revise(repaired, 1, provenance)
    more = repaired.model_copy(update={"exchanges": (exchange, of_call)})
    await library.revise(more.model_copy(update={"code": draft.code}), 2, provenance)
    tool = await library.get(REVERSE.name)
    assert (tool.network, tool.exchanges, tool.replays) == (
        (access,),
        (exchange, of_call),
        (exchange,),
    )
    versions = await library.versions(REVERSE.name)
    assert [version.exchanges for version in versions] == [
        (exchange, of_call),
        (exchange,),
        (exchange,),
    ]
    with reading(place.engine) as connection:
        rows = connection.scalar(sa.select(sa.func.count()).select_from(cassettes))
    assert rows == 2


async def test_a_new_tool_of_a_removed_name_has_no_grants(
    place: Place, library: CapabilityRegistry
) -> None:
    grants, access = Grants(place.engine), NetworkAccess(host="api.example.org")
    await library.add(REVERSE)
    grants.put("me", REVERSE.name, 1, [access])
    await library.remove(REVERSE.name)
    assert grants.read() == ()
