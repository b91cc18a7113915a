"""The gate in the real sandbox: what is flaky or vacuous is told, whoever wrote it."""

import pytest

from selfeng.core.errors import SandboxUnavailable, SynthesisFailed
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import Version
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = "import pytest\nfrom tool import tool\n\n"
SUITE = (
    HEAD
    + "def test_one():\n    assert tool(1) == 2\n\n\ndef test_two():\n    assert tool(2) == 4\n"
)
CODE = "def tool(n):\n    return 2 * n\n"


async def examine(sandbox: SecureSandbox, tests: str, code: str = CODE) -> None:
    draft = ToolDraft(
        name="tool", description="", signature=parse_signature(code, "tool"), code=code, tests=tests
    )
    await SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(), model_name="").examine(draft)


async def test_an_honest_tool_passes(sandbox: SecureSandbox) -> None:
    await examine(sandbox, SUITE)


@pytest.mark.parametrize(
    ("tests", "problem"),
    [
        (
            HEAD + "def test_a():\n    try: assert tool(1)==2\n    except Exception: pass",
            "test_a swallows its own failures",
        ),
        (HEAD + "def test_a():\n    assert True", "test_a asserts what is always true"),
        (
            "import tool\ndef test_a():\n    assert tool.tool(3)==tool.tool(3)",
            r"test_a compares `tool\.tool\(3\)` with itself",
        ),
        (
            "def tool(x): return x\ndef test_a(): assert tool(1)==1",
            "the suite defines `tool`, the function under test",
        ),
        (
            HEAD + "pytestmark=pytest.mark.skip\ndef test_a(): assert False",
            "the suite uses pytest's skip",
        ),
        (
            HEAD + "def test_a(): assert tool(2)==4\ndef test_b(): assert tool(2)==5",
            r"test_a and test_b contradict: `tool\(2\)` is 4",
        ),
        ("import random\ndef test_a(): assert random.random()<0.5", "test_a draws at random"),
    ],
)
async def test_suites_that_no_tool_should_pass_are_refused(
    sandbox: SecureSandbox, tests: str, problem: str
) -> None:
    with pytest.raises(SynthesisFailed, match=f"^tool: {problem}") as caught:
        await examine(sandbox, tests)
    assert caught.value.where == "test"


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        (
            "with pytest.raises(Exception, match=''):\n        tool(7)",
            "these tests pass on an empty stub, so they test nothing: test_a",
        ),
        (
            "with pytest.raises(TypeError):\n        tool()",
            "these tests pass on an empty stub, so they test nothing: test_a",
        ),
    ],
)
async def test_tests_that_accept_anything_are_named(
    sandbox: SecureSandbox, test: str, problem: str
) -> None:
    with pytest.raises(SynthesisFailed, match=f"^tool: {problem}"):
        await examine(sandbox, f"{SUITE}\n\ndef test_a():\n    {test}\n")


async def test_tests_that_contradict_each_other_out_of_sight_are_passed_by_nothing(
    sandbox: SecureSandbox,
) -> None:
    tests = (
        HEAD
        + "WANTED = {'a': 4, 'b': 5}\ndef test_a(): assert tool(2)==WANTED['a']\ndef test_b(): "
        "assert tool(2)==WANTED['b']"
    )
    with pytest.raises(SynthesisFailed, match=r"^tool: 1 of 2 tests failed: test_b") as caught:
        await examine(sandbox, tests)
    assert caught.value.where == "verify"


async def test_a_suite_whose_tests_need_each_other_is_flaky(sandbox: SecureSandbox) -> None:
    first = "SEEN = []\ndef test_a():\n    SEEN.append(1)\n    assert tool(1) == 2\n"
    second = "def test_b():\n    if SEEN:\n        assert tool(2) == 4\n"
    with pytest.raises(
        SynthesisFailed,
        match=r"^tool: the suite is flaky: on an empty stub it gave another result .* test_b "
        r"passed",
    ):
        await examine(sandbox, HEAD + first + second)


async def test_a_tool_that_remembers_earlier_calls_is_flaky(sandbox: SecureSandbox) -> None:
    code = (
        "largest = 0\n\ndef tool(n):\n    global largest\n    largest = max(n, largest)\n    "
        "return 2 * largest\n"
    )
    problem = (
        "^tool: flaky: every test passed at first, but run again in reversed order .* "
        "test_one failed.*keep no state between calls"
    )
    with pytest.raises(SynthesisFailed, match=problem) as caught:
        await examine(sandbox, SUITE, code)
    assert caught.value.where == "verify"


async def test_every_repeat_has_another_hash_seed(sandbox: SecureSandbox) -> None:
    code = "print(hash('a'))\n" + CODE
    first = await sandbox.verify("tool", code, SUITE, lambda _: None)
    again = await sandbox.verify_versions(
        "tool", [Version(code=code, order="reversed"), Version(code=code, order="shuffled")], SUITE
    )
    assert all(v.passed for v in (first, *again))
    assert len({v.output for v in (first, *again)}) == 3


async def test_a_missing_engine_is_said_as_such() -> None:
    sandbox = SecureSandbox(image="none", base_image="none", timeout=1)
    with pytest.raises(SandboxUnavailable):
        await examine(sandbox, SUITE)
    await sandbox.aclose()
