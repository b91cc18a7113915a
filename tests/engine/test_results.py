"""Values over several turns: kept whole, referred to, and the owner's only."""

import json
from contextlib import aclosing
from dataclasses import replace

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.errors import ResourceNotFound
from selfeng.core.events import Executing, ExecutionFinished, TurnFinished
from selfeng.core.prompt import FunctionCall
from selfeng.core.result import Result
from selfeng.core.settings import Settings
from selfeng.core.tool import Tool
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_offline.cookbook.read_prompt import sections_of
from tests.doubles import ListedLibrary, ScriptedModel, ScriptedSandbox, kept, tool
from tests.home import Home

ROWS = [{"month": n, "paid": 1000.5 + n, "to": "bank"} for n in range(1, 1001)]
PAYMENTS = tool("list_payments", "def list_payments() -> list[dict]:\n    return []\n")
CSV = tool("to_csv", "def to_csv(rows: list[dict]) -> str:\n    return ''\n")
TOTAL = tool("total", "def total(numbers: list[float]) -> float:\n    return 0.0\n")


def call(name: str, **arguments: object) -> FunctionCall:
    return FunctionCall(name=name, arguments=arguments)


@pytest.fixture
async def engine(tmp_path, monkeypatch):
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
        yield engine


def scripted(engine, model: ScriptedModel, sandbox: ScriptedSandbox, *tools: Tool) -> None:
    """Have the engine's turns run on these, with three tools and further ones."""
    library = ListedLibrary(PAYMENTS, CSV, TOTAL, *tools)
    orchestrator = Orchestrator(
        library,
        Executor(model, sandbox, library),
        SynthesisEngine(model, sandbox, library, "scripted"),
        ResponseSynthesizer(model),
    )
    engine.model_parts.current = replace(engine.model_parts.current, orchestrator=orchestrator)


async def asked(engine, request: str, conversation: str | None = None) -> list:
    """The records of a turn."""
    async with aclosing(engine.turn("me", engine.ask("me", conversation, request))) as records:
        return [record async for record in records]


async def test_later_turns_take_an_earlier_value_by_reference(engine):
    model = ScriptedModel(
        call("list_payments"),
        "These are 1000 payments.",
        call("to_csv", rows={"$result": "r1"}),
        "Here it is.",
        call("total", numbers={"$result": "r1", "column": "paid"}),
        "They sum up to about 1501000.00.",
    )
    sandbox = ScriptedSandbox(kept(json.dumps(ROWS)), kept('"month,paid"'), kept("1501000.0"))
    scripted(engine, model, sandbox)
    conversation = (await asked(engine, "List all payments"))[0].conversation_id
    records = await asked(engine, "The table above as CSV", conversation)
    assert isinstance(records[-1].event, TurnFinished)
    await asked(engine, "Sum its second column", conversation)
    assert sandbox.executed == [
        ("list_payments", {}),
        ("to_csv", {"rows": ROWS}),
        ("total", {"numbers": [row["paid"] for row in ROWS]}),
    ]
    (executing,) = (r.event for r in records if isinstance(r.event, Executing))
    assert len(executing.arguments) < 3000
    (line,) = sections_of(model.prompts[2].messages[-1].content)["results"].splitlines()
    listed = json.loads(line)
    assert (listed["id"], listed["value"]) == ("r1", "a table of 1000 rows and 3 columns")
    assert (listed["columns"], listed["request"]) == (["month", "paid", "to"], "List all payments")
    assert all(len(m.content) < 6000 for prompt in model.prompts for m in prompt.messages)


async def test_a_reference_that_names_nothing_is_corrected(engine):
    model = ScriptedModel(
        call("list_payments"),
        "These are 1000 payments.",
        call("total", numbers={"$result": "r1", "column": "price"}),
        call("total", numbers={"$result": "r1", "column": "paid"}),
        "They are.",
    )
    scripted(engine, model, ScriptedSandbox(kept(json.dumps(ROWS)), kept("1.5")))
    conversation = (await asked(engine, "List all payments"))[0].conversation_id
    await asked(engine, "Sum its second column", conversation)
    problem = sections_of(model.prompts[3].messages[0].content)["problem"]
    assert problem == "r1 has no column 'price'; it has month, paid, to"


@pytest.mark.parametrize(
    ("reference", "passed"),
    [
        ({"column": None, "as": None}, [{"a": "=1", "b": 1.5}]),
        ({"as": "csv"}, "a,b\r\n=1,1.5\r\n"),
        ({"as": "json", "column": "a"}, '[\n  "=1"\n]'),
    ],
)
async def test_a_reference_takes_a_part_or_makes_a_text(engine, reference, passed):
    parse = tool("parse_any", "def parse_any(data):\n    return 1\n")
    model = ScriptedModel(
        call("list_payments"), "One.", call("parse_any", data={"$result": "r1", **reference}), "1."
    )
    sandbox = ScriptedSandbox(kept('[{"a": "=1", "b": 1.5}]'), kept("1"))
    scripted(engine, model, sandbox, parse)
    conversation = (await asked(engine, "List all payments"))[0].conversation_id
    await asked(engine, "Parse that", conversation)
    assert sandbox.executed[1] == ("parse_any", {"data": passed})


async def test_a_reload_and_the_terminal_show_the_same_value_to_its_owner_only(engine):
    model = ScriptedModel(call("list_payments"), "These are 1000 payments.")
    scripted(engine, model, ScriptedSandbox(kept(json.dumps(ROWS))))
    records = await asked(engine, "List all payments")
    (live,) = (r.event for r in records if isinstance(r.event, ExecutionFinished))
    assert isinstance(live.execution.result, Result)
    conversation = records[0].conversation_id
    (again,) = (
        r.event.execution.value
        for r in await engine.conversations.history("me", conversation)
        if isinstance(r.event, ExecutionFinished)
    )
    assert again == live.execution.value
    whole = await engine.conversations.result("me", conversation, again.sha256)
    assert json.loads(whole.content) == ROWS
    assert await engine.conversations.result_of_turn("me", records[0].turn_id) == whole
    for read in (
        engine.conversations.result("other", conversation, again.sha256),
        engine.conversations.result_of_turn("other", records[0].turn_id),
    ):
        with pytest.raises(ResourceNotFound):
            await read
