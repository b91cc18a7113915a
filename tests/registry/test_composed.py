"""Composed tools on the real library: what they need is kept with every version, and follows the
tools that change.
"""

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.provenance import Edited, Provenance, Repaired, RequirementChanged
from selfeng.core.tool import Requirement
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.library.composition.reverification import Reverification, Reverified
from tests.doubles import ScriptedSandbox, failing, gate, passing
from tests.registry.conftest import Place
from tests.registry.drafts import REPAIRED, REVERSE, SHOUT

IMPORTING = SHOUT.model_copy(
    update={
        "code": f"from reverse_text import reverse_text\n\n\n{SHOUT.code}",
        "requires": (Requirement(name="reverse_text", version=1),),
    }
)
NEWER = (Requirement(name="reverse_text", version=2),)


async def test_what_a_tool_needs_survives_a_restart(place: Place) -> None:
    async with place.open() as library:
        await library.add(REVERSE)
        await library.add(IMPORTING)
        await library.revise(REPAIRED, 1, Provenance(origin=Repaired()))
        await library.revise(
            IMPORTING.model_copy(update={"requires": NEWER}),
            1,
            Provenance(origin=RequirementChanged(tool="a", version=2)),
        )
    async with place.open() as library:
        assert (await library.get("shout_text")).requires == NEWER
        assert [v.requires for v in await library.versions("shout_text")] == [
            NEWER,
            IMPORTING.requires,
        ]


async def test_a_removed_tool_serves_those_that_import_it(library: CapabilityRegistry) -> None:
    await library.add(REVERSE)
    tool = await library.add(IMPORTING)
    await library.remove("reverse_text")
    assert await PinnedSources(library).of(tool.requires) == {"reverse_text": REVERSE.code}


async def test_an_edit_is_pinned_to_what_it_imports_now(
    place: Place, library: CapabilityRegistry
) -> None:
    await library.add(REVERSE)
    await library.add(SHOUT)
    await library.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    (place.tools_dir / "shout_text.py").write_text(IMPORTING.code)
    draft = await library.edited("shout_text")
    assert draft.requires == NEWER
    assert (await library.accept(draft, Provenance(origin=Edited()))).requires == NEWER
    (place.tools_dir / "shout_text.py").write_text(SHOUT.code)
    assert (await library.edited("shout_text")).requires == ()


async def test_dependents_follow_a_repair_and_a_rollback_or_stay(
    library: CapabilityRegistry,
) -> None:
    await library.add(REVERSE)
    await library.add(IMPORTING)
    sandbox, told = ScriptedSandbox(passing(), failing("test_a")), list[Reverified]()
    work = Reverification(library, gate(sandbox), PinnedSources(library), told.append)
    await library.revise(REPAIRED, 1, Provenance(origin=Repaired()))
    await work.reverify_dependents("reverse_text")
    await library.rollback("reverse_text", 1)
    assert await work.outdated() == {"reverse_text"}
    await work.reverify_dependents("reverse_text")
    assert told == [
        Reverified(name="shout_text", version=2),
        Reverified(name="shout_text", version=2, problem="with the new version test_a failed"),
    ]
    assert sandbox.libraries == [{"reverse_text": REPAIRED.code}, {"reverse_text": REVERSE.code}]
    newest = (await library.versions("shout_text"))[0]
    assert (newest.requires, newest.provenance) == (
        NEWER,
        Provenance(origin=RequirementChanged(tool="reverse_text", version=2), verdict=passing()),
    )
