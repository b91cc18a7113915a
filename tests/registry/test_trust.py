"""The effect of uses and failures on a tool's standing."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry, LibraryChange, TrustRule
from selfeng.core.errors import ToolNotFound
from selfeng.core.events import ToolStandingChanged
from selfeng.core.provenance import Provenance, Repaired
from selfeng.library.trust import Trust
from selfeng.store.database import open_database, reading
from selfeng.store.schema import tool_uses
from tests.embedding.hashing import HashingEmbedder
from tests.registry.conftest import Place
from tests.registry.drafts import REPAIRED, REVERSE

NAME = REVERSE.name


async def _standing(library: CapabilityRegistry) -> str:
    return (await library.get(NAME)).standing


async def test_different_successful_calls_make_a_tool_trusted(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    assert [await library.record_use(NAME, 1, call) for call in ("a", "a", "b", "a", "b")] == [
        None
    ] * 5
    assert await _standing(library) == "provisional"
    change = await library.record_use(NAME, 1, "c")
    reason = "It has served 3 different calls."
    assert change == ToolStandingChanged(
        tool=NAME, before="provisional", after="trusted", reason=reason
    )
    assert place.heard[-1] == ("trusted", NAME)
    assert [await library.record_use(NAME, 1, call) for call in "abcd"] == [None] * 4
    tool = await library.get(NAME)
    assert (tool.standing, tool.uses) == ("trusted", 10)
    with reading(place.engine) as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(tool_uses)).scalar() == 3


async def test_collected_uses_count_before_anyone_reads_the_tools_or_a_failure(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    await library.record_failure(NAME, 1, "KeyError")
    for name, call in ((NAME, "a"), (NAME, "a"), (NAME, "b"), ("removed", "a"), (NAME, "c")):
        library.count_use(name, 1, call)
    (tool,) = await library.tools()
    assert (tool.standing, tool.uses) == ("trusted", 4)
    library.count_use(NAME, 1, "d")
    assert [await library.record_failure(NAME, 1, "KeyError") for _ in range(3)][:2] == [None] * 2
    (tool,) = await library.tools()
    assert (tool.standing, tool.uses) == ("retired", 5)


async def test_collected_uses_are_counted_in_the_background_and_at_the_end(place: Place) -> None:
    trusted = asyncio.Event()

    def hear(change: LibraryChange) -> None:
        if change.change == "trusted":
            trusted.set()

    library = CapabilityRegistry(
        place.engine, place.tools_dir, place.chroma_dir, HashingEmbedder(), on_change=hear
    )
    await library.start()
    await library.add(REVERSE)
    for call in "abc":
        library.count_use(NAME, 1, call)
    await trusted.wait()
    library.count_use(NAME, 1, "d")
    await library.aclose()
    async with place.open() as library:
        assert (await library.get(NAME)).uses == 4


async def test_uses_that_cannot_be_counted_are_logged_and_stop_no_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    async with Place(tmp_path, database).open() as library:
        await library.add(REVERSE)
        sa.event.listen(database, "checkout", lambda c, *_: c.execute("PRAGMA query_only = 1"))
        library.count_use(NAME, 1, "a")
    database.dispose()
    assert (
        f"1 uses of {NAME} are not counted: the database agent.db can't be written" in caplog.text
    )


@pytest.mark.parametrize("calls", ["", "abc"])
async def test_failures_in_a_row_retire_a_tool(
    place: Place, library: CapabilityRegistry, calls: str
) -> None:
    await library.add(REVERSE)
    for call in calls:
        await library.record_use(NAME, 1, call)
    before = await _standing(library)
    assert [await library.record_failure(NAME, 1, "KeyError") for _ in range(2)] == [None, None]
    await library.record_use(NAME, 1, "a")  # forgives them
    assert [await library.record_failure(NAME, 1, "KeyError") for _ in range(2)] == [None, None]
    change = await library.record_failure(NAME, 1, "IndexError")
    reason = "It failed 3 times in a row, last with IndexError."
    assert change == ToolStandingChanged(tool=NAME, before=before, after="retired", reason=reason)
    assert place.heard[-1] == ("retired", NAME)
    assert await library.search("reverse") == ()
    assert await library.record_failure(NAME, 1, "KeyError") is None
    assert [await library.record_use(NAME, 1, call) for call in "uvw"] == [None] * 3, (
        "a retired tool comes back by hand only"
    )
    assert await _standing(library) == "retired"


async def test_a_restored_tool_earns_its_trust_anew(library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    for call in "abc":
        await library.record_use(NAME, 1, call)
    await library.retire(NAME)
    await library.restore(NAME)
    assert [await library.record_use(NAME, 1, call) for call in "ab"] == [None, None]
    assert [await library.record_failure(NAME, 1, "KeyError") for _ in range(2)] == [None, None]
    assert await library.record_use(NAME, 1, "c") is not None
    assert await _standing(library) == "trusted"


async def test_what_an_old_version_does_says_nothing_of_the_new_one(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    for call in "abc":
        await library.record_use(NAME, 1, call)
    for _ in range(2):
        await library.record_failure(NAME, 1, "KeyError")
    tool = await library.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    assert (tool.standing, tool.uses) == ("provisional", 3)
    assert await library.record_failure(NAME, 1, "KeyError") is None
    assert [await library.record_use(NAME, 1, call) for call in "defg"] == [None] * 4
    assert [await library.record_failure(NAME, 2, "KeyError") for _ in range(2)] == [None, None]
    assert await library.record_failure(NAME, 2, "KeyError") is not None


async def test_the_rule_is_a_setting(place: Place, library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    trust = Trust(place.engine, TrustRule(trust_after=1, retire_after=1))
    trusted, retired = trust.record_uses(NAME, 1, ["a"]), trust.record_failure(NAME, 1, "KeyError")
    assert trusted
    assert retired
    assert trusted.reason == "It has served 1 different call."
    assert (retired.before, retired.reason) == (
        "trusted",
        "It failed 1 time in a row, last with KeyError.",
    )


async def test_an_unknown_tool_is_named(library: CapabilityRegistry) -> None:
    for refused in (
        library.record_use("nothing", 1, "a"),
        library.record_failure("nothing", 1, "KeyError"),
    ):
        with pytest.raises(ToolNotFound, match="no tool named nothing is registered"):
            await refused


async def test_a_changed_service_makes_a_version_suspect_until_it_answers_as_before(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    problem = "api.example.org answers otherwise"
    change = await library.record_change(NAME, 1, problem)
    assert change == ToolStandingChanged(
        tool=NAME, before="provisional", after="suspect", reason=f"{problem}."
    )
    assert place.heard[-1] == ("suspect", NAME)
    assert await library.record_change(NAME, 1, problem) is None
    assert await library.record_change(NAME, 2, problem) is None
    assert NAME in {c.tool.name for c in await library.search("reverse a text")}
    change = await library.record_use(NAME, 1, "a")
    assert change is not None
    assert (change.before, change.after) == ("suspect", "provisional")
    await library.record_change(NAME, 1, problem)
    provenance = Provenance(origin=Repaired(failure="ServiceChanged"))
    assert (await library.revise(REPAIRED, 1, provenance)).standing == "provisional"
