"""A sandbox in which code finds what it imports, with doubles of sandbox and library."""

from selfeng.core.package_lock import PackageLock
from selfeng.core.tool import Requirement
from selfeng.core.verdict import SandboxJob, Version
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from tests.doubles import ListedLibrary, ScriptedSandbox, passing, returned, tool

HALF = tool("half", "def half(n: int) -> int:\n    return n // 2\n")
IMPORTING = "from half import half\n\ndef quarter(n):\n    return half(half(n))\n"
PLAIN = "import json\n\ndef quarter(n):\n    return n // 4\n"


class CountedLibrary(ListedLibrary):
    """Counts how often a version is read."""

    reads = 0

    async def version(self, name: str, version: int):
        self.reads += 1
        return await super().version(name, version)


async def test_code_gets_what_it_imports_and_nothing_else() -> None:
    sandbox, library = ScriptedSandbox(passing(), passing(), returned()), CountedLibrary(HALF)
    linked = LinkedSandbox(sandbox, library, PinnedSources(library))
    await linked.verify(SandboxJob("quarter", IMPORTING, ""), lambda result: None)
    await linked.verify(SandboxJob("quarter", PLAIN, ""), lambda result: None)
    await linked.verify_versions(
        SandboxJob("quarter", tests=""),
        [Version(code=PLAIN), Version(code=IMPORTING), Version(code="def (")],
    )
    await linked.execute(SandboxJob("quarter", IMPORTING), {"n": 8})
    there = {"half": HALF.code}
    assert (sandbox.libraries, library.reads) == ([there, {}, there, there], 1)


async def test_code_gets_the_packages_of_what_it_imports() -> None:
    lock = PackageLock(requirements=("a",), text="a==1 --hash=sha256:0\n")
    sandbox, library = ScriptedSandbox(returned()), ListedLibrary(HALF)
    library.replace(HALF.model_copy(update={"lock": lock}))
    linked = LinkedSandbox(sandbox, library, PinnedSources(library))
    await linked.execute(SandboxJob("quarter", IMPORTING), {"n": 8})
    assert [job.lock for job in sandbox.jobs] == [lock]


async def test_what_is_given_counts_more_than_what_is_newest() -> None:
    sandbox, library = ScriptedSandbox(returned()), ListedLibrary(HALF)
    linked = LinkedSandbox(sandbox, library, PinnedSources(library))
    await linked.execute(SandboxJob("quarter", IMPORTING, library={"half": "older"}), {"n": 8})
    assert sandbox.libraries == [{"half": "older"}]


async def test_versions_that_need_different_versions_of_a_tool_run_one_by_one() -> None:
    newer = HALF.model_copy(update={"version": 2})
    third = tool("third", "def third(n: int) -> int:\n    return n // 3\n").model_copy(
        update={"requires": (Requirement(name="half", version=1),)}
    )
    library = TwoVersions(newer, third)
    sandbox = ScriptedSandbox()
    linked = LinkedSandbox(sandbox, library, PinnedSources(library))
    other = "from third import third\n\ndef quarter(n):\n    return third(n)\n"
    verdicts = await linked.verify_versions(
        SandboxJob("quarter", tests=""), [Version(code=IMPORTING), Version(code=other)]
    )
    assert len(verdicts) == 2
    assert sandbox.libraries == [{"half": "version 2"}, {"half": "version 1", "third": "version 1"}]


class TwoVersions(ListedLibrary):
    """Has every version of its tools."""

    async def version(self, name: str, version: int):
        return (await self.get(name)).model_copy(update={"code": f"version {version}"})


async def test_a_tool_that_was_removed_serves_those_that_import_it() -> None:
    library = ListedLibrary(HALF)
    await library.remove("half")
    assert await PinnedSources(library).of([Requirement(name="half", version=1)]) == {
        "half": HALF.code
    }
