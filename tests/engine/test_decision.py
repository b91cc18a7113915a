"""The decision: what a model that chooses costs, where it is not asked, what happens without it,
and which requests are learnt.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from selfeng.core.errors import BudgetExceeded, ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import (
    FINAL,
    Event,
    Executing,
    NoToolFound,
    ToolFound,
    TurnFailed,
    TurnFinished,
)
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.spec import SpecExample, SpecificationReply, SpecParameter
from selfeng.core.tool import Candidate, Tool
from selfeng.core.turn import Request
from selfeng.core.verdict import Execution, Raised
from selfeng.llm_client import LLMClient
from selfeng.models.pricing import free
from selfeng.orchestrator import Orchestrator
from selfeng.stages.decision import Thresholds
from selfeng.stages.executor import Executor
from selfeng.stages.language import is_english
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_agents import MiniAgents
from selfeng_offline.completion import Completion, Flawed, WireCall
from selfeng_offline.server import OfflineServer
from tests.doubles import (
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    handled,
    returned,
    specification,
    tool,
)
from tests.script import Script, title_of

CHOOSE, ANSWER, SPECIFY = "choose a tool", "answer the person", "write the specification"
ADD = FunctionCall(name="add_numbers", arguments={"a": 2, "b": None})
NOTHING = SpecificationReply(outcome="impossible", message="No.", specification=None)
CHOICE = Completion(function="add_numbers", arguments={"a": 2, "b": 1})
WRITTEN = (
    'Let me see. I would call:\n```json\n{"name": "add_numbers", "arguments": {"a": 2, "b": '
    "1}}\n```\nThat should do."
)
SEVERAL = Flawed(
    calls=(
        WireCall(name="add_numbers", arguments='{"a": 2}'),
        WireCall(name="no_tool_fits", arguments="{}"),
    )
)
CUT_OFF = Flawed(calls=(WireCall(name="add_numbers", arguments='{"a": '),), finish_reason="length")
GONE, REFUSED = (
    ModelUnavailable("the model is gone", "start it"),
    ModelRefused("it declined", "word it differently"),
)
SENSELESS = ModelReplyInvalid("its reply can't be used", "set another OPENAI_MODEL")
NO_NEEDS = "def roll_dice(sides: int = 6) -> int:\n    return sides\n"


def alone(request: str) -> FunctionCall:
    """The choice with the request rewritten."""
    return FunctionCall(
        name="add_numbers", arguments={"standalone_request": request, **ADD.arguments}
    )


class Nearness(ListedLibrary):
    """Says for each text that is searched how near the tools are; no confidence for a text that it
    does not know.
    """

    def __init__(self, *tools: Tool, near: Mapping[str, Mapping[str, float]]) -> None:
        super().__init__(*tools)
        self._near = near
        self.searched: list[str] = []

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        self.searched.append(request)
        near = self._near.get(request, {})
        found = [
            Candidate(tool=t, similarity=0.5, confidence=near.get(t.name, 0.0))
            for t in await self.tools()
        ]
        return tuple(sorted(found, key=lambda c: -c.confidence)[:limit])


class Decided:
    """A turn on scripted parts, run to its end, and what the library has learnt by then."""

    def __init__(
        self,
        model: Any,
        library: ListedLibrary,
        *runs: Execution,
        thresholds: Thresholds | None = None,
    ) -> None:
        self.model, self.library, self._thresholds = model, library, thresholds
        self._sandbox = ScriptedSandbox(*(runs or [returned("3")]))

    async def ask(self, request: str, *history: str) -> list[Event]:
        events = list[Event]()
        former = [ChatMessage(role="user", content=text) for text in history]
        async with MiniAgents() as runtime:
            executor, synthesis = (
                Executor(self.model, self._sandbox, self.library),
                self._synthesis(),
            )
            responder = ResponseSynthesizer(self.model)
            orchestrator = Orchestrator(
                self.library,
                executor,
                synthesis,
                responder,
                thresholds=self._thresholds,
                runtime=runtime,
            )
            await handled(orchestrator, request, events.append, former)
        assert isinstance(events[-1], FINAL)
        return events

    def _synthesis(self) -> SynthesisEngine:
        return SynthesisEngine(self.model, self._sandbox, self.library, model_name="scripted")


def outcome(events: Sequence[Event]) -> ToolFound | NoToolFound:
    return next(e for e in events if isinstance(e, ToolFound | NoToolFound))


def failure(events: Sequence[Event]) -> tuple[str, str, str]:
    last = events[-1]
    assert isinstance(last, TurnFailed)
    return last.where, last.message, last.remedy


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        pytest.param([CHOICE], [CHOOSE], id="a call"),
        pytest.param([Completion(content=WRITTEN)], [CHOOSE], id="prose around JSON"),
        pytest.param(
            [Completion(function="add", arguments={}), CHOICE], [CHOOSE] * 2, id="a wrong name"
        ),
        pytest.param([SEVERAL, CHOICE], [CHOOSE] * 2, id="several calls"),
        pytest.param([CUT_OFF, CHOICE], [CHOOSE] * 2, id="cut off"),
        pytest.param([SEVERAL, SEVERAL], [CHOOSE] * 2 + ["extract the arguments"], id="senseless"),
        pytest.param([Flawed(refusal="I won't.")], [CHOOSE, "extract the arguments"], id="refused"),
    ],
)
async def test_reuse_takes_one_model_call_before_the_answer_unless_the_reply_can_not_be_used(
    replies, asked
):
    titled = {
        CHOOSE: replies,
        "extract the arguments": CHOICE,
        ANSWER: Completion(content="It is 3."),
    }
    script = Script(titled=titled)
    with OfflineServer(script, delay=0) as server:
        model = LLMClient(
            model="offline",
            base_url=server.base_url,
            api_key=server.api_key,
            timeout=10,
            max_retries=0,
            price=free,
        )
        events = await Decided(model, ListedLibrary(tool(), confidence=0.8)).ask("2 plus 1")
        await model.aclose()
    assert [title_of(request) for request in script.requests] == [*asked, ANSWER]
    assert isinstance(events[-1], TurnFinished)
    assert (events[-1].tool, events[-1].usage.calls) == ("add_numbers", len(asked) + 1)


@pytest.mark.parametrize(
    ("confidence", "floor", "asked"), [(0.04, 0.05, False), (0.05, 0.05, True), (0.0, 0.0, True)]
)
async def test_below_the_floor_a_tool_is_built_without_asking_whether_one_fits(
    confidence, floor, asked
):
    none = [FunctionCall(name="no_tool_fits", arguments={"reason": "it adds"})] if asked else []
    model = ScriptedModel(*none, NOTHING)
    events = await Decided(
        model, ListedLibrary(tool(), confidence=confidence), thresholds=Thresholds(floor=floor)
    ).ask("2 plus 1")
    assert model.asked() == ["decide", "specification"][not asked :]
    limit = (
        "The nearest tool, add_numbers, has a confidence of only 4.0%, below the 5.0% of "
        "SEARCH_FLOOR."
    )
    found = outcome(events)
    assert (found.type, found.reason) == ("no_tool_found", "it adds" if asked else limit)


@pytest.mark.parametrize(
    ("former", "searched"),
    [
        (("2 plus 1",), ["and 2?", "2 plus 1\nand 2?"]),
        (("2 plus 1", "and 5?"), ["and 2?", "and 5?\nand 2?", "2 plus 1\nand 5?\nand 2?"]),
        (
            ("add", "1 plus 1", "2 plus 1", "and 5?"),
            ["and 2?", "and 5?\nand 2?", "1 plus 1\n2 plus 1\nand 5?\nand 2?"],
        ),
    ],
)
async def test_a_request_that_goes_on_is_searched_with_those_before_it(former, searched):
    near = {searched[-1]: {"add_numbers": 0.9}, "Add 2 and 2": {"add_numbers": 0.7}}
    library = Nearness(tool(), near=near)
    events = await Decided(ScriptedModel(alone("Add 2 and 2"), "3"), library).ask("and 2?", *former)
    assert (outcome(events).type, library.searched) == ("tool_found", [*searched, "Add 2 and 2"])
    assert library.requests == [("add_numbers", 1, "Add 2 and 2")]


@pytest.mark.parametrize("error", [GONE, REFUSED, SENSELESS])
async def test_without_the_model_a_sure_tool_that_needs_no_arguments_is_taken(error):
    dice = tool("roll_dice", NO_NEEDS)
    events = await Decided(
        ScriptedModel(*[error] * (1 if error is GONE else 2), "4"), ListedLibrary(dice)
    ).ask("roll")
    assert [(e.tool, e.confidence, e.reason) for e in events if isinstance(e, ToolFound)] == [
        (
            "roll_dice",
            0.8,
            f"The model could not choose ({error.message}); the search alone decided.",
        )
    ]
    assert isinstance(events[-1], TurnFinished)


@pytest.mark.parametrize(("error", "calls"), [(GONE, 1), (REFUSED, 2), (SENSELESS, 2)])
async def test_without_the_model_a_tool_that_needs_arguments_is_named(error, calls):
    model = ScriptedModel(*[error] * calls)
    told = (
        "add_numbers was found with a confidence of 80%, but its arguments (a) need the "
        f"model: {error.message}"
    )
    assert failure(await Decided(model, ListedLibrary(tool())).ask("2 plus 1")) == (
        "search",
        told,
        error.remedy,
    )


async def test_without_the_model_nothing_is_built():
    events = await Decided(ScriptedModel(GONE), ListedLibrary(tool(), confidence=0.7)).ask(
        "2 plus 1"
    )
    told = (
        "no tool is near enough to be used without the model (the nearest, add_numbers, has a "
        "confidence of 70%), and none can be built"
    )
    assert failure(events) == ("search", f"{told}: the model is gone", "start it")


async def test_a_budget_that_is_used_up_ends_the_turn_whatever_the_search_found():
    model = ScriptedModel(
        BudgetExceeded("the turn has used up its budget of 1 model calls", "raise TURN_MAX_CALLS")
    )
    events = await Decided(model, ListedLibrary(tool("roll_dice", NO_NEEDS))).ask("roll")
    assert failure(events) == (
        "search",
        "the turn has used up its budget of 1 model calls",
        "raise TURN_MAX_CALLS",
    )


async def test_a_request_that_a_found_tool_has_served_is_learnt():
    library = ListedLibrary(tool())
    await Decided(ScriptedModel(ADD, "3"), library).ask("2 plus 1")
    assert library.requests == [("add_numbers", 1, "2 plus 1")]


@pytest.mark.parametrize(
    ("request_", "history", "near", "run"),
    [
        pytest.param(
            "and 2?",
            ["1 plus 1"],
            {"and 2?": 0.3, "1 plus 1\nand 2?": 0.9},
            returned("3"),
            id="it goes on from another",
        ),
        pytest.param("2 plus " + "1" * 500, [], None, returned("3"), id="long"),
        pytest.param(
            "2 plus ghp_0123456789abcdefghijABCDEFGHIJ012345",
            [],
            None,
            returned("3"),
            id="a secret",
        ),
        pytest.param(
            "2 plus 1",
            [],
            None,
            Raised(type_name="ValueError", message="no"),
            id="the tool refused it",
        ),
    ],
)
async def test_what_says_nothing_of_the_tool_is_not_learnt(request_, history, near, run):
    near = near or {request_: 0.9}
    library = Nearness(
        tool(), near={text: {"add_numbers": confidence} for text, confidence in near.items()}
    )
    events = await Decided(ScriptedModel(ADD, "3"), library, run).ask(request_, *history)
    assert (outcome(events).type, library.requests) == ("tool_found", [])


async def test_what_the_search_alone_decided_is_not_learnt():
    library = ListedLibrary(tool())
    await Decided(ScriptedModel(SENSELESS, ADD, "3"), library).ask("2 plus 1")
    assert library.requests == []


async def test_what_was_served_is_learnt_though_its_turn_is_stopped_then():
    class Patient(ListedLibrary):
        async def record_request(self, name: str, version: int, request: str) -> None:
            begun.set()
            await stopped.wait()
            await super().record_request(name, version, request)

    begun, stopped = asyncio.Event(), asyncio.Event()
    library, model = Patient(tool()), ScriptedModel(ADD, "3")
    async with MiniAgents() as runtime:
        executor = Executor(model, ScriptedSandbox(returned("3")), library)
        synthesis = SynthesisEngine(model, ScriptedSandbox(), library, model_name="scripted")
        running = Orchestrator(
            library, executor, synthesis, ResponseSynthesizer(model), runtime=runtime
        ).begin(Request("2 plus 1"))
        await begun.wait()
        running.stop()
        assert [type(event) in FINAL for event in [event async for event in running]][-1]
        stopped.set()
    assert library.requests == [("add_numbers", 1, "2 plus 1")]


async def test_learning_that_fails_fails_no_turn(caplog):
    class Broken(ListedLibrary):
        async def record_request(self, name: str, version: int, request: str) -> None:
            raise GONE

    events = await Decided(ScriptedModel(ADD, "3"), Broken(tool())).ask("2 plus 1")
    assert isinstance(events[-1], TurnFinished)
    assert "could not add a served request to add_numbers" in caplog.text


GERMAN = "Wie viel ergeben zwei und eins zusammen?"
UPPER = tool("upper_text", "def upper_text(text: str) -> str:\n    return text.upper()\n")


def declined(standalone: str) -> FunctionCall:
    arguments = {"reason": "none adds", "standalone_request": standalone}
    return FunctionCall(name="no_tool_fits", arguments=arguments)


async def test_the_choice_of_the_model_stands_however_low_the_threshold_finds_it():
    library = Nearness(tool(), near={GERMAN: {"add_numbers": 0.06}})
    events = await Decided(ScriptedModel(alone("Add two and one"), "3"), library).ask(GERMAN)
    assert (outcome(events).type, outcome(events).standalone) == ("tool_found", "Add two and one")
    assert outcome(events).confidence == pytest.approx(0.55, abs=0.01)


async def test_a_request_in_another_language_finds_its_tool_by_its_english_form():
    near = {GERMAN: {"upper_text": 0.3}, "Add two and one": {"add_numbers": 0.8}}
    library = Nearness(tool(), UPPER, near=near)
    model = ScriptedModel(declined("Add two and one"), ADD, "3")
    events = await Decided(model, library).ask(GERMAN)
    assert (events[-1].tool, model.asked()) == ("add_numbers", ["decide", "decide", "answer"])
    learnt = [("add_numbers", 1, GERMAN), ("add_numbers", 1, "Add two and one")]
    assert library.requests == learnt


async def test_another_language_costs_no_call_where_no_tool_is_likely():
    spec = specification("add_numbers").model_copy(
        update={
            "parameters": tuple(
                SpecParameter(
                    name=p.name, annotation=p.annotation, default=p.default, description=""
                )
                for p in tool().signature.parameters
            ),
            "examples": (SpecExample(call="add_numbers(a=2, b=1)", result="3"),),
        }
    )
    reply = SpecificationReply(
        outcome="tool", message="", specification=spec, call="add_numbers(a=2, b=1)"
    )
    library, model = Nearness(tool(), near={}), ScriptedModel(reply, "3")
    events = await Decided(model, library).ask(GERMAN)
    assert (events[-1].tool, model.asked()) == ("add_numbers", ["specification", "answer"])
    assert library.requests == [("add_numbers", 1, GERMAN)]


@pytest.mark.parametrize(("request_", "listed"), [(GERMAN, True), ("Add two and one", False)])
async def test_unlikely_tools_are_listed_only_where_the_language_may_hide_them(request_, listed):
    model = ScriptedModel(NOTHING)
    await Decided(model, Nearness(tool(), near={})).ask(request_)
    (prompt,) = model.prompts
    assert (prompt.name, "<library>" in prompt.messages[-1].content) == ("specification", listed)


@pytest.mark.parametrize("request_", ["Draw me a picture of a cat", "Zeichne mir eine Katze"])
async def test_an_unrelated_request_inherits_no_confidence_from_the_one_before(request_):
    near = {request_: {"add_numbers": 0.06}, f"2 plus 1\n{request_}": {"add_numbers": 0.93}}
    model = ScriptedModel(declined("Draw a picture of a cat"), NOTHING)
    events = await Decided(model, Nearness(tool(), near=near)).ask(request_, "2 plus 1")
    assert outcome(events).type == "no_tool_found"
    assert max(outcome(events).confidences) < 0.01


@pytest.mark.parametrize("error", [REFUSED, SENSELESS])
async def test_the_tool_of_the_request_before_does_not_run_where_the_model_makes_no_sense(error):
    cat = "Draw me a picture of a cat"
    near = {cat: {"add_numbers": 0.06}, f"2 plus 1\n{cat}": {"add_numbers": 0.93}}
    events = await Decided(ScriptedModel(error, NOTHING), Nearness(tool(), near=near)).ask(
        cat, "2 plus 1"
    )
    assert (outcome(events).type, outcome(events).confidences) == ("no_tool_found", (0.06,))


async def test_a_choice_that_is_unlikely_and_unexplained_is_not_taken():
    cat = "Draw me a picture of a cat"
    library = Nearness(tool(), near={f"2 plus 1\n{cat}": {"add_numbers": 0.93}})
    model = ScriptedModel(alone("Draw a picture of a cat"), NOTHING)
    events = await Decided(model, library).ask(cat, "2 plus 1")
    assert outcome(events).reason == (
        "add_numbers was chosen, but the search gives it only 0.0%, below the 5.0% of SEARCH_FLOOR."
    )
    assert library.requests == []


@pytest.mark.parametrize(
    ("near", "offered"),
    [
        ({"add_numbers": 0.4, "upper_text": 0.02}, ["add_numbers"]),
        ({"add_numbers": 0.98, "upper_text": 0.02}, ["add_numbers", "upper_text"]),
        ({"add_numbers": 0.999, "upper_text": 0.005}, ["add_numbers"]),
    ],
)
async def test_the_model_sees_no_tool_below_the_floor_but_for_its_rivals(
    near: Mapping[str, float], offered: Sequence[str]
) -> None:
    library = Nearness(tool(), UPPER, near={"2 plus 1": near})
    script = Script(titled={CHOOSE: CHOICE, ANSWER: Completion(content="3")})
    with OfflineServer(script, delay=0) as server:
        model = LLMClient(
            model="offline", base_url=server.base_url, api_key=server.api_key, price=free
        )
        await Decided(model, library).ask("2 plus 1")
        await model.aclose()
    shown = [t["function"]["name"] for t in script.requests[0].tools]
    assert shown == [*offered, "no_tool_fits"]
    assert "standalone_request" not in str(script.requests[0].tools)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("What is 15 percent of 300?", True),
        ("2 plus 1", True),
        ("Slugify 'Über uns'", True),
        ("Wie viel sind 18 Prozent von 250?", False),
        ("Czy 7919 jest liczbą pierwszą?", False),
        ("7919は素数ですか", False),
        ("Сколько гласных в слове 'programming'?", False),
    ],
)
def test_the_language_is_told_by_the_words_and_not_by_the_values(text, english):
    assert is_english(text) is english


async def test_words_that_need_the_conversation_are_not_learnt():
    asked = "Round that to two decimals please"
    library = Nearness(tool(), near={asked: {"add_numbers": 0.9}, "Round 2.345": {}})
    await Decided(ScriptedModel(ADD, "3"), library).ask(asked, "1.145 plus 1.2")
    assert library.requests == []


async def test_several_calls_of_one_tool_are_one_turn_with_one_answer():
    call = FunctionCall(name="add_numbers", arguments={"a": 1}, further=({"a": 2}, {"a": 3}))
    model = ScriptedModel(call, "2, 3 and not 4.")
    library = ListedLibrary(tool())
    runs = [returned("2"), returned("3"), Raised(type_name="ValueError", message="no")]
    events = await Decided(model, library, *runs).ask("Add 1 to each of 1, 2 and 3")
    assert [e.arguments for e in events if isinstance(e, Executing)] == [
        '{"a": 1}',
        '{"a": 2}',
        '{"a": 3}',
    ]
    assert (events[-1].tool, events[-1].answer) == ("add_numbers", "2, 3 and not 4.")
    shown = model.prompts[-1].messages[-1].content
    assert "raised ValueError: no" in shown
    assert model.asked() == ["decide", "results"]
