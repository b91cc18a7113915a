"""Library modules: what a tool imports of the library, in real containers."""

import json

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.verdict import Killed, Raised, Returned, SandboxJob, Version
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

HALF = "def half(n):\n    if n % 2:\n        raise ValueError(f'{n} is odd')\n    return n // 2\n"
QUARTER = "from half import half\n\ndef quarter(n):\n    return half(half(n))\n"
TOOL = "from quarter import quarter\n\ndef tool(n):\n    return quarter(n) + 1\n"
LIBRARY = {"half": HALF, "quarter": QUARTER}
SUITE = """
import pytest
from tool import tool

def test_value():
    assert tool(8) == 3

def test_error():
    with pytest.raises(ValueError, match="3 is odd"):
        tool(6)

def test_the_library_is_the_tools_alone():
    with pytest.raises(ModuleNotFoundError):
        import half
"""


async def test_a_tool_calls_tools_that_call_tools(sandbox: SecureSandbox) -> None:
    got = await sandbox.execute(SandboxJob("tool", TOOL, library=LIBRARY), {"n": 8})
    assert isinstance(got, Returned)
    assert got.data == "3"


READS = "from readcells import read_number\n\ndef reads(text):\n    return read_number(text)\n"


async def test_a_tool_and_those_that_it_imports_read_cells(sandbox: SecureSandbox) -> None:
    got = await sandbox.execute(SandboxJob("reads", READS), {"text": "(1.234,5 €)"})
    assert isinstance(got, Returned), got
    assert got.data == "-1234.5"
    code = "from reads import reads\n\ndef tool(text):\n    return reads(text)\n"
    suite = "from tool import tool\n\ndef test_it():\n    assert tool('2,5 %') == 2.5\n"
    verdict = await sandbox.verify(
        SandboxJob("tool", code, suite, library={"reads": READS}), lambda _: None
    )
    assert (verdict.passed, verdict.problem) == (True, None)


async def test_an_error_of_an_imported_tool_shows_the_way_to_it(sandbox: SecureSandbox) -> None:
    got = await sandbox.execute(SandboxJob("tool", TOOL, library=LIBRARY), {"n": 6})
    assert isinstance(got, Raised)
    assert (got.type_name, got.message) == ("ValueError", "3 is odd")
    assert got.traceback.splitlines() == [
        "tool.py, line 4, in tool: return quarter(n) + 1",
        "quarter.py, line 4, in quarter: return half(half(n))",
        "half.py, line 3, in half: raise ValueError(f'{n} is odd')",
    ]


async def test_a_suite_sees_the_tool_and_not_what_it_imports(sandbox: SecureSandbox) -> None:
    verdict = await sandbox.verify(
        SandboxJob("tool", TOOL, SUITE, library=LIBRARY), lambda result: None
    )
    assert (verdict.passed, verdict.problem, [t.outcome for t in verdict.tests]) == (
        True,
        None,
        ["passed"] * 3,
    )


async def test_versions_share_no_state_of_what_they_import(sandbox: SecureSandbox) -> None:
    counting = {
        "counter": "calls = []\ndef counter():\n    calls.append(1)\n    return len(calls)\n"
    }
    code = "from counter import counter\n\ndef tool():\n    return counter()\n"
    suite = "from tool import tool\n\ndef test_first():\n    assert tool() == 1\n"
    versions = [Version(code=code, apart=False)] * 3
    verdicts = await sandbox.verify_versions(
        SandboxJob("tool", tests=suite, library=counting), versions
    )
    assert [verdict.passed for verdict in verdicts] == [True] * 3


async def test_nothing_of_a_library_is_left_for_the_next_call(sandbox: SecureSandbox) -> None:
    code = "def tool(n):\n    import half\n    return half.half(n)\n"
    assert isinstance(
        await sandbox.execute(SandboxJob("tool", code, library=LIBRARY), {"n": 8}), Returned
    )
    got = await sandbox.execute(SandboxJob("tool", code), {"n": 8})
    assert isinstance(got, Raised)
    assert got.message.startswith(
        "The code needs the package `half`, which the sandbox does not have."
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("1 / 0\n", "ZeroDivisionError"),
        ("def half(:\n", "SyntaxError"),
        ("import nowhere\n", "ModuleNotFoundError"),
        ("other = 1\n", "ImportError"),
    ],
)
async def test_a_module_that_fails_while_it_is_imported_is_told(
    sandbox: SecureSandbox, source: str, told: str
) -> None:
    code = "from half import half\n\ndef tool():\n    return half(8)\n"
    got = await sandbox.execute(SandboxJob("tool", code, library={"half": source}), {})
    assert isinstance(got, Raised)
    assert got.type_name == told
    assert "half" in got.message + got.traceback or "nowhere" in got.message


async def test_a_module_that_ends_the_process_is_the_end_of_the_call(
    sandbox: SecureSandbox,
) -> None:
    code = "from half import half\n\ndef tool():\n    return half(8)\n"
    got = await sandbox.execute(
        SandboxJob("tool", code, library={"half": "import os\nos._exit(3)\n"}), {}
    )
    assert isinstance(got, Killed)
    assert got.reason == "The tool's process ended itself with exit code 3."


async def test_what_is_not_imported_is_not_loaded(sandbox: SecureSandbox) -> None:
    code = "import sys\n\ndef tool():\n    return sorted({'half', 'quarter'} & set(sys.modules))\n"
    got = await sandbox.execute(SandboxJob("tool", code, library=LIBRARY), {})
    assert isinstance(got, Returned)
    assert json.loads(got.data or "") == []


@pytest.mark.parametrize("name", ["json", "numpy", "pytest", "sandbox_worker", "tool", "no-name"])
async def test_a_module_that_would_shadow_another_is_refused(
    sandbox: SecureSandbox, name: str
) -> None:
    with pytest.raises(RequestError, match=name):
        await sandbox.execute(
            SandboxJob("tool", "def tool(): return 1", library={name: "x = 1"}), {}
        )


async def test_too_much_library_is_said(sandbox: SecureSandbox) -> None:
    library = {"half": HALF + "#" * 1024 * 1024}
    got = await sandbox.execute(SandboxJob("tool", "def tool(): return 1", library=library), {})
    assert isinstance(got, Killed)
    size = len(library["half"])
    assert (
        got.reason
        == f"The job is too large for the sandbox: 1 imported tool, {size} bytes in all, more "
        "than 1048576."
    )
    verdict = await sandbox.verify(
        SandboxJob("tool", "def tool(): return 1", SUITE, library=library), lambda result: None
    )
    assert verdict.problem == got.reason
