"""Programs that import tools, without the model: what they may be, what holds inside, and what a
call of one comes to in a real sandbox.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.core.errors import AgentError, RequestError
from selfeng.core.events import Event, Executing, Witnessed
from selfeng.core.files import File
from selfeng.core.tool import Requirement, Tool
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import CallLimits, Execution, Killed, Raised, Returned
from selfeng.doors.call_results import program_result
from selfeng.sandbox import SecureSandbox
from selfeng.stages.execution.programs import Program, program_of
from selfeng.stages.executor import Call, Executor
from tests.doubles import (
    ListedLibrary,
    ScriptedModel,
    ScriptedNetwork,
    ScriptedSandbox,
    returned,
    tool,
)
from tests.engine.test_first_runs import sandbox
from tests.engine.test_network_tools import ACCESS, RATE, RATES, URL, engine_with
from tests.engine.test_plans import COUNT, REVERSE

__all__ = ["sandbox"]


def real(test: Callable[..., Any]) -> Any:
    """A test in a real sandbox."""
    return pytest.mark.bubblewrap(pytest.mark.asyncio(loop_scope="session")(test))


IMPORTS = "from count_vowels import count_vowels\nfrom reverse_text import reverse_text\n"
PROGRAM = f"""{IMPORTS}

def program(text: str, times: int = 1) -> list:
    turned = reverse_text(text) * times
    return [turned, count_vowels(turned)]
"""
DOUBTFUL = REVERSE.model_copy(
    update={
        "witnesses": (
            "def reverse_text(text):\n    return ''.join(reversed(text))\n",
            "def reverse_text(text):\n    return text\n",
        )
    }
)
RATE_PROGRAM = "from add_numbers import add_numbers\ndef program():\n    return add_numbers(a=2)\n"


async def run(
    sandbox: SecureSandbox,
    code: str,
    arguments: Mapping[str, object],
    *tools: Tool,
    files: tuple[File, ...] = (),
) -> tuple[Program, Execution, list[Event]]:
    library, events = ListedLibrary(*tools), list[Event]()
    executor = Executor(ScriptedModel(), sandbox, library)
    program = program_of(code, tools)
    turn = Turn(Request("a program", files=files), events.append)
    with turn.checking():
        execution = await executor.run_program(turn, Call(tool=program, arguments=dict(arguments)))
        await turn.checked()
    assert (library.uses, library.failures) == ([], [])
    return program, execution, events


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("def other():\n    pass\n", "the code defines no function program at top level"),
        ("def program(:\n", "is not valid Python"),
        ("import gone\ndef program():\n    pass\n", "the code imports gone; only"),
        (
            "from reverse_text import reverse_text as r\ndef program():\n    pass\n",
            "must import the tool reverse_text as `from reverse_text import reverse_text`",
        ),
        ("import sys\ndef program():\n    return sys.modules\n", "the code uses `sys.modules`"),
        ("from urllib import request as r\ndef program():\n    pass\n", "uses `urllib.request`"),
        ("import http.client\ndef program():\n    pass\n", "uses `http.client`"),
        ("import mimetypes as m\ndef program():\n    m.urllib.request\n", "uses `urllib.request`"),
        ("from readcells import read_query\ndef program():\n    pass\n", "`readcells.read_query`"),
        ("import socket\ndef program():\n    pass\n", "uses `socket`"),
        ("x" * 100_001, "the program is longer than 100,000 characters"),
    ],
)
def test_code_that_is_no_program_is_refused_with_the_reason(code: str, problem: str) -> None:
    with pytest.raises(RequestError) as refusal:
        program_of(code, [REVERSE])
    assert problem in refusal.value.message
    assert refusal.value.remedy


@pytest.mark.parametrize("use", ["pandas.read_csv", "globals", "exec", "open.__dict__"])
def test_beside_tools_with_hosts_a_program_may_not_reach_the_network_indirectly(use: str) -> None:
    code = f"import pandas\n{RATE_PROGRAM.replace('add_numbers(a=2)', use)}"
    code = code if "pandas" in use else code.removeprefix("import pandas\n")
    with pytest.raises(RequestError, match="could reach the network itself"):
        program_of(code, [RATES])
    program_of(code, [RATES.model_copy(update={"network": ()})])


def test_names_of_its_own_may_be_those_of_network_modules() -> None:
    code = "def program(requests: list):\n    socket = requests[0]\n    return socket.ssl.http.client\n"
    assert program_of(code, [RATES]).network == ()


def test_a_program_has_the_pins_hosts_and_limits_of_its_tools() -> None:
    slow, large = (
        tool(name, f"def {name}():\n    pass\n").model_copy(update={"limits": limits})
        for name, limits in (
            ("slow_sum", CallLimits(seconds=600, memory=2000)),
            ("large_sum", CallLimits(memory=4000)),
        )
    )
    on_host = RATES.model_copy(update={"version": 3})
    code = "".join(f"import {t.name}\n" for t in (slow, large, on_host)) + "def program(): pass\n"
    program = program_of(code, [slow, large, on_host, REVERSE])
    assert program.limits == CallLimits(seconds=600, memory=4000)
    assert program.network == (ACCESS,)
    assert [(pin.name, pin.version) for pin in program.requires] == [
        ("add_numbers", 3),
        ("large_sum", 1),
        ("slow_sum", 1),
    ]
    assert program_of("def program(): pass\n", [slow]).limits == CallLimits()


async def test_a_tool_in_a_program_needs_the_consent_that_its_call_needs(
    database: sa.Engine,
) -> None:
    sandbox, pages = ScriptedSandbox(returned("3")), ScriptedNetwork({URL: RATE})
    async with engine_with(database, ScriptedModel(), sandbox, pages) as engine:
        engine.library.replace(RATES)
        program = await engine.program(RATE_PROGRAM)
        with pytest.raises(AgentError, match="add_numbers needs your consent") as refusal:
            await engine.call("me", program, {})
        assert sandbox.executed == []
        await engine.network.allow("me", RATES)
        events: list[Event] = []
        execution = await engine.call("me", program, {}, watch=events.append)
        with pytest.raises(RequestError, match="unknown"):
            await engine.call("me", program, {"unknown": 1})
    assert refusal.value.remedy.startswith("allow it in the page's tools, or with `selfeng grants")
    assert isinstance(execution, Returned)
    assert [e.hosts for e in events if isinstance(e, Executing)] == ["api.example.org"]
    assert sandbox.jobs[0].library == {"add_numbers": RATES.code}


async def test_hosts_that_calls_name_are_those_that_a_person_has_granted(
    database: sa.Engine,
) -> None:
    any_host = ACCESS.model_copy(update={"host": "{url}"})
    pages = RATES.model_copy(update={"network": (any_host,)})
    async with engine_with(
        database, ScriptedModel(), ScriptedSandbox(), ScriptedNetwork({})
    ) as engine:
        engine.library.replace(pages)
        assert (await engine.program(RATE_PROGRAM)).network == ()
        await engine.network.allow("me", pages, "api.example.org")
        (access,) = (await engine.program(RATE_PROGRAM)).network
    assert access.host == "api.example.org"


def test_what_is_to_be_said_of_the_tools_is_part_of_the_result() -> None:
    suspect = DOUBTFUL.model_copy(update={"standing": "suspect"})
    program = program_of(PROGRAM, [suspect, COUNT])
    doubt = Witnessed(tool="program", agree=1, of=2, other='["abc", 1]')
    result = program_result(program, returned("3"), [doubt])
    assert [content.text for content in result.content] == [  # type: ignore[union-attr]
        "3",
        "reverse_text is suspect: a service that it asks answers otherwise than recorded.",
        'With another implementation of reverse_text it returns ["abc", 1].',
    ]
    assert result.structured_content == {
        "tools": [{"name": "count_vowels", "version": 1}, {"name": "reverse_text", "version": 1}]
    }


@real
async def test_values_pass_between_tools_in_one_call(sandbox: SecureSandbox) -> None:
    program, execution, events = await run(sandbox, PROGRAM, {"text": "abc"}, REVERSE, COUNT)
    assert isinstance(execution, Returned), execution
    assert (execution.data, [e.type for e in events]) == (
        '["cba",1]',
        ["executing", "execution_finished"],
    )
    assert program.requires == (
        Requirement(name="count_vowels", version=1),
        Requirement(name="reverse_text", version=1),
    )


@real
async def test_witnesses_of_a_tool_check_the_program(sandbox: SecureSandbox) -> None:
    for code in (
        PROGRAM,
        PROGRAM.replace("from reverse_text import reverse_text", "import reverse_text").replace(
            "= reverse_text(", "= reverse_text.reverse_text("
        ),
    ):
        program, _, events = await run(sandbox, code, {"text": "abc"}, DOUBTFUL, COUNT)
        (check,) = [event for event in events if isinstance(event, Witnessed)]
        assert (check.agree, check.of, check.other) == (1, 2, '["abc", 1]')
        assert "another implementation of reverse_text" in program.notes(events)[0]


@real
async def test_an_error_names_the_tool_and_the_line(sandbox: SecureSandbox) -> None:
    strict = tool("reverse_text", "def reverse_text(text):\n    raise ValueError(f'no {text}')\n")
    program, execution, events = await run(sandbox, PROGRAM, {"text": "x"}, strict, COUNT)
    assert isinstance(execution, Raised), execution
    result = program_result(program, execution, events)
    assert [content.text for content in result.content] == [  # type: ignore[union-attr]
        "ValueError: no x",
        "program.py, line 6, in program: turned = reverse_text(text) * times\n"
        "reverse_text.py, line 2, in reverse_text: raise ValueError(f'no {text}')",
    ]
    assert result.is_error


@real
async def test_files_come_and_go(sandbox: SecureSandbox) -> None:
    code = (
        "from pathlib import Path\nfrom reverse_text import reverse_text\n"
        "def program(path: str):\n"
        "    Path('out.txt').write_text(reverse_text(Path(path).read_text()))\n"
    )
    files = (File(name="a.txt", content=b"abc"),)
    _, execution, _ = await run(sandbox, code, {"path": "a.txt"}, REVERSE, files=files)
    assert isinstance(execution, Returned), execution
    assert [(file.name, file.content) for file in execution.files] == [("out.txt", b"cba")]


@pytest.mark.parametrize(
    "line",
    [
        "[].append(bytearray(1 << 40))",
        "__import__('os').fork()",
        "open('/etc/passwd', 'w')",
        "open('/proc/1/environ').read()",
        "__import__('socket').create_connection(('127.0.0.1', 80), 2)",
        "__import__('urllib.request').request.urlopen('http://127.0.0.1/', timeout=2)",
        "__import__('os').kill(1, 9) or 1 / 0",
    ],
)
@real
async def test_a_hostile_program_is_contained(sandbox: SecureSandbox, line: str) -> None:
    code = f"from reverse_text import reverse_text\ndef program():\n    return str({line})\n"
    try:
        _, execution, _ = await run(sandbox, code, {}, REVERSE)
    except RequestError:
        return
    assert isinstance(execution, Raised | Killed), execution
