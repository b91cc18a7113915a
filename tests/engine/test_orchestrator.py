"""Whole turns with scripted parts: the events in their order, and how each turn ends."""

import asyncio
import gc

import pytest

from selfeng.agents import AgentReply
from selfeng.core.errors import ModelUnavailable, SandboxUnavailable
from selfeng.core.events import (
    FINAL,
    BudgetSpent,
    CodeRun,
    DelegationChanged,
    Event,
    Limits,
    QuestionsAsked,
    StageEntered,
    ThoughtAloud,
    TurnStarted,
    Waiting,
)
from selfeng.core.files import File
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Question
from selfeng.core.spec import SpecificationReply
from selfeng.core.turn import Request
from selfeng.core.verdict import Killed, Raised
from selfeng.orchestrator import Orchestrator
from selfeng.provision.setup import Readiness
from selfeng.stages.decision import Thresholds
from selfeng.stages.ending import ending
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.stages.stages import PlanExecuted
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    handled,
    passing,
    plain_events,
    returned,
    specified,
    tool,
)

ADD = FunctionCall(name="add_numbers", arguments={"a": 2, "b": None})
NONE = FunctionCall(name="no_tool_fits", arguments={"reason": "it doubles nothing"})
KILLED = Killed(reason="It used 30 s of processor time.")
DOUBLE = FunctionCall(name="double_number", arguments={"number": 4})


class Turns:
    """An orchestrator on scripted parts, and the events of what it was asked."""

    def __init__(
        self,
        model: ScriptedModel,
        sandbox: ScriptedSandbox,
        library: ListedLibrary,
        policy: SynthesisPolicy | None = None,
        **options,
    ) -> None:
        self.model, self.sandbox, self.library = model, sandbox, library
        executor = Executor(model, sandbox, library)
        synthesis = SynthesisEngine(model, sandbox, library, "scripted", policy)
        self.orchestrator = Orchestrator(
            library, executor, synthesis, ResponseSynthesizer(model), **options
        )
        self.events: list[Event] = []
        self.meter: list[BudgetSpent] = []
        self.course: list[StageEntered] = []
        """Both come between all others, and are kept apart."""

    async def ask(self, request: str, history: tuple[ChatMessage, ...] = ()) -> list[str]:
        """Run one turn; the types of its events."""

        def keep(event: Event) -> None:
            match event:
                case BudgetSpent():
                    self.meter.append(event)
                case StageEntered():
                    self.course.append(event)
                case _:
                    self.events.append(event)

        await handled(self.orchestrator, request, keep, history)
        assert [type(e) in FINAL for e in self.events] == [False] * (len(self.events) - 1) + [True]
        return [e.type for e in self.events]


async def test_a_tool_that_fits_is_run_and_its_result_answered():
    turns = Turns(
        ScriptedModel(ADD, "It is\n3."), ScriptedSandbox(returned("3")), ListedLibrary(tool())
    )
    await turns.ask("2 plus 1")
    assert plain_events(turns.events) == [
        {"type": "turn_started", "request": "2 plus 1"},
        {"type": "searching"},
        {
            "type": "tool_found",
            "tool": "add_numbers",
            "confidence": pytest.approx(0.987, abs=1e-3),
            "considered": ("add_numbers",),
            "confidences": (pytest.approx(0.987, abs=1e-3),),
        },
        {"type": "executing", "tool": "add_numbers", "arguments": '{"a": 2}'},
        {
            "type": "execution_finished",
            "tool": "add_numbers",
            "execution": {"type_name": "int", "text": "3"},
        },
        {"type": "answer_token", "text": "It is\n"},
        {"type": "answer_token", "text": "3."},
        {
            "type": "turn_finished",
            "answer": "It is\n3.",
            "tool": "add_numbers",
            "reused": ("add_numbers",),
            "usage": {"calls": 2, "input_tokens": 20, "output_tokens": 10},
        },
    ]


async def test_what_the_model_thinks_is_told_apart_from_the_answer():
    class Thinker(ScriptedModel):
        async def stream(self, prompt, budget):
            budget.tell(ThoughtAloud(call=1, text="Hm, 3.", prompt=prompt.name))
            async for piece in super().stream(prompt, budget):
                yield piece

    turns = Turns(Thinker(ADD, "It is 3."), ScriptedSandbox(returned("3")), ListedLibrary(tool()))
    assert "thought_aloud" in await turns.ask("2 plus 1")
    (thought,) = [event for event in turns.events if isinstance(event, ThoughtAloud)]
    assert (thought.text, turns.events[-1].answer) == ("Hm, 3.", "It is 3.")


async def test_a_missing_tool_is_built_run_and_kept():
    model = ScriptedModel(NONE, specified(), fenced(TESTS), fenced(CODE), DOUBLE, "It is 8.")
    turns = Turns(
        model, ScriptedSandbox(failing(), passing(), returned("8")), ListedLibrary(tool())
    )
    kinds = await turns.ask("double 4")
    assert [k for k in kinds if k not in ("synthesis_step", "test_finished", "suite_repeated")] == [
        "turn_started",
        "searching",
        "no_tool_found",
        "executing",
        "execution_finished",
        "answer_token",
        "turn_finished",
    ]
    assert model.asked() == [
        "decide",
        "specification",
        "tests",
        "implementation",
        "arguments",
        "answer",
    ]
    assert [t.name for t in await turns.library.tools()] == ["add_numbers", "double_number"]
    assert turns.sandbox.executed == [("double_number", {"number": 4})]


async def test_a_clean_build_takes_five_calls_as_the_specification_has_the_arguments():
    spec = specified().model_copy(update={"call": "double_number(number=4)"})
    model = ScriptedModel(NONE, spec, fenced(TESTS), fenced(CODE), "It is 8.")
    sandbox = ScriptedSandbox(failing(), passing(), returned("8"))
    turns = Turns(model, sandbox, ListedLibrary(tool()))
    await turns.ask("double 4")
    assert model.asked() == ["decide", "specification", "tests", "implementation", "answer"]
    assert sandbox.executed == [("double_number", {"number": 4})]


@pytest.mark.parametrize(
    "call",
    ["", "4", "double_number()", "double_number(number='four')", "double_number(half=4)"],
    ids=["none", "no call", "nothing given", "another type", "another parameter"],
)
async def test_a_specified_call_that_does_not_fit_is_prepared_anew(call):
    spec = specified().model_copy(update={"call": call})
    model = ScriptedModel(spec, fenced(TESTS), fenced(CODE), DOUBLE, "It is 8.")
    turns = Turns(model, ScriptedSandbox(failing(), passing(), returned("8")), ListedLibrary())
    await turns.ask("double 4")
    assert model.asked()[-2:] == ["arguments", "answer"]
    assert turns.sandbox.executed == [("double_number", {"number": 4})]


async def test_a_tool_that_the_library_has_already_runs_with_the_specified_call():
    spec = specified().model_copy(update={"call": "double_number(number=4)"})
    known = tool("double_number", CODE)
    same = ScriptedModel(NONE, spec, "It is 8.")
    turns = Turns(same, ScriptedSandbox(returned("8")), ListedLibrary(known))
    await turns.ask("double 4")
    assert same.asked() == ["decide", "specification", "answer"]


async def test_a_request_waits_for_a_sandbox_that_is_still_being_set_up():
    readiness, done = Readiness(), asyncio.Event()
    readiness.expect("sandbox")
    preparing = asyncio.ensure_future(readiness.prepare("sandbox", lambda report: done.wait()))
    turns = Turns(
        ScriptedModel(ADD, "It is 3."),
        ScriptedSandbox(returned("3")),
        ListedLibrary(tool()),
        news=readiness.news,
    )
    turn = asyncio.ensure_future(turns.ask("2 plus 1"))
    await asyncio.wait([turn], timeout=0.05)
    assert turns.events[-1] == Waiting(part="sandbox", state="started")
    assert turns.sandbox.executed == []
    done.set()
    kinds = await turn
    await preparing
    assert kinds[:6] == [
        "turn_started",
        "searching",
        "tool_found",
        "waiting",
        "waiting",
        "executing",
    ]
    assert kinds[-1] == "turn_finished"


@pytest.mark.parametrize("confidence", [0.3, 0.1])
async def test_a_request_that_nothing_fits_waits_for_the_first_tools_until_one_is_likely_to_fit(
    confidence,
):
    readiness, library, rest = Readiness(), ListedLibrary(confidence=confidence), asyncio.Event()

    async def plant(report):
        await library.add(tool().draft())
        report("1 of 2 tools verified", 1, 2)
        await rest.wait()

    readiness.expect("tools")
    turns = Turns(
        ScriptedModel(ADD, "It is 3."),
        ScriptedSandbox(returned("3")),
        library,
        news=readiness.news,
    )
    turn = asyncio.ensure_future(turns.ask("2 plus 1"))
    await asyncio.wait([turn], timeout=0.05)
    preparing = asyncio.ensure_future(readiness.prepare("tools", plant))
    await asyncio.wait([turn], timeout=0.5)
    assert turn.done() is (confidence == 0.3)  # once the model chose it, 0.89; the other one 0.68
    rest.set()
    kinds = await turn
    await preparing
    assert kinds[:5] == ["turn_started", "searching", "waiting", "waiting", "tool_found"]


async def test_an_empty_library_costs_no_model_call_to_search():
    model = ScriptedModel(
        SpecificationReply(outcome="answer", message="Hello!", specification=None)
    )
    turns = Turns(model, ScriptedSandbox(), ListedLibrary())
    assert await turns.ask("hi") == [
        "turn_started",
        "searching",
        "no_tool_found",
        "synthesis_step",
        "synthesis_step",
        "answer_token",
        "turn_finished",
    ]
    assert turns.events[-1].answer == "Hello!"


async def test_a_missing_argument_is_asked_for():
    turns = Turns(
        ScriptedModel(FunctionCall(name="add_numbers", arguments={"a": None, "b": 2})),
        ScriptedSandbox(),
        ListedLibrary(tool()),
    )
    await turns.ask("add")
    mismatch = turns.events[3]
    assert (mismatch.type, mismatch.problem, mismatch.then, mismatch.given) == (
        "tool_mismatch",
        "add_numbers needs a",
        "ask",
        '{"b": 2}',
    )
    question = Question(id="a", question="A (int)?", answer="number")
    assert turns.events[4] == QuestionsAsked(
        questions=(question,),
        intro="To do this I still need:",
        code="values",
        values={"tool": "add_numbers"},
    )
    assert turns.events[-1].answer == "To do this I still need:\n- **a**: A (int)? (a number)"


async def test_after_two_rounds_of_questions_a_missing_argument_fails_the_turn():
    turns = Turns(
        ScriptedModel(FunctionCall(name="add_numbers", arguments={"a": None})),
        ScriptedSandbox(),
        ListedLibrary(tool()),
    )
    *_, last = [event async for event in turns.orchestrator.begin(Request("add", rounds=2))]
    assert (last.type, last.message) == (
        "turn_failed",
        "still missing after 2 rounds of questions: a",
    )


async def test_the_conversation_reaches_the_model():
    history = (
        ChatMessage(role="user", content="add"),
        ChatMessage(role="assistant", content="I still need a"),
    )
    turns = Turns(ScriptedModel(ADD, "3"), ScriptedSandbox(returned("3")), ListedLibrary(tool()))
    await turns.ask("2", history)
    assert turns.model.prompts[0].messages[1:3] == history


async def test_arguments_that_never_fit_lead_to_a_new_tool():
    wrong = FunctionCall(name="add_numbers", arguments={"a": "two"})
    model = ScriptedModel(wrong, wrong, specified(), fenced(TESTS), fenced(CODE), DOUBLE, "8")
    turns = Turns(model, ScriptedSandbox(failing(), passing(), returned()), ListedLibrary(tool()))
    kinds = await turns.ask("double 4")
    assert kinds[2:5] == ["tool_found", "tool_mismatch", "synthesis_step"]
    assert turns.events[3].then == "synthesize"
    assert turns.events[-1].tool == "double_number"


async def test_a_choice_of_the_model_stands_below_the_threshold():
    turns = Turns(
        ScriptedModel(ADD, "It is 3."),
        ScriptedSandbox(returned("3")),
        ListedLibrary(tool(), confidence=0.06),
        thresholds=Thresholds(threshold=0.99),
    )
    assert (await turns.ask("2 plus 1"))[2] == "tool_found"


async def test_a_tool_that_raises_is_explained():
    raised = Raised(type_name="ValueError", message="b must not be 0")
    turns = Turns(
        ScriptedModel(ADD, "b must not be zero."), ScriptedSandbox(raised), ListedLibrary(tool())
    )
    assert (await turns.ask("2 plus 1"))[-3:] == [
        "execution_failed",
        "answer_token",
        "turn_finished",
    ]
    assert "raised ValueError: b must not be 0" in turns.model.prompts[-1].messages[-1].content


async def test_the_plain_result_is_the_answer_where_the_model_goes_away():
    turns = Turns(
        ScriptedModel(ADD, ModelUnavailable("no answer from the model")),
        ScriptedSandbox(returned("3")),
        ListedLibrary(tool()),
    )
    await turns.ask("2 plus 1")
    assert turns.events[-1].answer == (
        "The result is:\n\n```\n3\n```\n\n*The model could not put this into words: no answer "
        "from the model.*"
    )


@pytest.mark.parametrize(
    ("model", "sandbox", "where"),
    [
        ((NONE, ModelUnavailable("gone", "start it")), (), "specify"),
        ((NONE, specified(), fenced(TESTS)), (SandboxUnavailable("gone", "start it"),), "test"),
        ((ADD,), (SandboxUnavailable("gone", "start it"),), "execute"),
    ],
)
async def test_a_turn_that_fails_says_where_why_and_what_to_do(model, sandbox, where):
    turns = Turns(ScriptedModel(*model), ScriptedSandbox(*sandbox), ListedLibrary(tool()))
    await turns.ask("2 plus 1")
    last = turns.events[-1]
    assert (last.type, last.where, last.message, last.remedy) == (
        "turn_failed",
        where,
        "gone",
        "start it",
    )


async def test_a_budget_that_runs_out_ends_the_turn():
    turns = Turns(
        ScriptedModel(NONE), ScriptedSandbox(), ListedLibrary(tool()), limits=Limits(calls=1)
    )
    await turns.ask("double 4")
    assert (turns.events[-1].where, turns.events[-1].message) == (
        "specify",
        "the turn has used up its budget of 1 model calls",
    )


async def test_an_unexpected_error_ends_its_turn_only_and_is_logged(caplog):
    class Broken(ListedLibrary):
        async def search(self, request: str, limit: int = 8):
            raise KeyError("a bug")

    turns = Turns(ScriptedModel(), ScriptedSandbox(), Broken())
    await turns.ask("2 plus 1")
    assert (turns.events[-1].where, turns.events[-1].message) == (
        "internal",
        "an unexpected error: KeyError: 'a bug'",
    )
    assert "a turn failed on an unexpected error" in caplog.text


async def test_a_cancelled_turn_is_stopped():
    class Slow(ListedLibrary):
        async def search(self, request: str, limit: int = 8):
            searching.set()
            await asyncio.Event().wait()

    searching = asyncio.Event()
    turns = Turns(ScriptedModel(), ScriptedSandbox(), Slow())
    task = asyncio.create_task(turns.ask("2 plus 1"))
    await searching.wait()
    task.cancel("Stopped by you.")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (turns.events[-1].type, turns.events[-1].reason) == ("turn_stopped", "Stopped by you.")


async def test_a_turns_feed_replays_and_its_reply_is_the_answer():
    turns = Turns(
        ScriptedModel(ADD, "It is\n3."), ScriptedSandbox(returned("3")), ListedLibrary(tool())
    )
    running = turns.orchestrator.begin(Request("2 plus 1"))
    early = [event async for event in running]
    assert [event async for event in running] == early
    assert (early[0].type, early[-1].type) == ("turn_started", "turn_finished")
    assert early[-1].answer == "It is\n3."


async def test_stopping_a_turn_cancels_what_its_stages_have_begun():
    ended = []

    class Patient(ListedLibrary):
        async def search(self, request: str, limit: int = 8):
            await asyncio.gather(wait("stage"), wait("task"))

    async def wait(name: str) -> None:
        try:
            begun.release()
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    begun = asyncio.Semaphore(0)
    turns = Turns(ScriptedModel(), ScriptedSandbox(), Patient())
    running = turns.orchestrator.begin(Request("2 plus 1"))
    for _ in range(2):
        await begun.acquire()
    running.stop("Stopped by you.")
    last = [event async for event in running][-1]
    assert (last.type, last.reason) == ("turn_stopped", "Stopped by you.")
    await asyncio.sleep(0)
    assert sorted(ended) == ["stage", "task"]


async def test_a_turn_that_is_stopped_before_it_has_begun_says_so():
    turns = Turns(ScriptedModel(), ScriptedSandbox(), ListedLibrary())
    running = turns.orchestrator.begin(Request("2 plus 1"))
    running.stop("Stopped by you.")
    assert [event.type async for event in running] == ["turn_started", "turn_stopped"]


async def test_a_turn_tells_the_files_that_it_was_given():
    file = File(name="data.csv", content=b"a\n1\n")
    turns = Turns(ScriptedModel(ADD, "3"), ScriptedSandbox(returned("3")), ListedLibrary(tool()))
    await handled(turns.orchestrator, "2 plus 1", turns.events.append, files=(file,))
    assert turns.events[0] == TurnStarted(
        request="2 plus 1", files=(file.reference(),), contents=(file,)
    )
    assert turns.sandbox.files == [(file,)]


async def test_two_turns_run_at_once():
    gate = asyncio.Barrier(2)

    class Meeting(ScriptedSandbox):
        async def execute(self, job, arguments, files=()):
            await gate.wait()
            return await super().execute(job, arguments)

    class Alike(ScriptedModel):
        async def choose(self, prompt, functions, budget):
            return ADD

    turns = Turns(Alike("3", "3"), Meeting(returned("3"), returned("3")), ListedLibrary(tool()))
    first, second = list[Event](), list[Event]()
    await asyncio.gather(
        handled(turns.orchestrator, "2 plus 1", first.append),
        handled(turns.orchestrator, "2 plus 1", second.append),
    )
    assert first[-1].answer == second[-1].answer == "3"


class CandidatesModel(ScriptedModel):
    """The second candidate for an implementation never ends, and is charged when it is cancelled."""

    def __init__(self, *replies, waits: bool) -> None:
        """`waits`: the first one does not end either."""
        super().__init__(*replies)
        self.drawing, self.waits = 0, waits
        self.second = asyncio.Event()

    async def stream(self, prompt, budget):
        if prompt.name == "implementation":
            self.drawing += 1
            if self.drawing == 2:
                try:
                    self.second.set()
                    await asyncio.Event().wait()
                finally:
                    await asyncio.sleep(0)  # as when the connection is closed
                    budget.charge(10, 5, None)
            await (asyncio.Event() if self.waits else self.second).wait()
        async for piece in super().stream(prompt, budget):
            yield piece


@pytest.mark.parametrize("ends", ["the first candidate fails", "the turn is stopped"])
async def test_a_cancelled_candidate_has_been_charged_before_the_turn_ends(ends):
    unretrieved: list[dict] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: unretrieved.append(told))
    model = CandidatesModel(
        NONE, specified(), fenced(TESTS), ModelUnavailable("gone"), waits="stopped" in ends
    )
    turns = Turns(
        model, ScriptedSandbox(failing()), ListedLibrary(tool()), SynthesisPolicy(candidates=2)
    )
    running = turns.orchestrator.begin(Request("double 4"))
    if ends == "the turn is stopped":
        await model.second.wait()
        running.stop()
    events = [event async for event in running]
    if left := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(left)
    left.clear()
    gc.collect()
    assert unretrieved == []
    assert events[-1].type == ("turn_stopped" if "stopped" in ends else "turn_failed")
    assert events[-1].usage.calls == (4 if "stopped" in ends else 5)
    assert events[-1].usage == [e.usage for e in events if isinstance(e, BudgetSpent)][-1]


def impossible(message: str) -> SpecificationReply:
    return SpecificationReply(outcome="impossible", message=message, specification=None)


@pytest.mark.parametrize(
    ("replies", "outcomes", "ended"),
    [
        ([ADD, "It is 3."], [returned("3")], {"outcome": "answered"}),
        (
            [NONE, SpecificationReply(outcome="answer", message="Hello!", specification=None)],
            [],
            {"outcome": "answered"},
        ),
        (
            [FunctionCall(name="add_numbers", arguments={"a": None, "b": 2})],
            [],
            {"outcome": "asked"},
        ),
        (
            [NONE, impossible("I can't know today's weather.")],
            [],
            {"outcome": "declined", "nearest": ("add_numbers",)},
        ),
        (
            [ADD, "The chart was not made."],
            [Raised(type_name="ValueError", message="row 57 holds no number")],
            {
                "outcome": "failed",
                "remedy": "change the input, or say how such input is to be treated",
            },
        ),
        (
            [ADD, "misuse", "The chart was not made."],
            [Raised(type_name="KeyError", message="'b'")],
            {"outcome": "failed", "remedy": "say it in other words, or try another input"},
        ),
        (
            [ADD, "misuse", "It took too long."],
            [KILLED],
            {"outcome": "failed", "remedy": "try again, with less at once"},
        ),
        (
            [ADD, "The chart is too large."],
            [returned("3").model_copy(update={"refused_files": ("chart.png: 20 MB",)})],
            {"outcome": "failed", "remedy": "ask for a smaller file, or for another kind"},
        ),
    ],
    ids=[
        "a tool",
        "small talk",
        "a missing value",
        "what no tool can know",
        "refused input",
        "an unmended tool",
        "a killed tool",
        "a file that can't be handed out",
    ],
)
async def test_the_outcome_of_a_turn_is_what_happened_not_that_text_was_written(
    replies, outcomes, ended
):
    turns = Turns(ScriptedModel(*replies), ScriptedSandbox(*outcomes), ListedLibrary(tool()))
    await turns.ask("2 plus 1")
    last = turns.events[-1]
    told = last.model_dump(include={"outcome", "nearest", "remedy"}, exclude_defaults=True)
    assert {"outcome": last.outcome, **told} == ended


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        ([("proxy", "failed"), ("proxy", "failed"), ("user", "finished")], "failed"),
        ([("proxy", "failed"), ("proxy", "finished"), ("user", "finished")], "answered"),
        ([("user", "finished")], "answered"),
        ([(1, "failed"), (2, "failed"), ("user", "finished")], "failed"),
        ([(1, "failed"), (2, "finished"), ("user", "finished")], "answered"),
    ],
    ids=["no agent could", "another way", "words alone", "no run worked", "a run worked"],
)
def test_what_agents_tried_in_vain_is_failed_whatever_they_say(events, outcome):
    told = [
        CodeRun(run=who, state=state)
        if isinstance(who, int)
        else DelegationChanged(id="1", sender=who, recipient="coder", state=state, text="")
        for who, state in events
    ]
    reply = AgentReply(outcome="done", text="Here is what I found.")
    assert ending(reply, told).outcome == outcome


@pytest.mark.parametrize(("last", "outcome"), [(returned("8"), "answered"), (KILLED, "failed")])
def test_one_failed_call_of_several_is_no_success(last, outcome):
    end = PlanExecuted(results=(), tool="add_numbers", executions=(returned("3"), last))
    assert ending(end, ()).outcome == outcome
