"""Synchronous programs: turns that are kept, tools by name, and clear ends."""

import asyncio
import logging

import pytest
from typer.testing import CliRunner

from selfeng.bootstrap import build_engine
from selfeng.cli.app import app
from selfeng.core.owner import LOCAL
from selfeng.core.settings import Settings
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.python import Agent
from selfeng.stages.execution.arguments import from_texts
from tests.engine.test_refactoring import kept
from tests.exchange.bundles import LOCK, bundle, draft
from tests.home import Home

_DIVIDE = '''def divide(a: float, b: float = 2) -> dict:
    """Divide a by b."""
    return {"quotient": a / b}
'''
_TESTS = (
    "from divide import divide\n\n\ndef test_divide():\n    assert divide(4) == {'quotient': 2}\n"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name, value in Home(tmp_path / "home", bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)


def on_an_engine(work):
    """The value of `work` on an engine of its own."""

    async def run():
        engine = await build_engine(Settings(_env_file=None))
        try:
            return await work(engine)
        finally:
            await engine.aclose()

    return asyncio.run(run())


def test_turns_of_programs_are_kept_with_the_command_line_s(home):
    kinds: list[str] = []
    with Agent() as agent:
        last = agent.process_request(
            "Hello!", lambda event: kinds.append(event.type), conversation="greetings"
        )
        agent.process_request("Thank you!", conversation="greetings")
        agent.process_request("Hello again!")
    assert (last.type, kinds[0], kinds[-1]) == ("turn_finished", "turn_started", "turn_finished")

    async def kept(engine):
        conversations = await engine.conversations.list(LOCAL)
        return {
            c.title: [
                r.event.request
                for r in await engine.conversations.history(LOCAL, c.id)
                if r.event.type == "turn_started"
            ]
            for c in conversations
        }

    assert on_an_engine(kept) == {
        "greetings": ["Hello!", "Thank you!"],
        "Hello again!": ["Hello again!"],
    }


def test_a_conversation_of_the_command_line_goes_on_by_its_id(home):
    asked = on_an_engine(lambda engine: engine.ask(LOCAL, None, "Hello!"))
    with Agent() as agent:
        agent.process_request("Thank you!", conversation=asked.conversation_id)
    assert len(on_an_engine(lambda engine: engine.conversations.list(LOCAL))) == 1


def test_a_callback_that_raises_does_not_end_the_turn(home, caplog):
    def callback(event):
        raise ZeroDivisionError(event.type)

    with Agent() as agent, caplog.at_level(logging.ERROR):
        last = agent.process_request("Hello!", callback)
    assert last.type == "turn_finished"
    assert "the callback failed on turn_started" in caplog.text


HALF = '''def half(number: float) -> float:
    """Half of a number."""
    return number / 2
'''
_HALF_TESTS = """import pytest
from half import half


@pytest.mark.parametrize(("number", "result"), [(4, 2), (9, 4.5), (-1, -0.5), (0, 0)])
def test_half(number, result):
    assert half(number) == result
"""


def draft_of(name: str, code: str, tests: str = _HALF_TESTS) -> ToolDraft:
    code, tests = code.replace("half", name), tests.replace("half", name)
    return ToolDraft(
        name=name,
        description=f"Does {name}.",
        signature=parse_signature(code, name),
        code=code,
        tests=tests,
    )


OBJECT = """an object of arguments such as '{"number": 300}'"""
DIVIDE = draft_of("divide", _DIVIDE, _TESTS)


@pytest.mark.bubblewrap
def test_the_command_line_calls_a_tool_by_name(home):
    on_an_engine(lambda engine: engine.library.add(DIVIDE))

    def call(*arguments, piped=None):
        done = CliRunner().invoke(app, ["call", "divide", *arguments], input=piped)
        return done.exit_code, done.stdout, done.stderr

    assert call("a=9") == (0, '{"quotient":4.5}\n', "")
    assert call(' {"a": 9, "b": null}') == (0, '{"quotient":4.5}\n', "")
    assert call('{"a": 9}', "b=3") == (0, '{"quotient":3.0}\n', "")
    assert call("-", piped='{"a": 9}'.encode("utf-16")) == (0, '{"quotient":4.5}\n', "")
    code, out, err = call("a=1", "b=0")
    assert (code, out) == (1, "")
    assert "ZeroDivisionError" in err
    assert call("a=x")[2].startswith("error: a='x' is not float")
    for arguments, problem, remedy in (
        (["9"], "the argument '9' has no =", f"write NAME=VALUE, or {OBJECT}"),
        (["[9]"], "the argument '[9]' is not a JSON object", f"write {OBJECT}"),
        (["-"], "standard input is not a JSON object", f"write {OBJECT}"),
        (['{"a": 9'], """the argument '{"a": 9' is not valid JSON: Expecting ',' delimiter: line 1 column 8 (char 7)""", f"write {OBJECT}"),
        (['{"a": NaN}'], """the argument '{"a": NaN}' is not valid JSON: a number is not finite""", f"write {OBJECT}"),
        (['{"a": 9, "a": 1}'], """the argument '{"a": 9, "a": 1}' is not valid JSON: a key occurs twice""", f"write {OBJECT}"),
        (['{"a": 9}', "a=1"], "the argument 'a' stands twice", "leave one out"),
    ):  # fmt: skip
        assert call(*arguments, piped="9") == (1, "", f"error: {problem}\n{remedy}\n")


@pytest.mark.bubblewrap
def test_the_command_line_runs_a_program(home, tmp_path):
    on_an_engine(lambda engine: engine.library.add(DIVIDE))
    source = "from divide import divide\ndef program(a: float, b: float = 2.0):\n    return {'c': divide(a, b)}\n"
    file = tmp_path / "half.py"
    file.write_text(source)

    def run(*arguments, piped=None):
        done = CliRunner().invoke(app, ["run", *arguments], input=piped)
        return done.exit_code, done.stdout, done.stderr

    assert run(str(file), "a=9") == (0, '{"c":{"quotient":4.5}}\n', "")
    assert run("-", "a=9", piped=source)[:2] == (0, '{"c":{"quotient":4.5}}\n')
    code, out, err = run(str(file), '{"a": 1, "b": 0}')
    assert (code, out) == (1, "")
    assert "program.py, line 3, in program" in err
    assert "divide.py, line" in err
    assert "ZeroDivisionError" in err
    assert run(str(tmp_path / "gone.py"))[2].endswith("name a Python file\n")
    assert "a='x' is not float" in run(str(file), "a=x")[2]


@pytest.mark.bubblewrap
def test_the_command_line_says_why_a_tool_gets_no_faster(home):
    on_an_engine(lambda engine: engine.library.add(kept().draft()))
    done = CliRunner().invoke(app, ["refactor", "distinct"])
    assert done.exit_code == 1
    assert "distinct stays at version 1: the model knows no faster way" in done.stderr
    unknown = CliRunner().invoke(app, ["refactor", "nothing"])
    assert (unknown.exit_code, "nothing" in unknown.stderr) == (1, True)


def test_arguments_from_a_command_line_are_json_where_the_parameter_takes_no_text():
    signature = parse_signature(
        "def f(name: str, count: int, rows: list[int], any, maybe: str | None = None): ...", "f"
    )
    given = {"name": "1", "count": "2", "rows": "[1, 2]", "any": "x", "maybe": "null", "more": "3"}
    assert from_texts(signature, given) == {
        "name": "1",
        "count": 2,
        "rows": [1, 2],
        "any": "x",
        "maybe": "null",
        "more": 3,
    }


@pytest.mark.bubblewrap
def test_exported_tools_pass_the_gate_of_another_library(home, tmp_path, monkeypatch):
    def run(*arguments):
        done = CliRunner().invoke(app, arguments)
        return done.exit_code, done.stderr.splitlines()[-1]

    half = HALF.replace("number / 2", "number / 3")
    on_an_engine(lambda engine: engine.library.add(draft_of("half", HALF)))
    on_an_engine(lambda engine: engine.library.add(draft_of("wrong_half", half)))
    path = str(tmp_path / "tools.zip")
    assert run("export", "-o", path) == (0, f"written: {path}")
    assert run("export", "-o", path)[0] == 1  # it never overwrites
    for name, value in Home(tmp_path / "other", bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)
    assert run("import", "--yes", path) == (1, "1 added, 0 already there, 1 refused")
    assert run("import", "--yes", path) == (1, "0 added, 1 already there, 1 refused")
    assert [t.name for t in on_an_engine(lambda engine: engine.library.tools())] == ["half"]
    locked = tmp_path / "locked.zip"
    locked.write_bytes(bundle(tmp_path, draft("ordinal_text", lock=LOCK)))
    refused = CliRunner().invoke(app, ["import", "--yes", str(locked)])
    *_, line, summary = refused.stderr.splitlines()
    assert line.startswith("not checked (--allow-packages): ordinal_text: its check installs")
    assert (refused.exit_code, summary) == (1, "0 added, 0 already there, 1 refused")
