"""One chain, whoever brings the tool: what a person edited, what a model mended and what a change
of imports means, on a real backend.
"""

from collections.abc import Awaitable, Callable

import pytest

from selfeng.core.errors import SynthesisFailed
from selfeng.core.events import Event, SynthesisStep
from selfeng.core.signature import parse_signature
from selfeng.core.tool import Requirement, Tool
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import SandboxJob
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.mutants import strength
from selfeng.synthesis.programming import FailedCall
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import ListedLibrary, ScriptedModel, fenced, tool

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = "import pytest\nfrom tool import tool\n\n\n"
TESTS = (
    HEAD
    + "def test_one():\n    assert tool(1) == 2\n\n\ndef test_nine():\n    assert tool(9) == 18\n"
)
DOUBLE = "def tool(n):\n    return 2 * n\n"


def kept(tests: str = TESTS, code: str = DOUBLE, name: str = "tool") -> Tool:
    return tool(name, code).model_copy(update={"tests": tests})


def engine(
    sandbox: SecureSandbox, library: ListedLibrary, *replies: str, bar: float = 0
) -> SynthesisEngine:
    linked = LinkedSandbox(sandbox, library, PinnedSources(library))
    return SynthesisEngine(
        ScriptedModel(*replies), linked, library, "scripted", SynthesisPolicy(mutation_score=bar)
    )


async def by_hand(
    sandbox: SecureSandbox, before: Tool, tests: str, code: str, bar: float = 0
) -> str:
    """Why an edit of both files is refused, "" if it is not."""
    draft = before.draft().model_copy(
        update={"tests": tests, "code": code, "signature": parse_signature(code, "tool")}
    )
    try:
        await engine(sandbox, ListedLibrary(before), bar=bar).examine(draft)
    except SynthesisFailed as error:
        return error.message
    return ""


async def mended(
    sandbox: SecureSandbox, before: Tool, tests: str, code: str, bar: float = 0
) -> str:
    """Why what a model mended is not taken, "" if it is."""
    known, events = before.model_copy(update={"tests": tests}), list[Event]()
    made = await engine(sandbox, ListedLibrary(known), fenced(code), bar=bar).mend(
        Turn(Request("r"), events.append),
        known,
        FailedCall(call="tool(0)", failure="KeyError", reason="KeyError"),
    )
    return (
        ""
        if made
        else next(e.text for e in events if isinstance(e, SynthesisStep) and e.state == "failed")
    )


async def reverified(
    sandbox: SecureSandbox, before: Tool, tests: str, code: str, bar: float = 0
) -> str:
    """Why a tool keeps the old version of what it imports, "" if it takes the new one."""
    part, new = (
        c.replace("def tool(", "def part(").replace("return tool(", "return part(")
        for c in (before.code, code)
    )
    composed = kept(tests, "from part import part\n\n\ndef tool(n):\n    return part(n)\n")
    composed = composed.model_copy(update={"requires": (Requirement(name="part", version=1),)})
    verdict = await engine(
        sandbox, ListedLibrary(kept("", part, "part"), composed), bar=bar
    ).reexamine(composed, {"part": new})
    return verdict.problem or ""


Door = Callable[..., Awaitable[str]]
DOORS = pytest.mark.parametrize("door", [by_hand, mended, reverified])

STATE = "last = 0\n\ndef tool(n):\n    global last\n    last = max(last, n)\n    return 2 * last\n"
REFUSED = {
    "policy": (
        TESTS + "\n\n@pytest.mark.skip\ndef test_more():\n    assert tool(3) == 6\n",
        DOUBLE,
        "uses pytest's skip",
    ),
    "red": (
        TESTS
        + "\n\ndef test_more():\n    with pytest.raises(Exception, match=''):\n        tool('a', 1)\n",
        DOUBLE,
        "these tests pass on an empty stub",
    ),
    "replays": (
        TESTS
        + "\n\ndef test_more():\n    one, other = tool(3), tool(3)\n    assert one == other\n",
        DOUBLE,
        "test_more passes whatever tool does",
    ),
    "green": (TESTS, STATE, "flaky: every test passed at first"),
    "comparison": (
        TESTS,
        "def tool(n):\n    return 2 * n if n in (1, 9) else n\n",
        "version 1 returns",
    ),
}


@DOORS
@pytest.mark.parametrize("link", REFUSED)
async def test_no_door_leads_past_a_link(sandbox: SecureSandbox, door: Door, link: str) -> None:
    tests, code, problem = REFUSED[link]
    assert problem in await door(sandbox, kept(), tests, code)


@DOORS
async def test_an_honest_change_comes_through_every_door(
    sandbox: SecureSandbox, door: Door
) -> None:
    assert await door(sandbox, kept(), TESTS, "def tool(n):\n    return n + n\n") == ""


WORDS = """import pytest
from tool import tool

@pytest.mark.parametrize("text, want", [("to be or", 3), pytest.param("be", 1), ("a b", 2)])
def test_counts(text, want):
    assert tool(text) == want
"""
PAIRS = """from tool import tool

CASES = [([3, 1, 2], [1, 2, 3]), ([9, 8, 7, 6], [6, 7, 8, 9])]

def test_sorts():
    for items, wanted in CASES:
        assert tool(items) == wanted
"""
RATE = """import tool

def test_share():
    whole = 50
    assert tool.tool(whole, rate=10) == 5

def test_all():
    assert tool.tool(8, rate=100) == 8
"""
UNSEEN = {
    "another value": (
        WORDS,
        "def tool(text):\n    return len(text.split())\n",
        "def tool(text):\n    return text.count(' ') + 1\n",
    ),
    "an error": (
        PAIRS,
        "def tool(items):\n    return sorted(items)\n",
        "def tool(items):\n    if len(set(items)) < len(items):\n        raise "
        "ValueError('twice')\n    return sorted(items)\n",
    ),
    "no end": (
        PAIRS,
        "def tool(items):\n    return sorted(items)\n",
        "def tool(items):\n    while len(items) > 4 or len(items) < 3:\n        pass\n    return "
        "sorted(items)\n",
    ),
    "another default": (
        RATE,
        "def tool(whole, rate):\n    return whole * rate // 100\n",
        "def tool(whole, rate, digits=1):\n    return round(whole * rate / 100, digits)\n",
    ),
}


@pytest.mark.parametrize("how", UNSEEN)
async def test_what_the_version_before_returned_stays_where_no_test_says_otherwise(
    sandbox: SecureSandbox, how: str
) -> None:
    tests, before, after = UNSEEN[how]
    refused = await by_hand(sandbox, kept(tests, before), tests, after)
    assert "version 1 returns" in refused
    assert "add a test that says which is right" in refused


SAID = {
    "another value": (
        WORDS + "\ndef test_blank():\n    assert tool('a  b') == 3\n",
        *UNSEEN["another value"][1:],
    ),
    "an error": (
        "import pytest\n"
        + PAIRS
        + "\ndef test_twice():\n    with pytest.raises(ValueError):\n        tool([1, 1])\n",
        *UNSEEN["an error"][1:],
    ),
    "a further parameter": (
        RATE + "\ndef test_digits():\n    assert tool.tool(1, rate=33, digits=1) == 0.3\n",
        UNSEEN["another default"][1],
        "def tool(whole, rate, digits=0):\n    return round(whole * rate / 100, digits) if digits "
        "else whole * rate // 100\n",
    ),
    "errors that are gone": (
        "from tool import tool\n\ndef test_last():\n    assert tool([1, 2]) == 2\n\ndef "
        "test_one():\n    assert tool([5]) == 5\n",
        "def tool(items):\n    return {2: items[1], 1: items[0]}[len(items)]\n",
        "def tool(items):\n    return items[-1]\n",
    ),
}


@pytest.mark.parametrize("how", SAID)
async def test_a_change_that_a_test_states_is_taken(sandbox: SecureSandbox, how: str) -> None:
    tests, before, after = SAID[how]
    assert await by_hand(sandbox, kept(tests, before), tests, after) == ""


ONE = "from tool import tool\n\ndef test_one():\n    assert tool({given}) == {wanted}\n"
WEAK = {
    "limits": (
        ONE.format(given=50, wanted=51),
        "def tool(n):\n    if n < 0:\n        return 10\n    if n > 99:\n        return 99\n    "
        "return 5 if n in (7, 13) else n + 1\n",
    ),
    "a table": (
        ONE.format(given="'b'", wanted=2),
        "def tool(text):\n    return {'a': 1, 'b': 2, 'c': 3, 'd': 5, 'e': 8, 'f': 13}.get(text, "
        "0)\n",
    ),
    "a loop": (
        ONE.format(given="[4]", wanted="[5]"),
        "def tool(items):\n    out = []\n    for n in items:\n        if n > 10 and n % 2 == 1:\n "
        "           out.append(n * 3 + 1)\n"
        "        elif n < 0:\n            out.append(n - 2)\n        else:\n            "
        "out.append(n + 1)\n    return out\n",
    ),
}


@DOORS
@pytest.mark.parametrize("what", WEAK)
async def test_a_suite_that_notices_few_mutants_lets_nothing_in(
    sandbox: SecureSandbox, door: Door, what: str
) -> None:
    tests, code = WEAK[what]
    if door is reverified:
        code = f"from part import part\n\n\n{code}"
        weak = kept(tests, code).model_copy(
            update={"requires": (Requirement(name="part", version=1),)}
        )
        part = kept("", "def part():\n    return 1\n", "part")
        problem = (
            await engine(sandbox, ListedLibrary(part, weak), bar=0.5).reexamine(
                weak, {"part": part.code}
            )
        ).problem or ""
    else:
        problem = await door(sandbox, kept(tests, code), tests, code, 0.5)
    assert problem.partition("only ")[0].endswith("the tests notice "), problem


FAILING_BESIDE_MUTANTS = {
    "it marks the interpreter": "import sys\n\n\ndef tool(n):\n"
    "    if getattr(sys, 'seen', tool) is not tool:\n        raise RuntimeError\n"
    "    sys.seen = tool\n    return 2 * n\n",
    "it counts the processes": "import os\n\n\ndef tool(n):\n"
    "    others = [name for name in os.listdir('/proc') if name.isdigit()]\n"
    "    return 2 * n if len(others) == 3 else None\n",
    "it counts its own lines": "import inspect\n\n\ndef tool(n):\n    # a comment\n"
    "    return 2 * n if len(inspect.getsource(tool).split(chr(10))) == 4 else None\n",
    "it counts its loads": "import builtins\n\nbuiltins.loads = getattr(builtins, 'loads', 0) + 1\n"
    "LOADS = builtins.loads\n\n\ndef tool(n):\n    return [None, 2 * n, None][min(LOADS, 2)]\n",
}


@pytest.mark.parametrize("what", FAILING_BESIDE_MUTANTS)
async def test_a_tool_that_fails_where_its_mutants_run_proves_nothing(
    sandbox: SecureSandbox, what: str
) -> None:
    code = FAILING_BESIDE_MUTANTS[what]
    assert (await sandbox.verify(SandboxJob("tool", code, TESTS), lambda _: None)).passed
    found = await strength(sandbox, SandboxJob("tool", code, TESTS))
    assert found.score == 0
    assert found.problem.startswith("the tool fails where its mutants run")


async def test_a_mutant_that_does_not_load_is_not_counted(sandbox: SecureSandbox) -> None:
    code = (
        "LIMITS = [1, 2]\nif LIMITS != [1, 2]:\n    raise ValueError\nwhile LIMITS[0] > 1:\n"
        "    pass\n\n\ndef tool(n):\n    return 2 * n if n else 0\n"
    )
    found = await strength(sandbox, SandboxJob("tool", code, TESTS))
    assert (found.killed, found.mutants) == (4, 8)
    verdict = await sandbox.verify(SandboxJob("tool", f"{code}\n1 / 0\n", TESTS), lambda _: None)
    assert not verdict.loaded
