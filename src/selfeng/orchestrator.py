"""The orchestrator: a turn from request to answer, along the graph of src/selfeng/graph/turn_graph.py."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from selfeng.agents import AgentReply, Delegation
from selfeng.agents.converser import ask
from selfeng.core.errors import AgentError, AgentGaveUp, stage
from selfeng.core.events import AnswerToken, BudgetSpent, Event, Limits, StageName, TurnFailed, TurnFinished, TurnStarted
from selfeng.core.files import File
from selfeng.core.plan import SavedPlan
from selfeng.core.prompt import ChatMessage
from selfeng.core.protocols import ToolLibrary
from selfeng.core.question import Answer
from selfeng.core.reached import Reached
from selfeng.core.turn import Budget, EarlierFiles, News, Recall, Turn, no_lessons
from selfeng.graph.turn_graph import Stage
from selfeng.runtime import InteractionContext, Message, MessagePromise, MiniAgent, MiniAgents
from selfeng.stages.decision import Decider, Thresholds
from selfeng.stages.executor import Executor
from selfeng.stages.plan_runner import PlanRunner
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.stages.served_requests import ServedRequests
from selfeng.stages.stages import Executed, PlanExecuted, RequestState, Stages
from selfeng.stages.toolsmith import Toolsmith
from selfeng.synthesis_engine import DirectAnswer, SynthesisEngine
from selfeng.turns.running_turn import RunningTurn

FRONT = "proxy"
"""The agent that work for agents goes to."""


class RequestTurn(RunningTurn):
    """The turn of a request. Its agent replies with the answer as one message, which streams its tokens."""

    def __init__(self, request: str, limits: Limits | None, **known: Any) -> None:
        """`known`: the other fields of `Turn`."""
        super().__init__()
        self._reached = Reached()
        budget = Budget(limits, lambda b: self.emit(BudgetSpent(usage=b.usage, limits=b.limits, seconds=b.seconds)))
        self.turn = Turn(request, self.emit, budget=budget, **known)

    def emit(self, event: Event) -> None:
        self._reached.take(event)
        super().emit(event)

    @property
    def spent(self) -> Mapping[str, Any]:
        return {"usage": self.turn.budget.usage, "seconds": self.turn.budget.seconds}

    def failed(self, error: AgentError) -> TurnFailed:
        told = {"message": error.message, "remedy": error.remedy, "kind": error.kind}
        reached = self._reached.words if error.kind == "budget" else ""
        return TurnFailed(where=error.where or "internal", reached=reached, **told, **self.spent)


class Orchestrator:
    """The agent that takes requests through the stages of a turn; it serves any number of turns at once, on one event loop."""

    def __init__(
        self,
        library: ToolLibrary,
        executor: Executor,
        synthesis: SynthesisEngine,
        responder: ResponseSynthesizer,
        *,
        thresholds: Thresholds | None = None,
        limits: Limits | None = None,
        runtime: MiniAgents | None = None,
        recall: Callable[[], Recall] = lambda: no_lessons,
        delegation: Delegation | None = None,
        news: News = lambda part: None,
    ) -> None:
        """`runtime` is the context that turns run under; `recall` gives each turn its access to what was learnt.

        `delegation` has the agents that take over what no tool is for; the toolsmith joins them. `news` has turns wait for parts that
        are still being set up.
        """
        self._responder, self._limits, self._runtime = responder, limits, runtime or MiniAgents()
        decider = Decider(library, executor, thresholds or Thresholds())
        self._stages = Stages(library, decider, executor, synthesis, ServedRequests(library, self._runtime))
        self._plans = PlanRunner(self._stages)
        self._delegation = delegation
        if delegation:
            delegation.add(Toolsmith(self._plans))
        self._recall, self._news = recall, news
        self._agent = MiniAgent(self._take, alias="ORCHESTRATOR", description="Answers requests with tools, and builds those that lack.")
        self._loop = asyncio.get_running_loop()

    def process_request(
        self,
        user_prompt: str,
        callback: Callable[[Event], None] | None = None,
        files: Sequence[File] = (),
        *,
        agent: str = "",
        conversation: str = "",
    ) -> TurnFinished | TurnFailed:
        """The synchronous door, for any thread but the event loop's own: run one turn and wait for its last event.

        `callback` is called with every event, on the event loop's thread; the `contents` of a `FilesMade` are what the tool made.
        `agent` and `conversation`: as for `begin`; the conversation may have any name of up to 64 characters.
        """
        turn = self.handle(user_prompt, callback or (lambda _: None), files=files, agent=agent, conversation_id=conversation)
        return asyncio.run_coroutine_threadsafe(turn, self._loop).result()

    async def handle(
        self,
        request: str,
        emit: Callable[[Event], None],
        history: Sequence[ChatMessage] = (),
        files: Sequence[File] = (),
        *,
        agent: str = "",
        conversation_id: str = "",
    ) -> TurnFinished | TurnFailed:
        """Run one turn and hand on its events; the last one is also returned. Cancelling this stops the turn."""
        running = self.begin(request, history, files, agent=agent, conversation_id=conversation_id)
        events = aiter(running)
        last: Event
        try:
            async for last in events:
                emit(last)
        except asyncio.CancelledError as error:
            running.stop(*map(str, error.args[:1]))
            async for last in events:
                emit(last)
            raise
        assert isinstance(last, TurnFinished | TurnFailed)
        return last

    def begin(
        self,
        request: str,
        history: Sequence[ChatMessage] = (),
        files: Sequence[File] = (),
        earlier: EarlierFiles | None = None,
        keeps: SavedPlan | None = None,
        *,
        agent: str = "",
        answers: Sequence[Answer] = (),
        rounds: int = 0,
        conversation_id: str = "",
    ) -> RequestTurn:
        """Begin a turn; on the event loop. It starts at the next task switch. `keeps`: it makes one tool of that plan, and runs it.

        `agent` gets the request at once. `answers` are what the request says to the questions before it, of which there were so many
        `rounds` in a row. Agents go on with the threads that they have in the conversation of that id.
        """
        kept, keeps_of = (keeps.steps, keeps.turn_id) if keeps else ((), "")
        with self._runtime.entered():
            running = RequestTurn(
                request,
                self._limits,
                history=tuple(history),
                files=tuple(files),
                earlier=earlier or EarlierFiles(),
                kept=kept,
                agent=agent,
                conversation_id=conversation_id,
                answers=tuple(answers),
                rounds=rounds,
                recall=self._recall(),
                news=self._news,
            )
            turn, references = running.turn, tuple(file.reference() for file in files)
            started = TurnStarted(request=request, files=references, contents=turn.files, keeps=keeps_of, agent=agent, answers=turn.answers)
            running.emit(started)
            running.begin(self._agent, request)
        return running

    async def _take(self, ctx: InteractionContext, running: RequestTurn) -> None:
        """The agent: it replies with the answer, and says all that happens in the turn's feed."""

        async def work() -> TurnFinished:
            answer, tool = await self._answer(ctx, running.turn)
            return TurnFinished(answer=answer, tool=tool, **running.spent)

        await running.run(work)

    async def _answer(self, ctx: InteractionContext, turn: Turn) -> tuple[str, str | None]:
        """The answer, and the name of the tool it comes from."""
        state = self._stages.begin(turn)
        further: dict[StageName, Stage] = {"plan": partial(self._plans.take, state), "delegate": partial(self._delegate, state)}
        await self._stages.follow(state, further)
        match state.end:
            case DirectAnswer(text=text, questions=()) | AgentReply(text=text, questions=()):
                return await self._say(ctx, turn, Message.promise(text)), None
            case DirectAnswer(text=text, questions=questions):
                return await self._say(ctx, turn, Message.promise(ask(turn, text, questions))), None
            case AgentReply(text=text, questions=questions):
                return await self._say(ctx, turn, Message.promise(ask(turn, text, questions, turn.agent or FRONT))), None
            case PlanExecuted(results=results):
                pieces, tool = partial(self._responder.answer_plan, replace(turn, results=results)), None
            case Executed(call=call, execution=execution):
                pieces, tool = partial(self._responder.answer, turn, str(call), execution), call.tool.name
            case _:
                assert_never(state.end)
        with stage("answering"):
            return await self._say(ctx, turn, Message.promise(message_token_streamer=lambda _: pieces())), tool

    async def _delegate(self, state: RequestState) -> str:
        """The stage `delegate`. Raises: AgentGaveUp; and as `hand_over`."""
        turn, agent = state.turn, state.turn.agent or FRONT
        if self._delegation is None:
            raise AgentGaveUp("this is work for agents, and there are none", "give the orchestrator a delegation", where=agent)
        state.outcome = reply = await self._delegation.hand_over(turn, agent, turn.request)
        if reply.outcome == "failed":
            raise AgentGaveUp(reply.text, "say it in other words, or in smaller parts", where=agent)
        return "unclear" if reply.questions else "replied"

    @staticmethod
    async def _say(ctx: InteractionContext, turn: Turn, answer: MessagePromise) -> str:
        """DirectAnswer with the answer, and tell of its pieces as they come."""
        ctx.reply(answer)
        async for piece in answer:
            turn.emit(AnswerToken(text=str(piece)))
        return str(await answer)
