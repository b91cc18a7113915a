"""The effect of a tool's change on those composed from it, with doubles of sandbox and library."""

from selfeng.core.errors import SandboxUnavailable, ToolModified
from selfeng.core.provenance import Provenance, RequirementChanged, ToolVersion
from selfeng.core.tool import Requirement, Tool, ToolDraft
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.library.composition.reverification import Reverification, Reverified
from selfeng.library.library_snapshot import LibraryChange
from tests.doubles import ListedLibrary, ScriptedSandbox, failing, gate, passing, tool


def made(
    name: str,
    *imported: str,
    requires: tuple[str, ...] = (),
    version: int = 1,
    standing: str = "trusted",
) -> Tool:
    code = (
        "".join(f"from {other} import {other}\n" for other in imported)
        + f"def {name}(n: int) -> int:\n    return n\n"
    )
    pins = tuple(Requirement(name=other, version=1) for other in sorted({*imported, *requires}))
    return tool(name, code).model_copy(
        update={"requires": pins, "version": version, "standing": standing}
    )


HALF_REVISED = LibraryChange(name="half", change="revised", reason="It has a new version.")
NEWER = made("half", version=2).model_copy(update={"code": "newer half"})


class Background:
    """Re-verification with doubles, and what it told."""

    def __init__(self, library: ListedLibrary, *outcomes: object) -> None:
        self.library, self.sandbox, self.told = (
            library,
            ScriptedSandbox(*outcomes),
            list[Reverified](),
        )
        self.work = Reverification(
            library, gate(self.sandbox), PinnedSources(library), self.told.append
        )

    async def after_change(self) -> tuple[Reverified, ...]:
        """The outcomes of all when `half` goes from version 1 to 2."""
        self.library.replace(NEWER)
        outcomes = await self.work.reverify_dependents("half")
        assert tuple(self.told) == outcomes
        return outcomes


async def test_dependents_follow_in_the_order_in_which_they_need_each_other():
    library = ListedLibrary(
        made("eighth", "quarter", "half", requires=("half",)),
        made("quarter", "half"),
        made("half"),
        made("other"),
    )
    run = Background(library, passing(), passing())
    assert await run.after_change() == (
        Reverified(name="quarter", version=2),
        Reverified(name="eighth", version=2),
    )
    assert [set(given) for given in run.sandbox.libraries] == [{"half"}, {"half", "quarter"}]
    assert {given["half"] for given in run.sandbox.libraries} == {"newer half"}
    assert (await library.get("eighth")).requires == (
        Requirement(name="half", version=2),
        Requirement(name="quarter", version=2),
    )
    assert (await library.get("other")).version == 1


async def test_the_version_says_which_change_made_it():
    run = Background(ListedLibrary(made("half"), made("quarter", "half")), passing())
    await run.after_change()
    version: ToolVersion = await run.library.version("quarter", 2)
    assert version.provenance == Provenance(
        origin=RequirementChanged(tool="half", version=2), verdict=passing()
    )
    assert version.code == made("quarter", "half").code


async def test_one_that_fails_keeps_its_pins_and_says_so():
    run = Background(
        ListedLibrary(made("half"), made("quarter", "half")), failing("test_a", "test_b")
    )
    outcomes = await run.after_change()
    assert outcomes == (
        Reverified(name="quarter", version=1, problem="with the new version test_a, test_b failed"),
    )
    assert (await run.library.get("quarter")).requires == (Requirement(name="half", version=1),)
    assert (
        str(outcomes[0])
        == "quarter keeps its pinned versions: with the new version test_a, test_b failed"
    )


async def test_what_rests_on_one_that_failed_stays_as_well():
    through, both = made("eighth", "quarter", requires=("half",)), made("mixed", "quarter", "half")
    run = Background(
        ListedLibrary(made("half"), made("quarter", "half"), through, both), failing("test_a")
    )
    assert {o.name: o.problem for o in await run.after_change()} == {
        "quarter": "with the new version test_a failed",
        "eighth": "it uses the change only through tools that keep their own pins (quarter)",
        "mixed": "what it imports needs versions 1 and 2 of half",
    }


async def test_retired_tools_are_left_alone_and_those_that_fell_behind_earlier_are_tried_again():
    behind = made("quarter", "half").model_copy(
        update={"requires": (Requirement(name="half", version=0),)}
    )
    library = ListedLibrary(made("half"), behind, made("old", "half", standing="retired"))
    assert await Background(library, passing()).after_change() == (
        Reverified(name="quarter", version=2),
    )


async def test_a_dependent_that_was_edited_by_hand_is_left_and_told():
    class Edited(ListedLibrary):
        async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
            raise ToolModified(f"{draft.name}.py was edited by hand")

    outcomes = await Background(
        Edited(made("half"), made("quarter", "half")), passing()
    ).after_change()
    assert outcomes == (
        Reverified(name="quarter", version=1, problem="quarter.py was edited by hand"),
    )


async def test_a_change_is_followed_in_the_background():
    run = Background(ListedLibrary(made("half"), made("quarter", "half")), passing())
    run.library.replace(NEWER)
    run.work.follow(HALF_REVISED)
    assert run.told == []
    await run.work.wait_idle()
    assert run.told == [Reverified(name="quarter", version=2)]


async def test_what_the_end_interrupted_is_done_by_the_next_that_begins():
    run = Background(ListedLibrary(made("half"), made("quarter", "half")), passing())
    run.library.replace(NEWER)
    run.work.follow(HALF_REVISED)
    await run.work.aclose()
    assert run.told == []
    run.work.begin()
    await run.work.wait_idle()
    assert run.told == [Reverified(name="quarter", version=2)]


async def test_a_broken_sandbox_leaves_the_pins_and_ends_nothing():
    run = Background(
        ListedLibrary(made("half"), made("quarter", "half")),
        SandboxUnavailable("no engine"),
        passing(),
    )
    run.library.replace(NEWER)
    for _ in range(2):
        run.work.begin()
        await run.work.wait_idle()
    assert run.told == [Reverified(name="quarter", version=2)]
