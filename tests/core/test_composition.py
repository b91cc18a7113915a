"""The library tools that code imports, by its source."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from selfeng.core.composition import Importable
from selfeng.core.package_lock import Package, PackageLock
from selfeng.core.tool import Requirement, Tool
from tests.doubles import tool


def shelf_tool(name: str, version: int = 1, **changes: object) -> Tool:
    return tool(name, f"def {name}(n: int) -> int:\n    return n\n").model_copy(
        update={"version": version, **changes}
    )


def pin(name: str, version: int = 1) -> Requirement:
    return Requirement(name=name, version=version)


HALF = shelf_tool("half", 2)
QUARTER = shelf_tool("quarter", requires=(pin("half", 1),))
EIGHTH = shelf_tool("eighth", requires=(pin("half", 2), pin("quarter", 1)))
OLD = shelf_tool("old_tool", standing="retired")
TOOLS = Importable((HALF, QUARTER, EIGHTH, OLD))


@pytest.mark.parametrize(
    ("code", "requires"),
    [
        ("import json\nfrom math import pi", ()),
        ("from half import half", (pin("half", 2),)),
        ("import quarter", (pin("half", 1), pin("quarter"))),
        (
            "def f():\n    from eighth import eighth",
            (pin("eighth"), pin("half", 2), pin("quarter")),
        ),
    ],
)
def test_imports_pin_versions_with_all_that_these_need(
    code: str, requires: tuple[Requirement, ...]
) -> None:
    assert (TOOLS.requires(code), TOOLS.problem(code, "new_tool")) == (requires, None)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (
            "from half import half as h",
            "the code must import the tool half as `from half import half`",
        ),
        (
            "from half import other",
            "the code must import the tool half as `from half import half`",
        ),
        (
            "import half as h",
            "the code must import the tool half as `from half import half`",
        ),
        (
            "import half.more",
            "the code must import the tool half as `from half import half`",
        ),
        ("from old_tool import old_tool", "the tool old_tool is retired; do without it"),
        (
            "from half import half\nfrom quarter import quarter",
            "half comes with version 2 of half, and quarter with version 1, but only one can be "
            "there; import only one of half and quarter",
        ),
    ],
)
def test_what_may_not_be_imported_is_said_with_the_reason(code: str, problem: str) -> None:
    assert TOOLS.problem(code, "new_tool") == problem


@pytest.mark.parametrize("code", ["from half import half", "from quarter import quarter"])
def test_a_tool_that_needs_itself_is_refused(code: str) -> None:
    problem = TOOLS.problem(code, "half") or ""
    assert "makes a cycle, as it needs half itself" in problem


class Litter:
    """A cycle of objects that lets other threads run when it is collected."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(1000))


def test_threads_may_look_for_imports_at_once() -> None:
    before = sys.getswitchinterval()
    code = "\n".join(f"def f{n}(a):\n    return [a * x for x in (1, {n})]" for n in range(300))

    def look(_: int) -> list[Tool]:
        litter = [Litter() for _ in range(50)]
        del litter
        return TOOLS.imported(code)

    sys.setswitchinterval(0.0001)
    try:
        with ThreadPoolExecutor(3) as threads:
            assert list(threads.map(look, range(60))) == [[]] * 60
    finally:
        sys.setswitchinterval(before)


def locked(**versions: str) -> PackageLock:
    pins = (f"{name}=={version}" for name, version in versions.items())
    facts = tuple(Package(name=n, version=v, modules=(n,)) for n, v in versions.items())
    text = "".join(f"{pin} --hash=sha256:0\n" for pin in pins)
    return PackageLock(requirements=tuple(sorted(versions)), text=text, facts=facts)


WORDS = shelf_tool("words", lock=locked(humanize="4.9.0"))
TIMES = shelf_tool("times", lock=locked(humanize="4.9.0", arrow="1.3.0"))
OLDER = shelf_tool("older", lock=locked(humanize="4.8.0"))
NEEDING = Importable((HALF, WORDS, TIMES, OLDER))
BOTH = "from words import words\nfrom times import times\n"
CLASHING = "from words import words\nfrom older import older\n"


def test_the_packages_of_imported_tools_are_there_once() -> None:
    assert NEEDING.problem(BOTH, "new_tool") is None
    lock = NEEDING.lock(BOTH, locked(rich="13.9.0"))
    assert lock
    assert lock.versions == {"arrow": "1.3.0", "humanize": "4.9.0", "rich": "13.9.0"}
    assert lock.requirements == ("arrow", "humanize", "rich")
    assert lock.modules == {"arrow": "arrow", "humanize": "humanize", "rich": "rich"}
    assert NEEDING.lock("from half import half") is None
    assert NEEDING.lock("from words import words") == WORDS.lock


def test_tools_whose_packages_differ_can_not_be_combined() -> None:
    assert NEEDING.problem(CLASHING, "new_tool") == (
        "older needs humanize 4.8.0, and words needs humanize 4.9.0, but only one can be there; "
        "do without words"
    )
    own = locked(arrow="1.2.0")
    assert NEEDING.problem("from times import times", "new_tool", own) == (
        "new_tool needs arrow 1.2.0, and times needs arrow 1.3.0, but only one can be there; do "
        "without times"
    )
