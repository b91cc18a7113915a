"""One call of a tool in a real container."""

import json

import pytest

from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def execute(sandbox: SecureSandbox, code: str, **arguments: object) -> Execution:
    """The outcome without its duration."""
    outcome = await sandbox.execute(SandboxJob("tool", code), arguments)
    assert outcome.seconds > 0
    plain = {"value": None, "readable": None} if isinstance(outcome, Returned) else {}
    return outcome.model_copy(update={"seconds": 0.0, **plain})


async def test_a_value_returns_with_what_was_printed(sandbox: SecureSandbox) -> None:
    code = "def tool(a, b=2):\n    print('adding')\n    return {'sum': a + b}"
    assert await execute(sandbox, code, a=1) == Returned(
        type_name="dict", text="{'sum': 3}", data='{"sum":3}', stdout="adding\n"
    )


async def test_arguments_stay_json(sandbox: SecureSandbox) -> None:
    code = (
        "import datetime\ndef tool(day: datetime.date, texts: set): return "
        "[type(day).__name__, texts]"
    )
    given = {"day": "2024-02-29", "texts": ["a\u00e9", None, 1.5, {"x": []}]}
    got = await execute(sandbox, code, **given)
    assert isinstance(got, Returned)
    assert got.data == '["str",["aé",null,1.5,{"x":[]}]]'
    assert got.text == "['str', ['a\u00e9', None, 1.5, {'x': []}]]"


async def test_surrogates_in_text_are_written_out(sandbox: SecureSandbox) -> None:
    got = await execute(sandbox, "def tool():\n    print('\\ud801')\n    return '\\ud800'")
    assert got == Returned(type_name="str", text="\\ud800", data=None, stdout="\\ud801\n")


async def test_an_exception_returns_with_its_place_in_the_tool(sandbox: SecureSandbox) -> None:
    code = (
        "class Odd(Exception): pass\ndef helper(n):\n    raise Odd(f'{n} is odd')\ndef "
        "tool(n):\n    return helper(n)"
    )
    assert await execute(sandbox, code, n=3) == Raised(
        type_name="Odd",
        message="3 is odd",
        traceback="tool.py, line 5, in tool: return helper(n)\ntool.py, line 3, in helper: raise "
        "Odd(f'{n} is odd')",
    )


@pytest.mark.parametrize(
    ("code", "type_name", "message"),
    [
        ("import sys\ndef tool(): sys.exit(3)", "SystemExit", "3"),
        ("def tool(): raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("def other(): pass", "NameError", "the code defines no function tool"),
        (
            "def tool(needed): pass",
            "TypeError",
            "tool() missing 1 required positional argument: 'needed'",
        ),
        ("def tool(): return tool()", "RecursionError", "maximum recursion depth exceeded"),
        ("def tool(:", "SyntaxError", "invalid syntax (tool.py, line 1)"),
        (
            "def tool():\n    class E(Exception):\n        def __str__(self): 1/0\n    raise E",
            "E",
            "<E that can't be shown: ZeroDivisionError>",
        ),
    ],
)
async def test_whatever_is_raised_is_an_outcome(
    sandbox: SecureSandbox, code: str, type_name: str, message: str
) -> None:
    got = await execute(sandbox, code)
    assert isinstance(got, Raised)
    assert (got.type_name, got.message) == (type_name, message)


REPR = "class Long:\n    def __repr__(self): return 'y' * {length}\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def tool(): return 10**3380", "1" + "0" * 3380),
        ("def tool(): return -(10**19_998)", "-1" + "0" * 19_998),
        ("def tool(): return 10**19_999", "1" + "0" * 19_999),
        ("def tool(): return [10**5000, 1]", "[1" + "0" * 5000 + ", 1]"),
        (
            "from decimal import Decimal\ndef tool(): return Decimal(10**5000)",
            "Decimal('1" + "0" * 5000 + "')",
        ),
        (REPR.format(length=20_000) + "def tool(): return Long()", "y" * 20_000),
    ],
    ids=["integer", "negative", "at the cap", "in a list", "Decimal", "object"],
)
async def test_long_values_are_shown_whole_up_to_the_cap(
    sandbox: SecureSandbox, code: str, text: str
) -> None:
    got = await execute(sandbox, code)
    assert isinstance(got, Returned)
    assert (got.text, got.truncated) == (text, False)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def tool(): return 10**20_000", "1" + "0" * 19_999),
        ("def tool(): return -(10**19_999)", "-1" + "0" * 19_998),
        ("def tool(): return [10**10_000, 10**10_000]", "[1" + "0" * 10_000 + ", 1" + "0" * 9_995),
        ("def tool(): return 10**30_000", "<an integer of 99658 bits>"),
        (REPR.format(length=20_001) + "def tool(): return Long()", "y" * 20_000),
        (REPR.format(length=50_000) + "def tool(): return [Long()]", "[" + "y" * 19_999),
        (
            "def tool():\n    value = 'x'\n    for _ in range(70): value = [value]\n    return "
            "value",
            "[" * 61 + "..." + "]" * 61,
        ),
    ],
    ids=[
        "one digit more",
        "one sign more",
        "in a list",
        "huge",
        "object",
        "object in a list",
        "nested",
    ],
)
async def test_values_that_are_cut_say_so(sandbox: SecureSandbox, code: str, text: str) -> None:
    got = await execute(sandbox, code)
    assert isinstance(got, Returned)
    assert (got.text, got.truncated) == (text, True)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os\ndef tool(): os._exit(0)", "The tool's process ended itself with exit code 0."),
        (
            "import os\ndef tool(): os.kill(os.getpid(), 11)",
            "The tool's process was ended by SIGSEGV.",
        ),
        ("import os\nos.kill(os.getpid(), 9)", "The tool's process was ended by SIGKILL."),
        (
            "def tool(): return 'x' * 10**9",
            "It needed more memory than the 256 MB that the sandbox gives.",
        ),
        (
            "import os, time\ndef tool():\n    os.closerange(0, 100)\n    time.sleep(1000)",
            "The tool's process cut itself off from the judge.",
        ),
    ],
)
async def test_a_tool_that_ends_its_process_was_killed(
    sandbox: SecureSandbox, code: str, reason: str
) -> None:
    assert await execute(sandbox, code) == Killed(reason=reason)


@pytest.mark.parametrize(
    "code",
    [
        "def tool():\n    while True: pass",
        "def tool(): return 9**9**9",
        "class Slow:\n    def __repr__(self):\n        while True: pass\ndef tool(): return Slow()",
        "import os\ndef tool():\n    while True:\n        try: os.fork()\n        except OSError: "
        "pass",
    ],
    ids=["loop", "holding the interpreter", "slow repr", "fork bomb"],
)
async def test_a_tool_that_works_too_long_was_killed(hasty: SecureSandbox, code: str) -> None:
    assert await execute(hasty, code) == Killed(reason="It used 1 s of processor time.")


@pytest.mark.extended
async def test_time_that_is_hidden_in_children_is_no_way_out(impatient: SecureSandbox) -> None:
    """The kernel forgets what children used that nobody waits for; the other limit remains."""
    code = """
import os, signal
def tool():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            for _ in range(10**5): pass
            os._exit(0)
        try: os.wait()
        except ChildProcessError: pass
"""
    got = await execute(impatient, code)
    assert isinstance(got, Killed)
    used = f"It used {impatient.timeout:g} s of processor time"
    assert got.reason.startswith(("It did not end within", used))


async def test_output_before_the_end_is_kept_and_capped(hasty: SecureSandbox) -> None:
    got = await execute(hasty, "def tool():\n    while True: print('x' * 99)")
    assert isinstance(got, Killed)
    assert (len(got.stdout), got.stdout[-19:]) == (65536 + 19, "\n... (cut at 64 KB)")


async def test_a_job_that_is_too_large_is_refused(sandbox: SecureSandbox) -> None:
    got = await sandbox.execute(
        SandboxJob("tool", "def tool(text): pass"), {"text": "x" * 21_000_000}
    )
    assert isinstance(got, Killed)
    assert got.reason.startswith("The job is too large for the sandbox: ")


@pytest.mark.parametrize(
    "value",
    ["list(range(20_000))", "'\"' * 4_000_000", "[{'n': n, 'é': 'ü'} for n in range(36_000)]"],
    ids=["numbers", "quotes", "rows"],
)
async def test_large_values_come_whole(sandbox: SecureSandbox, value: str) -> None:
    got = await sandbox.execute(SandboxJob("tool", f"def tool(): return {value}"), {})
    assert isinstance(got, Returned)
    assert got.data is not None
    assert json.loads(got.data) == eval(value)
    assert got.value is not None
    assert got.value.size == len(got.data.encode())


async def test_a_value_of_nine_megabytes_is_not_kept_and_says_so(sandbox: SecureSandbox) -> None:
    got = await sandbox.execute(SandboxJob("tool", "def tool(): return 'x' * 9_000_000"), {})
    assert isinstance(got, Returned)
    assert (got.data, got.value, got.too_large, got.truncated) == (None, None, 9_000_002, True)
    assert len(got.text) == 20_000
