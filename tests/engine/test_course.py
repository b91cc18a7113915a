"""The way of a turn through its graph: every stage that it comes to, and by which symbol."""

from typing import get_args

import pytest

from benchmarks.draw_graph import turn_graph
from selfeng.core.errors import ModelUnavailable, SymbolUnknown
from selfeng.core.events import Event, StageEntered
from selfeng.core.plan import SavedPlan, SavedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecificationReply
from selfeng.core.stage import STAGES, StageName
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import Raised
from selfeng.prompts import FOLDER as PROMPTS
from selfeng.turns.graph_run import GraphRun
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    returned,
    specified,
    tool,
)
from tests.engine.test_orchestrator import ADD, DOUBLE, NONE, Turns
from tests.engine.test_plans import planned, step

BUILD = (specified(), fenced(TESTS), fenced(CODE), DOUBLE)
HALF = FunctionCall(name="add_numbers", arguments={"a": None})
BROKEN = fenced("def double_number(number: int) -> int:\n    return number\n")
SURE = SpecificationReply(outcome="answer", message="Hello!", specification=None)
UNSURE = SpecificationReply(outcome="question", message="Which?", specification=None)

KEPT = tool().model_copy(
    update={
        "tests": "from add_numbers import add_numbers\n\n\ndef test_adds():\n    assert "
        "add_numbers(a=1) == 2\n"
    }
)
REUSED = "gather new search fits execute ran respond"
BUILT = (
    "search nothing-fits specify ordered test written implement alike verify unproven "
    "strengthen strong register registered prepare"
)


def way(turns: Turns, plan_step: str = "") -> str:
    """The nodes, between them the symbols."""
    steps = [
        f"{e.symbol.replace(' ', '-')} {e.node}".strip()
        for e in turns.course
        if e.plan_step == plan_step
    ]
    return " ".join(steps)


@pytest.mark.parametrize(
    ("replies", "runs", "taken"),
    [
        ((ADD, "3"), (returned("3"),), REUSED),
        ((HALF,), (), "gather new search incomplete clarify asked respond"),
        ((NONE, SURE), (), "gather new search nothing-fits specify no-tool respond"),
        (
            (NONE, UNSURE),
            (),
            "gather new search nothing-fits specify unclear clarify asked respond",
        ),
        (
            (NONE, *BUILD, "8"),
            (failing(), passing(), returned("8")),
            f"gather new {BUILT} fits execute ran respond",
        ),
        (
            (NONE, specified(), fenced(TESTS), BROKEN, *BUILD[2:], "8"),
            (failing(), failing(), passing(), returned("8")),
            f"gather new {BUILT} fits execute ran respond".replace(
                "verify", "verify failed repair repaired verify"
            ),
        ),
        (
            (ADD, fenced("def add_numbers(a: int, b: int = 1) -> int:\n    return b + a\n"), "3"),
            (Raised(type_name="KeyError", message="a"), passing(), failing(), returned("3")),
            "gather new search fits execute at-fault mend mended execute ran respond",
        ),
        (
            (ADD, "misuse", "No."),
            (Raised(type_name="KeyError", message="a"),),
            REUSED.replace("ran", "at-fault mend left"),
        ),
    ],
)
async def test_a_turn_takes_the_way_that_its_stages_say(replies, runs, taken):
    turns = Turns(ScriptedModel(*replies), ScriptedSandbox(*runs), ListedLibrary(KEPT))
    await turns.ask("double 4")
    assert (way(turns), turns.events[-1].type) == (taken, "turn_finished")


async def test_the_steps_of_a_plan_go_through_the_same_graph():
    plan = planned(step("sum", request="2 plus 1"), step("again", "sum", request="2 plus 1"))
    turns = Turns(
        ScriptedModel(NONE, plan, ADD, ADD, "3"),
        ScriptedSandbox(returned("3"), returned("3")),
        ListedLibrary(tool()),
    )
    await turns.ask("2 plus 1, twice")
    assert way(turns) == "gather new search nothing-fits specify steps plan done respond"
    assert (way(turns, "sum"), way(turns, "again")) == (REUSED, REUSED)


async def test_a_turn_that_keeps_a_plan_does_not_search():
    model = ScriptedModel(*BUILD, "8")
    turns = Turns(model, ScriptedSandbox(failing(), passing(), returned("8")), ListedLibrary())
    kept = SavedPlan(
        turn_id="t", request="double 4", steps=(SavedStep(request="double 4", tool="add_numbers"),)
    )
    nodes = [
        e.node
        async for e in turns.orchestrator.begin(Request("double 4", kind=kept))
        if isinstance(e, StageEntered)
    ]
    assert nodes[:3] == ["gather", "specify", "test"]


async def test_where_a_turn_fails_the_last_node_says_where():
    turns = Turns(
        ScriptedModel(NONE, specified(), ModelUnavailable("gone")),
        ScriptedSandbox(),
        ListedLibrary(tool()),
    )
    await turns.ask("double 4")
    assert (turns.course[-1].node, turns.events[-1].where) == ("test", "test")


async def test_a_symbol_that_leads_nowhere_is_an_error_and_no_event():
    events: list[Event] = []

    async def astray(_state: None) -> str:
        return "home"

    course = GraphRun(Turn(Request(""), events.append))
    with pytest.raises(SymbolUnknown) as raised:
        await course.follow({"gather": astray}, None)
    assert raised.value.message == "'home' leads nowhere from the node 'gather'"
    assert (course.node, events) == ("gather", [StageEntered(node="gather")])


def test_every_prompt_belongs_to_one_stage():
    of_no_turn = ["lessons", "project_step"]
    prompts = [name for stage in STAGES.values() for name in stage.prompts]
    assert sorted(prompts + of_no_turn) == sorted(p.stem for p in PROMPTS.glob("[!R]*.md"))


def test_events_can_name_every_node_and_each_can_be_reached():
    graph = turn_graph()
    assert tuple(graph.nodes) == get_args(StageName) == tuple(STAGES)
    assert {graph.start_node, *(t.target for t in graph.transitions)} == set(graph.nodes)
    assert [name for name in graph.nodes if graph.fresh(name).is_terminal] == ["respond"]
