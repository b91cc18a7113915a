"""The orchestrator: a turn from request to answer, along the graph of
src/selfeng/core/stage.py.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, assert_never
from uuid import uuid4

from selfeng.agents import AgentReply, Delegation, Task, TurnAgent
from selfeng.core.background import BackgroundTasks
from selfeng.core.consent_question import ConsentAsked
from selfeng.core.errors import AgentError, StillUnclear, stage
from selfeng.core.events import (
    AnswerToken,
    BudgetSpent,
    Event,
    Limits,
    QuestionsAsked,
    TurnFailed,
    TurnFinished,
    TurnResumed,
    TurnStarted,
    Witnessed,
)
from selfeng.core.plan import SavedPlan
from selfeng.core.prompt import ChatMessage
from selfeng.core.protocols import ServerTools, ToolLibrary
from selfeng.core.question import MOST, ROUNDS, questions_text
from selfeng.core.result import Dispute
from selfeng.core.status import Asked
from selfeng.core.turn import (
    AgentPart,
    Asking,
    Budget,
    EarlierFiles,
    EarlierResults,
    HandCall,
    Inspector,
    News,
    Recall,
    Request,
    Turn,
    Wait,
    awaited,
    no_lessons,
)
from selfeng.core.verdict import Returned
from selfeng.durable.turn_work import Run, TurnStarter
from selfeng.stages.decision import Decider, Thresholds
from selfeng.stages.ending import ending, problem_of, what_was_reached
from selfeng.stages.execution.outcome import doubt
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer, plain
from selfeng.stages.stages import End, Executed, PartServed, PlanExecuted, Stages
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange, ConversationKind
from selfeng.store.journal import Journal, NewConversation
from selfeng.store.recorder import Feed
from selfeng.store.turn_queue import ClaimedTurn
from selfeng.synthesis_engine import DirectAnswer, SynthesisEngine
from selfeng.turns.event_numbers import NumberedEvent
from selfeng.turns.running_turn import RunningTurn

_OUTSIDE = ("model", "sandbox", "budget")
"""Kinds of failures after which the same replies may lead to a result."""


class RequestTurn(RunningTurn):
    """The turn of a request."""

    def __init__(
        self,
        tasks: BackgroundTasks,
        request: Request,
        limits: Limits | None,
        recall: Recall,
        news: News,
        *,
        inspector: Inspector | None,
        watch: Callable[[Event], None] | None,
        wait: Wait,
        month: Budget | None = None,
    ) -> None:
        super().__init__(tasks)
        emit = partial(self._watched, watch) if watch else self.emit

        budget = Budget(
            limits,
            lambda b: self.emit(BudgetSpent(usage=b.usage, limits=b.limits, seconds=b.seconds)),
            on_thought=self.emit,
            parent=month,
        )
        self.turn = Turn(request, emit, budget, news, recall, inspector, wait)

    def _watched(self, watch: Callable[[Event], None], event: Event) -> None:
        watch(event)
        self.emit(event)

    @property
    def spent(self) -> Mapping[str, Any]:
        return {"usage": self.turn.budget.usage, "seconds": self.turn.budget.seconds}

    def failed(self, error: AgentError) -> TurnFailed:
        reached = what_was_reached(self.events) if error.kind == "budget" else ""
        fields = {**error.event_fields, **self.spent}
        if name := _schedule_of(self.turn):
            fields["remedy"] = "; ".join(filter(None, (error.remedy, _paused(name))))
        failure = TurnFailed(where=error.where or "internal", reached=reached, **fields)
        if self._steps and failure.kind in _OUTSIDE and not self.turn.request.temporary:
            self._steps.keep()
        return failure


class Orchestrator:
    """Takes requests through the stages of a turn; runs any number of turns on one event loop."""

    def __init__(
        self,
        library: ToolLibrary,
        executor: Executor,
        synthesis: SynthesisEngine,
        responder: ResponseSynthesizer,
        *,
        thresholds: Thresholds | None = None,
        limits: Limits | None = None,
        runtime: BackgroundTasks | None = None,
        recall: Callable[[], Recall] = lambda: no_lessons,
        delegation: Callable[[TurnAgent], Delegation] | None = None,
        news: News = lambda part: None,
        inspector: Inspector | None = None,
        wait: Wait = awaited,
        servers: ServerTools | None = None,
        month: Callable[[], Budget | None] = lambda: None,
    ) -> None:
        """`runtime` runs the turns; `recall` gives each turn its access to the
        lessons.

        `delegation` gives the agents that take over work that no tool can do, for the toolsmith
        that is one of them. `news` lets turns wait for parts that are still being set up, and
        `inspector` profiles files. `servers` have tools in addition to those of the library.
        `month` gives each turn the budget of all turns in a month.
        """
        self._executor, self._responder, self._limits, self._runtime = (
            executor,
            responder,
            limits,
            runtime or BackgroundTasks(),
        )
        decider = Decider(library, executor, thresholds or Thresholds(), servers)
        toolsmith = Toolsmith(lambda turn: self._stages.serve_part(turn))  # noqa: PLW0108 - see below
        self._stages = Stages(
            library,
            decider,
            executor,
            synthesis,
            background=self._runtime,
            delegation=delegation and delegation(toolsmith),
            servers=servers,
        )
        self._recall, self._news, self._inspector = recall, news, inspector
        self._wait, self._month = wait, month

    def begin(
        self,
        turn_request: Request,
        *,
        resumed: TurnResumed | None = None,
        watch: Callable[[Event], None] | None = None,
    ) -> RequestTurn:
        """Begin a turn, or resume one with `resumed`; on the event loop. It starts at the next task
        switch. `watch` is called with each event of its stages at once.
        """
        running = RequestTurn(
            self._runtime,
            turn_request,
            self._limits,
            self._recall(),
            self._news,
            inspector=self._inspector,
            watch=watch,
            wait=self._wait,
            month=self._month(),
        )
        running.emit(started(turn_request))
        if resumed:
            running.emit(resumed)
        running.begin(partial(self._answer, running))
        return running

    async def _answer(self, running: RequestTurn) -> TurnFinished:
        from selfeng.core.tracing import invoke_agent

        with invoke_agent(running.turn.request.conversation_id), running.turn.checking():
            return await self._answered(running)

    async def _answered(self, running: RequestTurn) -> TurnFinished:
        turn, tool = running.turn, None
        end = await self._stages.serve(turn)
        with stage("respond"):
            match end:
                case ConsentAsked(question=question):
                    turn.emit(
                        QuestionsAsked(
                            questions=(question,),
                            call=end.call,
                            specified=end.specified,
                            agent=end.agent,
                            refused=turn.request.refused,
                            consents=turn.request.consents,
                            schedule=end.schedule,
                            code=end.code,
                            values=end.values,
                        )
                    )
                    pieces = _scheduled(running, questions_text((question,)))
                case DirectAnswer() | AgentReply() if end.questions:
                    pieces = _single_piece(ask(turn, end))
                case DirectAnswer(text=text):
                    pieces, tool = _single_piece(text), end.tool
                case AgentReply(text=text):
                    pieces = _single_piece(text)
                case PlanExecuted(results=results):
                    pieces, tool = self._responder.answer_plan(turn, results), end.tool
                case Executed(call=call, execution=execution) if isinstance(
                    turn.request.kind, HandCall
                ):
                    pieces, tool = _scheduled(running, plain(execution, call.tool)), call.tool.name
                case Executed(call=call, execution=execution):
                    pieces, tool = (
                        self._responder.answer(turn, str(call), execution, call.tool),
                        call.tool.name,
                    )
                case _:
                    assert_never(end)
            answer = await anext(pieces, "")  # the model is asked while the result is checked
            await turn.checked()
            if doubtful := _doubtful(turn, end, running.events):
                await pieces.aclose()
                answer, end = ask(turn, doubtful), doubtful
            turn.emit(AnswerToken(text=answer))
            async for piece in pieces:
                turn.emit(AnswerToken(text=piece))
                answer += piece
            events = running.events
        return TurnFinished(answer=answer, tool=tool, **dict(ending(end, events)), **running.spent)


def _schedule_of(turn: Turn) -> str:
    """The name of the schedule that began the turn; "" if none did."""
    kind = turn.request.kind
    return kind.schedule if isinstance(kind, HandCall) else ""


def _paused(schedule: str) -> str:
    return f"the schedule “{schedule}” is paused until you resume it"


def ask(turn: Turn, end: DirectAnswer | AgentReply) -> str:
    """Ask the first of the questions, as many as a round has; returns the text for a reader without
    a form.

    Raises:
        StillUnclear: the last `ROUNDS` rounds left something open.
    """
    round = end.questions[:MOST]
    if turn.request.rounds >= ROUNDS:
        missing = ", ".join(question.id for question in round)
        raise StillUnclear(
            f"still missing after {ROUNDS} rounds of questions: {missing}",
            "say all of it in one request",
            where="clarify",
        )
    turn.emit(
        QuestionsAsked(
            questions=round,
            intro=end.text,
            agent=end.agent if isinstance(end, AgentReply) else "",
            refused=turn.request.refused,
            code=end.code,
            values=end.values,
        )
    )
    return questions_text(round, end.text)


def _doubtful(turn: Turn, end: End, events: Sequence[Event]) -> DirectAnswer | None:
    """The question which value is right, if a witness of the call returned another one. Calls by
    hand are not asked about.
    """
    match end:
        case Executed(execution=Returned() as execution) if (
            turn.request.rounds < ROUNDS and not isinstance(turn.request.kind, HandCall)
        ):
            check = next((e for e in reversed(events) if isinstance(e, Witnessed)), None)
            question = doubt(execution, check, turn.request.answers) if check else None
            if not check or not question:
                return None
            values = {"tool": check.tool}
            return DirectAnswer(text="", questions=(question,), code="witness", values=values)
        case _:
            return None


def started(turn_request: Request) -> TurnStarted:
    """The first event of the turn of a request."""
    kind = turn_request.kind
    return TurnStarted(
        request=turn_request.text,
        files=tuple(file.reference() for file in turn_request.files),
        contents=turn_request.files,
        keeps=kind.turn_id if isinstance(kind, SavedPlan) else "",
        agent=kind.agent if isinstance(kind, Asking) else "",
        answers=turn_request.answers,
        runs=kind.call.name if isinstance(kind, HandCall) else "",
        schedule=kind.schedule if isinstance(kind, HandCall) else "",
        disputes=kind.result.turn_id if isinstance(kind, Dispute) else "",
        after=turn_request.after,
    )


class RequestTurns:
    """The turns of requests: begins them in the journal, and resumes those of other processes. Used
    on the engine's loop.
    """

    def __init__(
        self,
        orchestrator: Callable[[str], Orchestrator],
        starter: TurnStarter,
        *,
        feed: Feed,
        journal: Journal,
        files: ConversationFiles,
        most_files: int,
    ) -> None:
        """`orchestrator` gives the orchestrator of a model, "" for the configured one; a turn knows
        `most_files` earlier files.
        """
        self._orchestrator, self._starter, self._feed = orchestrator, starter, feed
        self._journal, self._files, self._most_files = journal, files, most_files

    async def begin(self, owner: str, turn_request: Request, turn_id: str = "") -> Asked:
        """Begin a turn, with the past of its conversation, which is a new one if none is named. The
        conversation keeps the model that the request names, or gives it one.
        """
        new, conversation_id = None, turn_request.conversation_id
        if conversation_id:
            await self._feed.watch(conversation_id)
            turn_request = await asyncio.to_thread(self._in_conversation, owner, turn_request)
        else:
            title = turn_request.text.strip().splitlines()[0][:80]
            kind: ConversationKind = "temporary" if turn_request.temporary else "chat"
            new = NewConversation(owner, title, kind, turn_request.model)
            conversation_id = uuid4().hex
            await self._feed.watch(conversation_id, new=True)
            turn_request = replace(turn_request, conversation_id=conversation_id)
        return await self._starter.begin(
            owner,
            conversation_id,
            started(turn_request),
            self._run(turn_request),
            turn_id=turn_id,
            new=new,
            stored_request=turn_request,
        )

    async def resume(
        self, claimed: ClaimedTurn, turn_request: Request, events: Sequence[NumberedEvent]
    ) -> None:
        """Go on with a turn that another process left."""
        await self._starter.go_on(claimed, events, self._run(turn_request), turn_request)

    def _in_conversation(self, owner: str, turn_request: Request) -> Request:
        """The request with what its conversation has. Blocking."""
        conversation_id, model = turn_request.conversation_id, turn_request.model
        conversation = self._journal.conversation(owner, conversation_id)
        if model and model != conversation.model:
            change = ConversationChange(model=model)
            self._journal.change_conversation(owner, conversation_id, change)
        is_temporary = conversation.kind == "temporary"
        turn_request = replace(
            turn_request, model=model or conversation.model, temporary=is_temporary
        )
        return self.with_past(turn_request)

    def with_past(self, turn_request: Request) -> Request:
        """A request with the history up to the turn that it follows, the values, and the files
        except those that it replaces by name. Blocking.
        """
        conversation_id, after = turn_request.conversation_id, turn_request.after
        contents = self._files.contents(conversation_id)
        replaced = {file.name for file in turn_request.files}
        files = self._files.newest(conversation_id, after=after)
        other_files = [r for r in files if r.name not in replaced]
        values = self._files.results(conversation_id, after=after)
        return replace(
            turn_request,
            history=self._journal.messages(conversation_id, after=after),
            earlier=EarlierFiles.stored(tuple(other_files[: self._most_files]), contents),
            earlier_results=EarlierResults.stored(values, contents),
        )

    def _run(self, turn_request: Request) -> Run:
        return lambda resumed, watch: self._orchestrator(turn_request.model).begin(
            turn_request, resumed=resumed, watch=watch
        )


async def _scheduled(running: RequestTurn, text: str) -> AsyncGenerator[str, None]:
    """An answer, and after it, if the turn's schedule is paused by its events, that it is."""
    yield text
    if (name := _schedule_of(running.turn)) and problem_of(running.events):
        yield f"\n\nBecause of this {_paused(name)}."


async def _single_piece(text: str) -> AsyncGenerator[str, None]:
    """An answer that comes in one piece."""
    yield text


class Toolsmith:
    """The agent that serves a message with one tool of the library, and builds the tool if there is
    none. Implements `TurnAgent` on the stages of a turn; its thread with a sender is the earlier
    conversation of a request.
    """

    name = "toolsmith"
    description = (
        "Computes one thing with a tested tool of the library, and builds the tool if "
        "there is none; it needs the values."
    )

    def __init__(self, serve: Callable[[Turn], Awaitable[PartServed]]) -> None:
        self._serve = serve

    async def work(self, task: Task) -> AgentReply:
        """Raises: AgentError: no tool serves the message, or one failed."""
        request = task.turn.request.part(
            task.message, task.workspace.files, AgentPart(), tuple(task.thread)
        )
        task.thread.append(ChatMessage(role="user", content=task.message))
        result, _ = await self._serve(task.turn.part(request))
        task.thread.append(ChatMessage(role="assistant", content=result.text))
        return AgentReply(outcome="done", text=result.text)
