"""The gate in the real sandbox: what is flaky or vacuous is told, whoever wrote it."""

import pytest

from selfeng.core.errors import SandboxUnavailable, SynthesisFailed
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import SandboxJob, Version
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
            "these tests pass on an empty stub, so they test nothing: test_a",
        ),
        (HEAD + "def test_a():\n    assert True", "these tests pass on an empty stub"),
        (
            "import tool\ndef test_a():\n    assert tool.tool(3)==tool.tool(3)",
            "the suite passes on a function that returns None",
        ),
        (
            "def tool(x): return x\ndef test_a(): assert tool(1)==1",
            "the suite does not import the function with `from tool import tool`",
        ),
        (
            HEAD + "pytestmark=pytest.mark.skip\ndef test_a(): assert False",
            "the suite uses pytest's skip",
        ),
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


GROUPS = {
    "calls in tasks": "async def check(n):\n    assert tool(n) == 2 * n\n\n\n",
    "calls in threads": "async def check(n):\n"
    "    assert await asyncio.to_thread(tool, n) == 2 * n\n\n\n",
    "groups in groups": "async def check(n):\n    async with asyncio.TaskGroup() as inner:\n"
    "        inner.create_task(other(n))\n\n\n"
    "async def other(n):\n    assert tool(n) == 2 * n\n\n\n",
    "errors with a cause": "async def check(n):\n    try:\n        assert tool(n) == 2 * n\n"
    "    except Exception as error:\n        raise RuntimeError('it failed') from error\n\n\n",
}


@pytest.mark.parametrize("how", GROUPS)
async def test_tests_that_use_task_groups_can_be_passed(sandbox: SecureSandbox, how: str) -> None:
    suite = (
        f"import asyncio\nfrom tool import tool\n\n\n{GROUPS[how]}"
        "async def run():\n    async with asyncio.TaskGroup() as group:\n"
        "        for n in (1, 2):\n            group.create_task(check(n))\n\n\n"
        "def test_all():\n    asyncio.run(run())\n"
    )
    await examine(sandbox, suite)
    with pytest.raises(SynthesisFailed, match="test_all"):
        await examine(sandbox, suite, "def tool(n):\n    return n\n")


async def test_an_error_in_a_task_group_before_the_call_is_named(sandbox: SecureSandbox) -> None:
    suite = (
        f"import asyncio\n{SUITE}\n\nasync def check():\n    assert tool(given) == 2\n\n\n"
        "async def run():\n    async with asyncio.TaskGroup() as group:\n"
        "        group.create_task(check())\n\n\n"
        "def test_all():\n    asyncio.run(run())\n"
    )
    with pytest.raises(SynthesisFailed, match=r"no code can pass .* test_all \(NameError: name"):
        await examine(sandbox, suite)


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
    first = await sandbox.verify(SandboxJob("tool", code, SUITE), lambda _: None)
    again = await sandbox.verify_versions(
        SandboxJob("tool", tests=SUITE),
        [Version(code=code, order="reversed"), Version(code=code, order="shuffled")],
    )
    assert all(v.passed for v in (first, *again))
    assert len({v.output for v in (first, *again)}) == 3


async def test_a_missing_engine_is_said_as_such() -> None:
    sandbox = SecureSandbox(image="none", base_image="none", timeout=1)
    with pytest.raises(SandboxUnavailable):
        await examine(sandbox, SUITE)
    await sandbox.aclose()
