"""Plans with scripted parts: what runs when, what is passed on, and what a failing step means."""

import asyncio
from functools import partial
from typing import get_args

import pytest

from selfeng.core.events import (
    Event,
    ExecutionFinished,
    LessonsShown,
    Limits,
    PlanMade,
    PlanStepChanged,
    StageEvent,
    TurnFailed,
    TurnFinished,
    TurnStopped,
)
from selfeng.core.files import File
from selfeng.core.lesson import AgentKind, LessonHint
from selfeng.core.plan import Plan, PlannedStep, StepResult, plan_problem
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Answer
from selfeng.core.spec import SpecificationReply
from selfeng.core.stage_event import Usage
from selfeng.core.tool import Candidate
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import CallLimits, Execution, Killed, Raised
from selfeng.core.words import shortened
from selfeng.stages.plan_runner import PlanRunner
from selfeng.stages.stages import PartServed
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
from tests.engine.test_orchestrator import NONE, Turns

REVERSE = tool("reverse_text", "def reverse_text(text: str) -> str:\n    return text[::-1]\n")
COUNT = tool(
    "count_vowels",
    "def count_vowels(text: str) -> int:\n    return sum(c in 'aeiou' for c in text)\n",
)


class WordLibrary(ListedLibrary):
    """Its search offers first the tool that begins with a word of the request."""

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        words = set(request.lower().split())
        listed = await super().search(request, 100)
        first = sorted(listed, key=lambda c: c.tool.name.partition("_")[0] not in words)
        return tuple(first[:limit])


unsure = partial(ListedLibrary, confidence=0.1)
"""A library that is sure of no tool, so that plans run in steps."""
REQUEST = "Reverse 'abc' and count the vowels of that"


def planned(*steps: PlannedStep) -> SpecificationReply:
    return SpecificationReply(outcome="steps", message="", specification=None, steps=steps)


def step(id: str, *needs: str, request: str = "") -> PlannedStep:
    return PlannedStep(id=id, request=request or f"do {id}", needs=needs)


def call(name: str, **arguments: object) -> FunctionCall:
    return FunctionCall(name=name, arguments=arguments)


LISTS = tool("count_vowels", "def count_vowels(text: list[str]) -> int:\n    return 0\n")
SEQUENCE = planned(
    step("reversed", request="Reverse 'abc'"),
    step("vowels", "reversed", request="Count the vowels of reversed"),
)
REVERSED = call("reverse_text", text="abc")
LONG = "x" * 5000
SHORT = shortened(LONG, 500)


async def test_a_plan_runs_its_steps_and_passes_exact_results_on():
    model = ScriptedModel(
        NONE, SEQUENCE, REVERSED, call("count_vowels", text={"$result": "reversed"}), "One."
    )
    turns = Turns(
        model,
        ScriptedSandbox(
            returned(LONG, "str").model_copy(update={"data": f'"{LONG}"'}), returned("1")
        ),
        unsure(REVERSE, COUNT),
    )
    await turns.ask(REQUEST)
    assert [e for e in turns.events if isinstance(e, PlanMade)] == [PlanMade(steps=SEQUENCE.steps)]
    assert [(e.step, e.state, e.tool) for e in turns.events if isinstance(e, PlanStepChanged)] == [
        ("reversed", "started", None),
        ("reversed", "finished", "reverse_text"),
        ("vowels", "started", None),
        ("vowels", "finished", "count_vowels"),
    ]
    assert [
        e.text for e in turns.events if isinstance(e, PlanStepChanged) and e.state == "finished"
    ] == [SHORT, "1"]
    assert turns.sandbox.executed == [
        ("reverse_text", {"text": "abc"}),
        ("count_vowels", {"text": LONG}),
    ]
    assert [(e.plan_step, e.tool) for e in turns.events if isinstance(e, ExecutionFinished)] == [
        ("reversed", "reverse_text"),
        ("vowels", "count_vowels"),
    ]
    assert turns.events[-1] == TurnFinished(
        answer="One.",
        reused=("count_vowels", "reverse_text"),
        usage=turns.events[-1].usage,
        seconds=turns.events[-1].seconds,
    )
    assert model.asked() == ["decide", "specification", "decide", "decide", "results"]
    shown = model.prompts[3].messages[-1].content
    assert '<results>\n{"id":"reversed","request":"Reverse \'abc\'","value":"xxx' in shown
    assert LONG not in shown


async def test_several_calls_of_a_step_are_passed_on_as_a_list():
    both = REVERSED.model_copy(update={"further": ({"text": "xyz"},)})
    counted = call("count_vowels", text={"$result": "reversed"})
    model = ScriptedModel(NONE, SEQUENCE, both, counted, "None.")
    values = [returned(text, "str").model_copy(update={"data": f'"{text}"'}) for text in ("c", "z")]
    turns = Turns(model, ScriptedSandbox(*values, returned("0")), unsure(REVERSE, LISTS))
    await turns.ask(REQUEST)
    assert turns.sandbox.executed == [
        ("reverse_text", {"text": "abc"}),
        ("reverse_text", {"text": "xyz"}),
        ("count_vowels", {"text": ["c", "z"]}),
    ]


async def test_steps_that_need_nothing_of_each_other_run_at_once():
    meeting = asyncio.Barrier(2)

    class Meeting(ScriptedSandbox):
        async def execute(self, job, arguments, files=()):
            if job.name == "reverse_text":
                await meeting.wait()
            return await super().execute(job, arguments, files)

    plan = planned(step("one"), step("two"), step("both", "one", "two"))
    references = {"text": {"$result": "one"}}
    model = ScriptedModel(
        NONE, plan, REVERSED, REVERSED, call("count_vowels", **references), "Done."
    )
    turns = Turns(
        model, Meeting(returned("3"), returned("4"), returned("1")), unsure(REVERSE, COUNT)
    )
    await turns.ask(REQUEST)
    states = [(e.step, e.state) for e in turns.events if isinstance(e, PlanStepChanged)]
    assert {states[0], states[1]} == {("one", "started"), ("two", "started")}
    assert states[-1] == ("both", "finished")
    shown = model.prompts[-2].messages[-1].content
    assert [id in shown for id in ('"id":"one"', '"id":"two"')] == [True, True]


async def test_what_a_step_is_shown_does_not_depend_on_those_beside_it():
    hint = LessonHint(id="1", trigger="it counts", advice="Count it.")
    events, seen = list[Event](), list[dict[str, str]]()

    async def recall(agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
        return (hint,)

    async def serve(part: Turn) -> PartServed:
        await part.lessons("test", "vowels")
        seen.append(dict(part.request.profiles))
        part.request.profiles["of"] = part.request.plan_step
        name = part.request.plan_step
        return PartServed(StepResult(id=name, request="", tool=None, text="", data=None), ())

    turn = Turn(Request("both", profiles={"known": "{}"}), events.append, recall=recall)
    await PlanRunner(serve).run(turn, Plan(steps=(step("a"), step("b"))))
    assert [e for e in events if isinstance(e, LessonsShown)] == [
        LessonsShown(agent="test", lessons=(hint,), plan_step=name) for name in ("a", "b")
    ]
    assert seen == [{"known": "{}"}, {"known": "{}"}]


async def test_a_step_that_nothing_fits_is_built():
    model = ScriptedModel(
        NONE, planned(step("doubled", request="double 4"), step("reversed", "doubled")),
        NONE, specified(), fenced(TESTS), fenced(CODE), call("double_number", number=4), REVERSED, "8 and cba.",
    )  # fmt: skip
    turns = Turns(
        model,
        ScriptedSandbox(failing(), passing(), returned("8"), returned("cba")),
        unsure(REVERSE),
    )
    await turns.ask("double 4, and reverse 'abc'")
    assert turns.events[-1].answer == "8 and cba."
    asked = (await turns.library.version("double_number", 1)).provenance.prompts
    assert [prompt.name for prompt in asked] == ["specification", "tests", "implementation"], (
        "and none of the whole request"
    )
    assert turns.library.requests == [
        ("double_number", 1, "double 4"),
        ("reverse_text", 1, "do reversed"),
    ], "of the steps"
    assert {e.plan_step for e in turns.events if e.type in ("synthesis_step", "test_finished")} == {
        "",
        "doubled",
    }
    assert ["`steps`:" in model.prompts[n].messages[0].content for n in (1, 3)] == [True, False]


async def test_a_plan_of_which_no_tool_can_be_made_runs_in_steps():
    unusable = SpecificationReply(outcome="impossible", message="No.", specification=None)
    counted = call("count_vowels", text={"$result": "reversed"})
    for replies in ([unusable], [planned(*SEQUENCE.steps)] * 3):
        model = ScriptedModel(NONE, SEQUENCE, *replies, REVERSED, counted, "One.")
        sandbox = ScriptedSandbox(returned("cba", "str"), returned("1"))
        turns = Turns(model, sandbox, WordLibrary(REVERSE, COUNT))
        await turns.ask(REQUEST)
        asked = ["specification"] * len(replies)
        assert model.asked() == ["decide", "specification", *asked, "decide", "decide", "results"]
        assert [e.type for e in turns.events].count("plan_made") == 1
        assert turns.events[-1].answer == "One."


async def test_a_plan_whose_program_fails_runs_in_steps():
    counted = call("count_vowels", text={"$result": "reversed"})
    model = ScriptedModel(
        NONE, SEQUENCE, specified(), fenced(TESTS), fenced(CODE), call("double_number", number=4),
        "no", REVERSED, counted, "One.",
    )  # fmt: skip
    raised = Raised(type_name="KeyError", message="'b'")
    sandbox = ScriptedSandbox(failing(), passing(), raised, returned("cba", "str"), returned("1"))
    turns = Turns(model, sandbox, WordLibrary(REVERSE, COUNT))
    await turns.ask(REQUEST)
    assert turns.sandbox.executed[1:] == [
        ("reverse_text", {"text": "abc"}),
        ("count_vowels", {"text": "cba"}),
    ]
    assert turns.events[-1].answer == "One."


async def test_a_plan_for_set_times_becomes_one_tool_that_is_asked_about():
    reply = specified().model_copy(update={"cron": "0 8 * * mon"})
    model = ScriptedModel(
        NONE, SEQUENCE, reply, fenced(TESTS), fenced(CODE), call("double_number", number=4)
    )
    turns = Turns(model, ScriptedSandbox(failing(), passing()), WordLibrary(REVERSE, COUNT))
    await turns.ask(REQUEST)
    (plan,) = [e.schedule for e in turns.events if e.type == "questions_asked"]
    assert (plan.tool, plan.arguments, plan.cron) == ("double_number", {"number": 4}, "0 8 * * mon")
    assert turns.sandbox.executed == []
    assert turns.events[-1].outcome == "asked"


async def test_the_tool_of_a_plan_leaves_half_of_the_budget_for_its_steps():
    counted = call("count_vowels", text={"$result": "reversed"})
    model = ScriptedModel(
        NONE, SEQUENCE, specified(), fenced(TESTS), fenced(CODE), REVERSED, counted, "One."
    )
    sandbox = ScriptedSandbox(failing(), passing(), returned("cba", "str"), returned("1"))
    library = WordLibrary(REVERSE, COUNT)
    turns = Turns(model, sandbox, library, limits=Limits(calls=8))
    await turns.ask(REQUEST)
    assert model.asked()[2:] == [
        "specification",
        "tests",
        "implementation",
        "decide",
        "decide",
        "results",
    ]
    assert turns.events[-1].answer == "One."


async def test_a_plan_with_a_tool_that_needs_consent_runs_in_steps():
    slow = REVERSE.model_copy(update={"limits": CallLimits(seconds=600)})
    model = ScriptedModel(NONE, SEQUENCE, call("count_vowels", text="a"), REVERSED, "One.")
    turns = Turns(model, ScriptedSandbox(), WordLibrary(slow, COUNT))
    await turns.ask(REQUEST)
    assert model.asked()[:3] == ["decide", "specification", "decide"]


async def test_files_that_a_step_makes_go_along_with_those_that_need_it():
    made = File(name="a.txt", content=b"a")
    model = ScriptedModel(NONE, SEQUENCE, REVERSED, call("count_vowels", text="a.txt"), "One.")
    sandbox = ScriptedSandbox(
        returned("a.txt").model_copy(update={"files": (made,)}), returned("1")
    )
    turns = Turns(model, sandbox, unsure(REVERSE, COUNT))
    await turns.ask(REQUEST)
    assert sandbox.files == [(), (made,)]


async def test_a_step_is_given_what_it_needs_and_nothing_else():
    made = [File(name=f"{name}.txt", content=name.encode()) for name in "abc"]
    model = ScriptedModel(
        NONE,
        planned(step("one"), step("two", "one"), step("three", "two")),
        *[REVERSED] * 3,
        "Done.",
    )
    outcomes = [returned(file.name).model_copy(update={"files": (file,)}) for file in made]
    turns = Turns(model, ScriptedSandbox(*outcomes), unsure(REVERSE))
    history = (
        ChatMessage(role="user", content="Of before"),
        ChatMessage(role="assistant", content="Long ago"),
    )
    given = File(name="given.txt", content=b"given")
    answers = (Answer(id="unit", question="Which unit?", value="furlongs"),)
    async for _ in turns.orchestrator.begin(Request(REQUEST, history, (given,), answers=answers)):
        pass
    assert turns.sandbox.files == [(given,), (given, made[0]), (given, made[1])]
    said = ["\n".join(m.content for m in prompt.messages) for prompt in model.prompts]
    told = [
        [words in text for words in ("Of before", "furlongs", '"id":"one"', '"id":"two"')]
        for text in said
    ]
    whole, final = [True, True, False, False], [True, False, False, False]
    assert told == [
        whole,
        whole,
        [False] * 4,
        [False, False, True, False],
        [False, False, False, True],
        final,
    ]
    assert ['"value":"a.txt"' in said[-1], '"value":"b.txt"' in said[-1]] == [True, True]


async def test_steps_may_be_written_in_any_order_and_their_results_are_told_in_it():
    plan = planned(step("vowels", "reversed"), step("reversed"))
    model = ScriptedModel(
        NONE, plan, REVERSED, call("count_vowels", text={"$result": "reversed"}), "One."
    )
    turns = Turns(
        model,
        ScriptedSandbox(returned('"cba"', "str"), returned("1")),
        unsure(REVERSE, COUNT),
    )
    await turns.ask(REQUEST)
    shown = model.prompts[-1].messages[-1].content
    assert [line[:21] for line in shown.splitlines() if line.startswith("{")] == [
        '{"request":"do vowels',
        '{"request":"do revers',
    ]


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (
            Raised(type_name="ValueError", message="no letters"),
            "the tool raised ValueError: no letters",
        ),
        (
            Killed(reason="It used 30 s of processor time."),
            "the tool was ended: It used 30 s of processor time.",
        ),
    ],
    ids=["raised", "killed"],
)
async def test_a_step_that_fails_ends_the_turn_with_what_was_reached(
    outcome: Execution, problem: str
):
    model = ScriptedModel(
        NONE, SEQUENCE, REVERSED, call("count_vowels", text="cba"), "There is nothing to mend."
    )
    turns = Turns(model, ScriptedSandbox(returned(LONG, "str"), outcome), unsure(REVERSE, COUNT))
    await turns.ask(REQUEST)
    last = turns.events[-1]
    assert isinstance(last, TurnFailed)
    said = (
        f"the step “Count the vowels of reversed” failed: {problem}. What was reached: "
        f"“Reverse 'abc'”: {SHORT}"
    )
    assert (last.where, last.message) == ("plan", said)
    changed = [(e.step, e.state, e.text) for e in turns.events if isinstance(e, PlanStepChanged)]
    assert changed[-1] == ("vowels", "failed", problem)


class Beside(ScriptedSandbox):
    """One in which three steps run at once, of which those that count go on until they are ended;
    that takes a thread, and a while.
    """

    def __init__(self, outcome: Raised | Exception) -> None:
        super().__init__(outcome)
        self._meeting = asyncio.Barrier(3)
        self.ended: list[str] = []

    async def execute(self, job, arguments, files=()):
        await self._meeting.wait()
        if job.name == "count_vowels":
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.to_thread(self.ended.append, arguments["text"])
        return await super().execute(job, arguments, files)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (
            Raised(type_name="ValueError", message="no"),
            "the step “do three” failed: the tool raised ValueError: no",
        ),
        (RuntimeError("no"), "an unexpected error: RuntimeError: no"),
    ],
    ids=["the tool's", "ours"],
)
async def test_a_failing_step_ends_those_beside_it_before_the_turn_ends(
    failure: Raised | Exception, message: str
):
    plan = planned(step("one"), step("two"), step("three"), step("four", "one"))
    model = ScriptedModel(
        NONE, plan, call("count_vowels", text="a"), call("count_vowels", text="b"), REVERSED
    )
    turns = Turns(model, Beside(failure), unsure(REVERSE, COUNT))
    async with asyncio.timeout(5):
        await turns.ask(REQUEST)
    assert (sorted(turns.sandbox.ended), turns.events[-1].message) == (["a", "b"], message)
    states = [(e.step, e.state) for e in turns.events if isinstance(e, PlanStepChanged)]
    begun = [("one", "started"), ("two", "started"), ("three", "started")]
    assert states == [*begun, *([("three", "failed")] if isinstance(failure, Raised) else [])]


async def test_what_the_steps_beside_a_failed_one_have_spent_is_in_the_account_of_the_turn():
    asking = asyncio.Event()

    class Asked(ScriptedModel):
        async def choose(self, prompt, functions, budget):
            chosen = await super().choose(prompt, functions, budget)
            if chosen.name == "count_vowels":
                asking.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    budget.charge(1000, 500, None)  # as a call that breaks off is charged
            elif chosen.name == "reverse_text":
                await asking.wait()
            return chosen

    model = Asked(NONE, planned(step("one"), step("two")), call("count_vowels", text="a"), REVERSED)
    turns = Turns(
        model,
        ScriptedSandbox(Raised(type_name="ValueError", message="no")),
        unsure(REVERSE, COUNT),
    )
    await turns.ask(REQUEST)
    spent = Usage(calls=5, input_tokens=1040, output_tokens=520)
    assert (turns.events[-1].type, turns.events[-1].usage, turns.meter[-1].usage) == (
        "turn_failed",
        spent,
        spent,
    )


async def test_stopping_a_turn_stops_the_steps_of_its_plan():
    begun, never = asyncio.Event(), asyncio.Event()

    class Held(ScriptedSandbox):
        async def execute(self, *arguments, **options):
            begun.set()
            try:
                await never.wait()
            finally:
                begun.clear()

    turns = Turns(ScriptedModel(NONE, SEQUENCE, REVERSED), Held(), unsure(REVERSE, COUNT))
    running = turns.orchestrator.begin(Request(REQUEST))
    await begun.wait()
    running.stop("Stopped on request.")
    events = [event async for event in running]
    assert isinstance(events[-1], TurnStopped)
    assert not begun.is_set()


@pytest.mark.parametrize(
    "within",
    [
        call("count_vowels", text={"$result": "nowhere"}),
        call("count_vowels", text={"$result": "reversed"}),
    ],
)
async def test_a_reference_to_what_cannot_be_passed_is_asked_again(within: FunctionCall):
    model = ScriptedModel(
        NONE, SEQUENCE, REVERSED, within, call("count_vowels", text="cba"), "One."
    )
    value = returned("<object>", "Thing").model_copy(update={"data": None})
    turns = Turns(model, ScriptedSandbox(value, returned("1")), unsure(REVERSE, COUNT))
    await turns.ask(REQUEST)
    assert turns.events[-1].answer == "One."
    assert (
        "names no result that can be passed; these can: none"
        in model.prompts[4].messages[0].content
    )


async def test_a_plan_within_a_plan_is_refused():
    model = ScriptedModel(
        NONE, planned(step("one"), step("two", "one")),
        NONE, planned(step("three"), step("four")), specified(), fenced(TESTS), fenced(CODE), call("double_number", number=4),
        REVERSED, "Done.",
    )  # fmt: skip
    turns = Turns(
        model,
        ScriptedSandbox(failing(), passing(), returned("8"), returned("cba")),
        unsure(REVERSE),
    )
    await turns.ask(REQUEST)
    refused = [e.text for e in turns.events if e.type == "synthesis_step" and e.state == "failed"]
    assert refused == [
        "Refused: this is a step of a plan already, and can't be a plan itself; specify one tool "
        "for it."
    ]
    assert turns.events[-1].answer == "Done."


async def test_a_step_may_be_answered_without_a_tool_and_its_text_passed_on():
    told = SpecificationReply(outcome="answer", message="aeiou", specification=None)
    reference = call("count_vowels", text={"$result": "reversed"})
    turns = Turns(
        ScriptedModel(NONE, SEQUENCE, NONE, told, reference, "Five."),
        ScriptedSandbox(returned("5")),
        unsure(COUNT),
    )
    await turns.ask(REQUEST)
    assert turns.sandbox.executed == [("count_vowels", {"text": "aeiou"})]


async def test_a_step_that_needs_to_ask_ends_the_turn_with_the_question():
    asks = SpecificationReply(outcome="question", message="Which text?", specification=None)
    turns = Turns(ScriptedModel(NONE, SEQUENCE, NONE, asks), ScriptedSandbox(), unsure(COUNT))
    await turns.ask(REQUEST)
    assert (turns.events[-1].type, turns.events[-1].remedy) == (
        "turn_failed",
        "ask again, with what is missing",
    )
    assert turns.events[-1].message == "the step “Reverse 'abc'” failed: Which text?"


def test_every_event_that_a_stage_emits_can_name_its_step():
    others = {
        event.__name__
        for event in get_args(get_args(Event)[0])
        if not issubclass(event, StageEvent)
    }
    of_plan = {"PlanMade", "PlanStepChanged"}
    assert others == {
        "TurnStarted",
        "TurnResumed",
        "TurnQueued",
        "BudgetSpent",
        "ThoughtAloud",
        "ModelAskedAgain",
        "ModelSilent",
        *of_plan,
        "AnswerToken",
        "TurnFinished",
        "DeliveryFailed",
        "TurnFailed",
        "TurnStopped",
    }


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([step("a")], "a plan has 2 to 6 steps, not 1"),
        ([step(f"s{n}") for n in range(7)], "a plan has 2 to 6 steps, not 7"),
        ([step("a"), step("a")], "two steps have the id a"),
        (
            [step("a"), step("B 2")],
            "'B 2' can't be the id of a step; use a short word in lower case",
        ),
        ([step("a"), step("b", "c")], "the step b needs c, which is not a step"),
        ([step("a", "b"), step("b", "a")], "these steps wait for each other: a, b, a"),
        ([step("a"), step("b", request=" ")], "the step b has no request"),
        ([step("a"), step("b", "a")], ""),
    ],
)
def test_what_is_no_plan_is_said_with_the_reason(steps: list[PlannedStep], problem: str):
    assert plan_problem(steps) == problem
