"""What a change of a tool means for those composed from it, with doubles of sandbox and library."""

from src.composition.reverification import Reverification, Reverified
from src.composition.sources import PinnedSources
from src.core.tool import Requirement, Tool
from tests.doubles import ListedLibrary, ScriptedSandbox, failing, passing, tool


def made(name: str, *imported: str, requires: tuple[str, ...] = (), version: int = 1, standing: str = "trusted") -> Tool:
    code = "".join(f"from {other} import {other}\n" for other in imported) + f"def {name}(n: int) -> int:\n    return n\n"
    pins = tuple(Requirement(name=other, version=1) for other in sorted({*imported, *requires}))
    return tool(name, code).model_copy(update={"requires": pins, "version": version, "standing": standing})


class Shelf(ListedLibrary):
    """Keeps every version."""

    def __init__(self, *tools: Tool) -> None:
        super().__init__(*tools)
        self.versions = {(t.name, t.version): t for t in tools}

    def put(self, tool: Tool) -> None:
        self.replace(tool)
        self.versions[tool.name, tool.version] = tool

    async def version(self, name: str, version: int) -> Tool:
        return self.versions[name, version]

    async def revise(self, tool: Tool, requires: tuple[Requirement, ...]) -> Tool:
        revised = tool.model_copy(update={"version": tool.version + 1, "requires": requires})
        self.put(revised)
        return revised


async def reverified(library: Shelf, sandbox: ScriptedSandbox) -> tuple[Reverified, ...]:
    """What becomes of all when `half` goes from version 1 to 2."""
    library.put(made("half", version=2).model_copy(update={"code": "newer half"}))
    told: list[Reverified] = []
    work = Reverification(library, sandbox, PinnedSources(library), library.revise, told.append)
    outcomes = await work.reverify_dependents("half", 1, 2)
    assert tuple(told) == outcomes
    return outcomes


async def test_dependents_follow_in_the_order_in_which_they_need_each_other():
    library = Shelf(made("eighth", "quarter", "half", requires=("half",)), made("quarter", "half"), made("half"), made("other"))
    sandbox = ScriptedSandbox(passing(), passing())
    assert await reverified(library, sandbox) == (Reverified(name="quarter", version=2), Reverified(name="eighth", version=2))
    assert [set(given) for given in sandbox.libraries] == [{"half"}, {"half", "quarter"}]
    assert {given["half"] for given in sandbox.libraries} == {"newer half"}
    assert (await library.get("eighth")).requires == (Requirement(name="half", version=2), Requirement(name="quarter", version=2))
    assert (await library.get("other")).version == 1


async def test_one_that_fails_keeps_its_pins_and_says_so():
    library = Shelf(made("half"), made("quarter", "half"))
    outcomes = await reverified(library, ScriptedSandbox(failing("test_a", "test_b")))
    assert outcomes == (Reverified(name="quarter", version=1, problem="with the new version test_a, test_b failed"),)
    assert (await library.get("quarter")).requires == (Requirement(name="half", version=1),)
    assert str(outcomes[0]) == "quarter keeps what it was verified with: with the new version test_a, test_b failed"


async def test_what_rests_on_one_that_failed_stays_as_well():
    through, both = made("eighth", "quarter", requires=("half",)), made("mixed", "quarter", "half")
    library = Shelf(made("half"), made("quarter", "half"), through, both)
    outcomes = {o.name: o.problem for o in await reverified(library, ScriptedSandbox(failing("test_a")))}
    assert outcomes == {
        "quarter": "with the new version test_a failed",
        "eighth": "it meets the change only through tools that keep their own pins (quarter)",
        "mixed": "what it imports needs versions 1 and 2 of half",
    }


async def test_retired_tools_and_those_with_another_version_are_left_alone():
    older = made("quarter", "half").model_copy(update={"requires": (Requirement(name="half", version=7),)})
    assert await reverified(Shelf(made("half"), older, made("old", "half", standing="retired")), ScriptedSandbox()) == ()
