"""The events of a turn: one union, told apart by `type`; the page, the journal and the command line
consume it.

An event says what happened, but not where: the journal wraps it in a `Record` with the ids of turn
and conversation, a time and a number.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from selfeng.core.files import File, FileReference
from selfeng.core.lesson import AgentKind, LessonHint
from selfeng.core.plan import PlannedStep
from selfeng.core.project_events import AnyProjectEvent
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer, Consent, Question
from selfeng.core.schedule import SchedulePlan
from selfeng.core.spec import SpecifiedTool
from selfeng.core.stage import Place, StageName
from selfeng.core.stage_event import FailureEvent, FinalEvent, StageEvent, Usage
from selfeng.core.status import Part
from selfeng.core.tool import Standing
from selfeng.core.value import Coded, Value
from selfeng.core.verdict import Execution, TestOrder, TestResult


class Outcome(StrEnum):
    """How a turn ended, for the person who asked."""

    ANSWERED = "answered"
    """The request was carried out."""
    ASKED = "asked"
    """The person is asked for what is missing."""
    DECLINED = "declined"
    """It can't be known or done here, or should not be done; the answer says why."""
    FAILED = "failed"
    """It was tried and not done; the turn says what to do."""
    STOPPED = "stopped"


Decision = Literal["", "steps", "delegate", "answer", "question", "impossible"]
"""The outcome of a finished specification, in place of a tool."""
StepState = Literal["started", "streaming", "finished", "failed"]

Contents = Annotated[tuple[File, ...], Field(exclude=True, repr=False)]
"""The files with their contents, for a consumer that stores or writes them; only on events that
come directly from the turn, never in JSON.
"""


class Limits(Value):
    """The limits of one turn's use of the model."""

    calls: int = 40
    tokens: int = 400_000
    """Input and output together."""
    seconds: float = 600.0
    cost: float | None = None
    """US dollars; None: no limit."""


class BudgetSpent(Value):
    """A model call ended: what all calls of the turn have spent so far."""

    type: Literal["budget_spent"] = "budget_spent"
    usage: Usage
    limits: Limits
    seconds: float
    """Since the turn began."""


class ModelReport(Value):
    """A report of a model call before its reply is complete."""

    prompt: str = ""
    """Name of the call's prompt."""


class ThoughtAloud(ModelReport):
    """The next piece of what the model thinks before it replies: no part of any reply."""

    type: Literal["thought_aloud"] = "thought_aloud"
    text: str
    """Of one call some 8,000 characters at most."""
    call: int
    """Tells apart the model calls of a turn."""


class ModelAskedAgain(ModelReport):
    """The model's server failed, or did not answer in time, and is sent the same request again."""

    type: Literal["model_asked_again"] = "model_asked_again"
    attempt: int
    """From 2."""


class ModelSilent(ModelReport):
    """The model's server has sent nothing for a while; the turn waits on."""

    type: Literal["model_silent"] = "model_silent"
    seconds: float
    """Since it was asked, or sent the last piece of its reply."""
    timeout: float
    """Seconds of silence after which it is asked again, or its call fails."""
    attempts: int
    """How often it is asked before its call fails; 1 once a part of the reply is there."""


ModelNews = ThoughtAloud | ModelAskedAgain | ModelSilent
"""The reports of a model call before its reply is complete."""


class TurnStarted(Value):
    """A request became a turn."""

    type: Literal["turn_started"] = "turn_started"
    request: str
    files: tuple[FileReference, ...] = ()
    """The files that came with the request."""
    contents: Contents = ()
    keeps: str = ""
    """Id of the turn with the plan that this one makes a tool of."""
    agent: str = ""
    """The agent that gets the request, without a search; "" for the usual way."""
    answers: tuple[Answer, ...] = ()
    """Answers to the questions before the request."""
    runs: str = ""
    """The tool that a person calls by hand, without the model; "" for a request."""
    schedule: str = ""
    """The name of the schedule that calls it."""
    disputes: str = ""
    """Id of the turn whose answer the person marked as wrong."""
    after: str | None = None
    """Id of the turn that it follows, "" for none; null: the turn that began before it."""


class TurnResumed(Value):
    """The process that ran the turn ended, and another process resumed it."""

    type: Literal["turn_resumed"] = "turn_resumed"
    again: bool = False
    """Whether the turn begins again from its request; otherwise it resumes where it was."""


class StageEntered(StageEvent):
    """The turn, or one step of its plan, entered a node of its graph."""

    type: Literal["stage_entered"] = "stage_entered"
    node: StageName
    symbol: str = ""
    """The symbol that the stage before ended with; "" at the first."""


class TurnQueued(Value):
    """The turn waits in the queue, and its place in it changed, or the reason."""

    type: Literal["turn_queued"] = "turn_queued"
    place: int
    """From 1; 0: it waits no longer."""
    reason: str = ""
    """Why no process takes it; "" where others are before it."""
    seconds: float = 0.0
    """How long it waited, in the end."""


class Waiting(StageEvent):
    """The turn waits for a part that the server is still setting up."""

    type: Literal["waiting"] = "waiting"
    part: Part
    state: Literal["started", "finished"]
    """finished: the part is ready, or it failed and the turn continues without it."""
    seconds: float = 0.0


class Searching(StageEvent):
    """The library is being searched for a tool that fits."""

    type: Literal["searching"] = "searching"


class Searched(StageEvent, Coded):
    """A search of the library ended."""

    considered: tuple[str, ...] = ()
    """Names of all candidates, best first."""
    confidences: tuple[float, ...] = ()
    """Their confidences: by the search, and by what the model chose and left; () in records of
    older versions.
    """
    standalone: str = ""
    """The request in English, standing alone, in the model's words; "" where it was not asked."""
    seconds: float = 0.0


class ToolFound(Searched):
    """One of the tools that the search offered was chosen."""

    type: Literal["tool_found"] = "tool_found"
    tool: str
    confidence: float
    """0..1, calibrated."""
    reason: str = ""
    """Why the search alone decided; "" if the model chose."""


class NoToolFound(Searched):
    """No tool of the library fits, so one is built."""

    type: Literal["no_tool_found"] = "no_tool_found"
    reason: str


class LessonsShown(StageEvent):
    """An agent is shown lessons of earlier turns before its first attempt."""

    type: Literal["lessons_shown"] = "lessons_shown"
    agent: AgentKind
    lessons: tuple[LessonHint, ...]
    """Best first."""


class SynthesisStep(StageEvent, Coded):
    """One step of writing a tool changes its state; a step may start again as another attempt."""

    type: Literal["synthesis_step"] = "synthesis_step"
    step: StageName
    """`implement` also for a repair of a new tool or of one that failed in use."""
    state: StepState
    attempt: int = 1
    text: str = ""
    """streaming: the next piece of what the model writes; otherwise one sentence for people."""
    decision: Decision = ""
    offset: int | None = None
    """streaming: as that of an `AnswerToken`."""
    artifact: str = ""
    """finished: the whole specification (JSON), suite or implementation (Python); otherwise ""."""
    prompt: str = ""
    """Name of the prompt of the model call; "" if there was none."""
    seconds: float = 0.0
    """finished, failed: how long the step took."""


class TestFinished(StageEvent):
    """The sandbox finished one test of the suite."""

    __test__ = False

    type: Literal["test_finished"] = "test_finished"
    against: Literal["stub", "implementation"]
    attempt: int = 1
    result: TestResult


class SuiteRepeated(StageEvent):
    """The sandbox ran the whole suite again, in another order; on an implementation in other
    processes, with another hash seed.
    """

    type: Literal["suite_repeated"] = "suite_repeated"
    against: Literal["stub", "implementation"]
    attempt: int = 1
    order: TestOrder
    same: bool
    """Whether every test had the same outcome as before."""
    detail: str = ""
    """The difference, such as `test_doubles failed`."""


class ToolEvent(StageEvent):
    """An event of a tool, or of a call of it."""

    tool: str


class AnswerCorrected(ToolEvent):
    """A new version of a tool replaces one whose result the person disagreed with."""

    type: Literal["answer_corrected"] = "answer_corrected"
    version: int
    turn_id: str
    """The turn whose answer was wrong."""


class ToolProposed(ToolEvent):
    """A new tool, or a version of one, waits for the person to accept it."""

    type: Literal["tool_proposed"] = "tool_proposed"
    version: int
    based_on: int
    """0 for a new tool."""


class AnswersRecomputed(ToolEvent):
    """The corrected tool was called as for the person's earlier answers; which of them change is
    read again whenever the person looks, since their values end with their conversations.
    """

    type: Literal["answers_recomputed"] = "answers_recomputed"
    version: int
    computed: int
    changed: int


class PlanMade(Value):
    """The request needs several steps."""

    type: Literal["plan_made"] = "plan_made"
    steps: tuple[PlannedStep, ...]


class PlanStepChanged(Value):
    """The state of a plan's step changed; the events between its start and its end have its id as
    `plan_step`.
    """

    type: Literal["plan_step"] = "plan_step"
    step: str
    state: Literal["started", "finished", "failed"]
    tool: str | None = None
    """finished: the tool that ran, or that the one tool of the plan imports for a step that was
    never started; None if the model answered without one.
    """
    text: str = ""
    """finished: the result, shortened; failed: why."""
    seconds: float = 0.0


class Executing(ToolEvent):
    """The tool is called."""

    type: Literal["executing"] = "executing"
    arguments: str
    """The arguments as JSON text of an object; one of more than 20,000 characters is shortened to
    text.
    """
    server: str = ""
    """The MCP server that runs it; "" for the sandbox."""
    hosts: str = ""
    """Where it may send requests."""
    limits: str = ""
    """The limits that a person allowed it, where they exceed the usual."""


class ExecutionProgress(ToolEvent):
    """How far a call is, by the MCP server, or by what its tool printed."""

    type: Literal["execution_progress"] = "execution_progress"
    done: float
    """In the server's unit; in the sandbox, seconds."""
    total: float | None = None
    text: str = ""
    """The server's words, or the line that was printed last."""
    place: int = 0
    """Its place among the calls that wait for room on the machine; 0 once it runs."""


class ConsentDecided(ToolEvent):
    """A person decided what a tool may use outside the sandbox."""

    type: Literal["consent_decided"] = "consent_decided"
    server: str
    """The MCP server, or the hosts."""
    decision: Consent
    """once: for this turn; no: the turn continues without it."""


class ExecutionFinished(ToolEvent):
    """The tool returned."""

    type: Literal["execution_finished"] = "execution_finished"
    execution: Execution
    seconds: float = 0.0


class ExecutionFailed(ToolEvent):
    """The tool raised, or the sandbox ended it."""

    type: Literal["execution_failed"] = "execution_failed"
    execution: Execution
    seconds: float = 0.0


class Witnessed(ToolEvent):
    """Other candidates of the tool were called as the tool was, without effects."""

    type: Literal["witnessed"] = "witnessed"
    agree: int
    """How many returned the same value."""
    of: int
    """How many returned a value."""
    other: str = ""
    """The beginning of another value that one of them returned."""


class FilesMade(ToolEvent):
    """The call made files that the person may have."""

    type: Literal["files_made"] = "files_made"
    files: tuple[FileReference, ...]
    contents: Contents = ()


class ToolStandingChanged(ToolEvent):
    """The outcome of the call made the library trust the tool, or retire it."""

    type: Literal["tool_standing_changed"] = "tool_standing_changed"
    before: Standing
    after: Standing
    reason: str
    """One sentence for people."""


class ToolMismatch(ToolEvent, Coded):
    """The tool that was found can't be called with what the request says."""

    type: Literal["tool_mismatch"] = "tool_mismatch"
    problem: str
    then: Literal["ask", "synthesize"]
    """Whether the person is asked for what is missing, or a new tool is written."""
    given: str = ""
    """ask, for values: the arguments that the request gives, as JSON text."""


class DelegationChanged(StageEvent):
    """The state of a message to an agent changed; the events that it causes have its id as
    `within`.
    """

    type: Literal["delegation"] = "delegation"
    id: str
    """Unique in the turn."""
    sender: str
    """`user` or the name of an agent."""
    recipient: str
    thread: str = ""
    """Id of the recipient's thread with the sender; "" if none is kept."""
    state: Literal["started", "finished", "failed"]
    text: str
    """started: the message; finished: the reply, shortened; failed: why."""
    seconds: float = 0.0


class CodeRun(StageEvent):
    """An agent runs its own Python in the sandbox."""

    type: Literal["code_run"] = "code_run"
    run: int
    """From 1, within the delegation."""
    state: Literal["started", "finished", "failed"]
    code: str = ""
    """started: the code."""
    execution: Execution | None = None
    """finished, failed: the outcome."""
    seconds: float = 0.0


class QuestionsAsked(StageEvent, Coded):
    """The turn needs to know something from the person; the next request of the conversation may
    have the answers. A code is that of its intro, or of its only question.
    """

    type: Literal["questions_asked"] = "questions_asked"
    questions: tuple[Question, ...]
    intro: str = ""
    agent: str = ""
    """The agent that continues with the answers; "" for the usual way."""
    call: FunctionCall | None = None
    """The call that waits for consent."""
    specified: SpecifiedTool | None = None
    """The specification of the tool that waits for consent."""
    refused: tuple[str, ...] = ()
    """Tools of other servers, hosts, packages and limits that the person does not want for this
    request.
    """
    consents: Mapping[str, Consent] = {}
    """The person's answers to earlier questions for consent of this request, by their ids."""
    schedule: SchedulePlan | None = None
    """The schedule that is added if the person agrees."""


class AnswerToken(Value):
    """The next piece of the answer, Markdown."""

    type: Literal["answer_token"] = "answer_token"
    text: str
    offset: int | None = None
    """Where the piece stands in its stream, in UTF-16 code units, as JavaScript counts them: it
    replaces what stood from there on, since a resumed turn may write a reply again. None in records
    of older versions: at the end.
    """


class TurnFinished(Coded, FinalEvent):
    """The turn ended with words for the person."""

    type: Literal["turn_finished"] = "turn_finished"
    answer: str
    """The whole answer, Markdown; the questions, or why the request was declined or not done."""
    tool: str | None = None
    """The tool that was run, if any."""
    outcome: Outcome = Outcome.ANSWERED
    """Never stopped. Records of older versions say `answered` for all of them."""
    nearest: tuple[str, ...] = ()
    """declined: tools of the library that come nearest, the best first."""
    remedy: str = ""
    """failed: what to do, a part of a sentence."""
    reused: tuple[str, ...] = ()
    """answered: the tools that it called, if it built none."""


class TurnFailed(FailureEvent, FinalEvent):
    """The turn gave up."""

    type: Literal["turn_failed"] = "turn_failed"
    where: Place
    """The place of the failure: a stage, `building` or `acting` on a project, the name of an agent,
    or `internal`.
    """
    outcome: Literal[Outcome.FAILED] = Outcome.FAILED
    reached: str = ""
    """kind `budget`: what was done by then, for people; "" if nothing."""


class DeliveryFailed(FailureEvent):
    """The result of a scheduled run could not go where its schedule sends it."""

    type: Literal["delivery_failed"] = "delivery_failed"
    schedule: str
    """Its name."""


class TurnStopped(FinalEvent):
    """The turn was cancelled, by the person or because the server ended."""

    type: Literal["turn_stopped"] = "turn_stopped"
    reason: str
    by: Literal["person", "server"] = "person"
    """server: it ended, or was interrupted."""
    outcome: Literal[Outcome.STOPPED] = Outcome.STOPPED


Event = Annotated[
    TurnStarted
    | TurnResumed
    | TurnQueued
    | BudgetSpent
    | ThoughtAloud
    | ModelAskedAgain
    | ModelSilent
    | StageEntered
    | Waiting
    | Searching
    | ToolFound
    | NoToolFound
    | LessonsShown
    | SynthesisStep
    | TestFinished
    | SuiteRepeated
    | AnswerCorrected
    | AnswersRecomputed
    | ToolProposed
    | PlanMade
    | PlanStepChanged
    | Executing
    | ExecutionProgress
    | ConsentDecided
    | ExecutionFinished
    | ExecutionFailed
    | Witnessed
    | FilesMade
    | ToolStandingChanged
    | ToolMismatch
    | AnyProjectEvent
    | DelegationChanged
    | CodeRun
    | QuestionsAsked
    | AnswerToken
    | DeliveryFailed
    | TurnFinished
    | TurnFailed
    | TurnStopped,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Parses and dumps any event."""

FINAL = (TurnFinished, TurnFailed, TurnStopped)
"""Exactly one of these ends every turn."""


class Record(Value):
    """An event in its place: what the journal stores and the page receives."""

    conversation_id: str
    seq: int
    """Number within the conversation, from 1, without gaps; 0 if there is no journal."""
    turn_id: str
    at: datetime
    """UTC."""
    event: Event


LAST_SEQ = 2**31 - 1
"""The largest number that a record may have."""
WRONG_ANSWER = "This answer was wrong; a later one corrects it."
"""The words before an answer that was corrected, where the page does not show it."""


def corrected_turns(events: Iterable[Event]) -> set[str]:
    """The turns whose answers these events correct."""
    return {event.turn_id for event in events if isinstance(event, AnswerCorrected)}


def branch(records: Iterable[Record], last: str = "") -> set[str]:
    """The turns from the beginning of a conversation to the turn `last`, by default the newest."""
    parents, newest = dict[str, str](), ""
    for record in records:
        if isinstance(record.event, TurnStarted):
            after = record.event.after
            parents[record.turn_id] = newest if after is None else after
            newest = record.turn_id
    turns, turn_id = set[str](), last or newest
    while turn_id in parents.keys() - turns:
        turns.add(turn_id)
        turn_id = parents[turn_id]
    return turns


def merge(first: Event, second: Event) -> Event | None:
    """One event that says what both say, or None: adjacent pieces of one stream are joined, and the
    later of two sums or places replaces the earlier.
    """
    match first, second:
        case (
            (BudgetSpent(), BudgetSpent())
            | (TurnQueued(), TurnQueued())
            | (ExecutionProgress(), ExecutionProgress())
        ):
            return second
        case ThoughtAloud(), ThoughtAloud() if first.call == second.call:
            return first.model_copy(update={"text": first.text + second.text})
        case AnswerToken(), AnswerToken() if _continues(first, second):
            return first.model_copy(update={"text": first.text + second.text})
        case SynthesisStep(state="streaming"), SynthesisStep(state="streaming"):
            if (first.step, first.attempt, first.plan_step) == (
                second.step,
                second.attempt,
                second.plan_step,
            ) and _continues(first, second):
                return first.model_copy(update={"text": first.text + second.text})
    return None


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _continues(first: AnswerToken | SynthesisStep, second: AnswerToken | SynthesisStep) -> bool:
    """Whether the second piece stands where the first ends."""
    return second.offset is None or second.offset == (first.offset or 0) + units(first.text)
