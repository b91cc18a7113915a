"""Whole turns on a scripted model with the real sandbox, broker and services of the test world: a
tool is built on an API with a key, used again, and mended when the API changes; the table of a page
is fetched and drawn.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.core.events import (
    Event,
    ExecutionFailed,
    ExecutionFinished,
    FilesMade,
    QuestionsAsked,
)
from selfeng.core.http import NetworkAccess, SecretUse
from selfeng.core.plan import PlannedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.signature import parse_signature
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import ToolDraft
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.store.schema import metadata
from tests.doubles import (
    CODE as DOUBLE,
)
from tests.doubles import (
    TESTS as DOUBLE_TESTS,
)
from tests.doubles import (
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    registered,
    returned,
    specification,
)
from tests.engine.test_first_runs import sandbox
from tests.engine.test_lessons import engine_on
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook
from tests.world.conftest import world
from tests.world.world import CANARY, World

__all__ = ["sandbox", "world"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

NAME = "rate_of"
API = "https://api.world.example/v1/rates"
ACCESS = NetworkAccess(
    host="api.world.example",
    path="/v1/rates",
    secrets=(SecretUse(name="KEY", place="bearer"),),
    purpose="It gives the rates.",
)
SPECIFIED = SpecificationReply(
    outcome="tool",
    message="",
    specification=Specification(
        name=NAME,
        description="Get the rate of a currency from the rates of world.example.",
        parameters=(
            SpecParameter(name="currency", annotation="str", default=None, description="its code"),
            SpecParameter(name="page", annotation="int", default="1", description="of the list"),
        ),
        returns="float",
        returns_description="the rate",
        errors="ValueError if the page lacks the currency",
        user_examples=(),
        examples=(SpecExample(call="rate_of(currency='X')", result="raises ValueError"),),
        example_requests=("the rate of C1",),
        network=(ACCESS,),
        probes=(f"{API}?page=1", f"{API}?page=2"),
    ),
    call="rate_of(currency='C2')",
)
TESTS = """
import pytest

from rate_of import rate_of


def test_gets_the_rate_of_the_first_page():
    assert rate_of(currency="C2") == 0.5


def test_gets_the_rate_of_another_page():
    assert rate_of(currency="C5", page=2) == 1.25
    assert rate_of(currency="C6", page=2) == 1.5


def test_an_unknown_currency_is_refused():
    with pytest.raises(ValueError, match="'X'"):
        rate_of(currency="X")
"""
CODE = '''
import json
import urllib.request


def rate_of(currency: str, page: int = 1) -> float:
    """Get the rate of a currency."""
    with urllib.request.urlopen(f"https://api.world.example/v1/rates?page={page}") as response:
        items = json.load(response)["items"]
    for item in items:
        if item["currency"] == currency:
            return item["rate"]
    raise ValueError(f"no currency {currency!r}")
'''
MENDED = CODE.replace('item["rate"]', 'item["rate"] if "rate" in item else item["price"]')
AGAIN = FunctionCall(name=NAME, arguments={"currency": "C8", "page": 3})


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_a_tool_on_an_api_with_a_key_is_built_used_again_and_mended(
    database: sa.Engine, sandbox: SecureSandbox, world: World, tmp_path: Path
) -> None:
    model = ScriptedModel(SPECIFIED, fenced(TESTS), fenced(CODE), "It is 0.5.")
    broker = world.broker()
    async with engine_on(Notebook(database), model, sandbox, pages=broker) as engine:
        begun, first = await turn(engine, None, "what is the rate of C2?")
        (asked,) = of(QuestionsAsked, first)
        assert world.seen == []
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        assert second[-1].answer == "It is 0.5.", second[-1]
        assert [seen.path for seen in world.seen] == [
            "/v1/rates?page=1",
            "/v1/rates?page=2",
            "/v1/rates?page=1",
        ]
        assert {seen.headers["authorization"] for seen in world.seen} == {f"Bearer {CANARY}"}

        model.extend(AGAIN, "It is 2.")
        _, third = await turn(engine, None, "and the rate of C8 on page 3?")
        assert of(ExecutionFinished, third)[0].execution.text == "2.0"

        world.renamed = True
        model.extend(AGAIN, fenced(MENDED), "It is 2 still.")
        _, fourth = await turn(engine, None, "and the rate of C8 on page 3?")
        library = engine.model_parts.current.executor._library
        mended = await library.get(NAME)
        exports = [await engine.conversations.records("me", begun.turn_id)]
    (failure,) = of(ExecutionFailed, fourth)
    assert failure.execution.message == (
        "api.world.example answers otherwise than recorded: value.items[].rate is missing"
    )
    assert mended.version == 2
    assert of(ExecutionFinished, fourth)[-1].execution.text == "2.0"
    assert fourth[-1].answer == "It is 2 still."
    assert library.changes == [f"{NAME} 1: {failure.execution.message}"]
    assert world.strayed == []

    events = [event.model_dump_json() for event in (*first, *second, *third, *fourth)]
    with database.connect() as connection:
        rows = [
            str(row)
            for table in metadata.sorted_tables
            for row in connection.execute(sa.select(table))
        ]
    prompts = [message.content for prompt in model.prompts for message in prompt.messages]
    places = [*events, *rows, *prompts, repr(exports), mended.model_dump_json()]
    assert not [place for place in places if CANARY in place or json.dumps(CANARY)[1:-1] in place]


PAGE, OTHER_PAGE = "https://api.world.example/v1/table", "https://other.world.example/v1/table"
FETCH = FunctionCall(name="fetch_table", arguments={"url": PAGE})
CHART_CODE = '''
import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt


def bar_chart(
    rows: list[dict[str, str | int | float | None]], label: str, value: str, path: str = "chart.png"
) -> str:
    """Draw a bar chart of two columns of a table."""
    if not rows:
        raise ValueError("the table has no rows")
    figure, axes = plt.subplots(figsize=(6.4, 4.8), dpi=100)
    axes.bar([str(row[label]) for row in rows], [float(row[value] or 0) for row in rows])
    axes.set_ylabel(value)
    figure.savefig(path)
    return path
'''
CHART = registered(
    ToolDraft(
        name="bar_chart",
        description="Draw a bar chart of two columns of a table.",
        signature=parse_signature(CHART_CODE, "bar_chart"),
        code=CHART_CODE,
        tests="",
    )
)
TABLE = registered(next(seed for seed in load_seeds() if seed.name == "fetch_table"))


async def test_the_table_of_a_page_is_fetched_after_consent_and_drawn(
    database: sa.Engine, sandbox: SecureSandbox, world: World
) -> None:
    model = ScriptedModel(FETCH)
    async with engine_on(Notebook(database), model, sandbox, pages=world.broker()) as engine:
        library = engine.model_parts.current.executor._library
        library.replace(TABLE)
        library.replace(CHART)
        begun, first = await turn(engine, None, f"fetch the table on {PAGE}")
        (asked,) = of(QuestionsAsked, first)
        assert world.seen == []
        assert asked.questions[0].question == (
            "May the tool 'fetch_table' send requests to api.world.example?"
        )
        assert "It sends GET https://api.world.example/." in asked.questions[0].why

        model.extend("Three rates.")
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        (table,) = of(ExecutionFinished, second)
        assert json.loads(table.execution.result.content) == [
            {"currency": "C0", "rate": 0},
            {"currency": "C1", "rate": 0.25},
            {"currency": "C2", "rate": 0.5},
        ]
        assert [seen.path for seen in world.seen] == ["/v1/table"]

        rows = {"rows": {"$result": "r1"}, "label": "currency", "value": "rate"}
        model.extend(FunctionCall(name="bar_chart", arguments=rows), "Here is the chart.")
        _, third = await turn(engine, begun.conversation_id, "and a bar chart of it")
        assert third[-1].answer == "Here is the chart.", third[-1]
        (made,) = of(FilesMade, third)
        (picture,) = made.contents
        size = [int.from_bytes(picture.content[at : at + 4]) for at in (16, 20)]
        assert (picture.name, picture.content[:4], size) == ("chart.png", b"\x89PNG", [640, 480])

        model.extend(FETCH, "The same.")
        _, fourth = await turn(engine, begun.conversation_id, f"fetch the table on {PAGE} again")
        assert fourth[-1].answer == "The same."  # the host is remembered, and no other
        other = FETCH.model_copy(update={"arguments": {"url": "https://other.world.example/x"}})
        model.extend(other)
        _, fifth = await turn(engine, begun.conversation_id, "fetch https://other.world.example/x")
        assert "other.world.example" in of(QuestionsAsked, fifth)[0].questions[0].question
        hosts = [grant.need.host for grant in await engine.network.grants("fetch_table")]
    assert hosts == ["api.world.example"]
    assert {seen.host for seen in world.seen} == {"api.world.example"}
    assert world.strayed == []


async def test_a_plan_asks_for_the_host_of_a_step_and_draws_the_page(
    database: sa.Engine, sandbox: SecureSandbox, world: World
) -> None:
    steps = SpecificationReply(
        outcome="steps",
        message="",
        specification=None,
        steps=(
            PlannedStep(id="table", request=f"Fetch the table on {PAGE}", needs=()),
            PlannedStep(id="chart", request="Draw a bar chart of it", needs=("table",)),
        ),
    )
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes two"})
    rows = {"rows": {"$result": "table"}, "label": "currency", "value": "rate"}
    chart = FunctionCall(name="bar_chart", arguments=rows)
    model = ScriptedModel(none, steps, FETCH)
    async with engine_on(Notebook(database), model, sandbox, pages=world.broker()) as engine:
        library = engine.model_parts.current.executor._library
        library.replace(TABLE)
        library.replace(CHART)
        begun, first = await turn(engine, None, f"a bar chart of the table on {PAGE}")
        (asked,) = of(QuestionsAsked, first)
        assert (asked.call, asked.specified, world.seen) == (None, None, [])
        assert "api.world.example" in asked.questions[0].question
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        model.extend(none, steps, FETCH, chart, "Here is the chart.")
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        assert second[-1].answer == "Here is the chart.", second[-1]
        (made,) = of(FilesMade, second)
        assert [file.name for file in made.files] == ["chart.png"]
        assert [seen.path for seen in world.seen] == ["/v1/table"]
        (grant,) = await engine.network.grants("fetch_table")
        assert (grant.need.host, grant.owner) == ("api.world.example", "me")

        model.extend(none, steps, FETCH.model_copy(update={"arguments": {"url": OTHER_PAGE}}))
        other, third = await turn(engine, None, f"a bar chart of the table on {OTHER_PAGE}")
        (asked,) = of(QuestionsAsked, third)
        answers = (Answer(id=asked.questions[0].id, value="no"),)
        model.extend(none, steps, FETCH.model_copy(update={"arguments": {"url": OTHER_PAGE}}))
        _, fourth = await turn(engine, other.conversation_id, "", answers=answers)
    assert "fetch_table needs your consent" in fourth[-1].message
    assert {seen.host for seen in world.seen} == {"api.world.example"}


REDIRECTED = "https://api.world.example/redirect/302/https://other.world.example/v1/table"


@pytest.mark.parametrize("consent", ["once", "always"])
async def test_a_redirect_to_another_host_is_asked_for(
    database: sa.Engine, sandbox: SecureSandbox, world: World, consent: str
) -> None:
    redirected = FETCH.model_copy(update={"arguments": {"url": REDIRECTED}})
    model = ScriptedModel(redirected)
    async with engine_on(Notebook(database), model, sandbox, pages=world.broker()) as engine:
        library = engine.model_parts.current.executor._library
        library.replace(TABLE)
        begun, first = await turn(engine, None, f"fetch the table on {REDIRECTED}")
        host = of(QuestionsAsked, first)[0].questions[0]
        answers = (Answer(id=host.id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        other = of(QuestionsAsked, second)[0].questions[0]
        model.extend("Three rates.")
        answers = (Answer(id=other.id, value=consent),)
        _, third = await turn(engine, begun.conversation_id, "", answers=answers)
        grants = [grant.need for grant in await engine.network.grants("fetch_table")]
        shown = await engine.network.with_granted(TABLE)

        model.extend(redirected, *(["The same."] if consent == "always" else []))
        _, fourth = await turn(engine, None, f"fetch the table on {REDIRECTED} again")
    (failed,) = of(ExecutionFailed, second)
    assert failed.execution.lacks.host == "other.world.example"
    assert other.question == "May the tool 'fetch_table' send requests to other.world.example?"
    assert "api.world.example redirects there" in other.why
    assert third[-1].answer == "Three rates.", third[-1]
    assert library.failures == []
    afters = [(need.host, need.after) for need in grants]
    assert afters[0] == ("api.world.example", "")
    assert (("other.world.example", "api.world.example") in afters) == (consent == "always")
    assert len(shown.network) == len(TABLE.network) + len(grants)
    assert (of(QuestionsAsked, fourth) == []) == (consent == "always")


async def test_a_probe_that_is_redirected_completes_the_hosts_of_the_specification(
    database: sa.Engine, world: World
) -> None:
    url = "https://api.world.example/redirect/302/https://other.world.example/v1/table"
    access = NetworkAccess(host="api.world.example", path="/redirect")
    spec = specification().model_copy(update={"network": (access,), "probes": (url,)})
    specified = SpecificationReply(
        outcome="tool", message="", specification=spec, call="double_number(number=4)"
    )
    model = ScriptedModel(specified)
    scripted = ScriptedSandbox(failing(), passing(), returned())
    async with engine_on(Notebook(database), model, scripted, pages=world.broker()) as engine:
        begun, first = await turn(engine, None, "double it as the service says")
        answers = (Answer(id=of(QuestionsAsked, first)[0].questions[0].id, value="always"),)
        _, second = await turn(engine, begun.conversation_id, "", answers=answers)
        (asked,) = of(QuestionsAsked, second)
        model.extend(fenced(DOUBLE_TESTS), fenced(DOUBLE), "It is 8.")
        answers = (Answer(id=asked.questions[0].id, value="always"),)
        _, third = await turn(engine, begun.conversation_id, "", answers=answers)
        built = await engine.model_parts.current.executor._library.get("double_number")
        grants = [grant.need.host for grant in await engine.network.grants("double_number")]
    assert "other.world.example" in asked.questions[0].question
    assert [a.host for a in asked.specified.specification.network] == [
        "api.world.example",
        "other.world.example",
    ]
    assert third[-1].answer == "It is 8.", third[-1]
    assert [(access.host, access.after) for access in built.network] == [
        ("api.world.example", ""),
        ("other.world.example", "api.world.example"),
    ]
    assert sorted(grants) == ["api.world.example", "other.world.example"]
