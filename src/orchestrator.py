"""The orchestrator: a turn from request to answer.

search the library → run the tool that fits | ask for what is missing | build a tool and run it | take it in steps → answer
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from src.core.errors import AgentError, FailureKind, stage
from src.core.events import AnswerToken, BudgetSpent, Event, Limits, TurnFailed, TurnFinished, TurnStarted, TurnStopped
from src.core.files import File
from src.core.plan import KeptPlan, Plan
from src.core.prompt import ChatMessage
from src.core.protocols import ToolLibrary
from src.core.reached import Reached
from src.core.turn import Budget, EarlierFiles, Recall, Turn, no_lessons
from src.decision import Decider, Sureness
from src.executor import Executor, Misfit
from src.plan_runner import PlanRunner
from src.response_synthesizer import ResponseSynthesizer
from src.runtime import (
    InteractionContext,
    Message,
    MessagePromise,
    MessageSequencePromise,
    MiniAgent,
    MiniAgents,
    StreamAppender,
)
from src.stages import Served, Stages, question
from src.synthesis_engine import Reply, SynthesisEngine
from src.used_requests import UsedRequests

log = logging.getLogger(__name__)

CANCELLED = "The turn was cancelled."
"""The reason of an end for which nobody gave another."""


class RunningTurn:
    """A turn that was begun: its events are a stream, which any number of readers have from the first event on."""

    def __init__(self, turn: Turn, feed: StreamAppender[Event], reached: Reached) -> None:
        self.turn, self.feed, self.reached = turn, feed, reached
        self.begun = False
        """Whether the agent has taken it up, which then says its end."""
        self.answer: MessageSequencePromise | None = None
        """What the agent replies: the answer as one message, which streams its tokens."""
        self._reason = CANCELLED

    def __aiter__(self) -> AsyncIterator[Event]:
        return aiter(self.feed)

    def stop(self, reason: str = CANCELLED) -> None:
        """End everything that the turn has running; its last event will be `TurnStopped`."""
        self._reason = reason
        if not self.begun:
            self.end(self.stopped())
        if self.answer is not None:
            self.answer.cancel()

    def stopped(self) -> TurnStopped:
        return TurnStopped(reason=self._reason, usage=self.turn.budget.usage, seconds=self.turn.budget.seconds)

    def failed(self, where: str, message: str, remedy: str, kind: FailureKind = "internal") -> TurnFailed:
        budget, reached = self.turn.budget, self.reached.words if kind == "budget" else ""
        return TurnFailed(
            where=where, message=message, remedy=remedy, kind=kind, reached=reached, usage=budget.usage, seconds=budget.seconds
        )

    def end(self, last: TurnFinished | TurnFailed | TurnStopped) -> None:
        """Nothing comes after this event."""
        if self.feed.is_open:
            self.feed.append(last).close()


class Orchestrator:
    """The agent that takes requests through the stages of a turn; it serves any number of turns at once, on one event loop."""

    def __init__(
        self,
        library: ToolLibrary,
        executor: Executor,
        synthesis: SynthesisEngine,
        responder: ResponseSynthesizer,
        *,
        sureness: Sureness | None = None,
        limits: Limits | None = None,
        runtime: MiniAgents | None = None,
        recall: Callable[[], Recall] = lambda: no_lessons,
    ) -> None:
        """`runtime` is the context that turns run under; `recall` gives each turn its access to what was learnt."""
        self._responder, self._limits, self._runtime = responder, limits, runtime or MiniAgents()
        decider = Decider(library, executor, sureness or Sureness())
        self._stages = Stages(library, decider, executor, synthesis, UsedRequests(library, self._runtime))
        self._plans = PlanRunner(self._stages)
        self._recall = recall
        self._agent = MiniAgent(self._take, alias="ORCHESTRATOR", description="Answers requests with tools, and builds those that lack.")
        self._loop = asyncio.get_running_loop()

    def process_request(
        self, user_prompt: str, callback: Callable[[Event], None] | None = None, files: Sequence[File] = ()
    ) -> TurnFinished | TurnFailed:
        """The synchronous door, for any thread but the event loop's own: run one turn and wait for its last event.

        `callback` is called with every event, on the event loop's thread; the `contents` of a `FilesMade` are what the tool made.
        """
        turn = self.handle(user_prompt, callback or (lambda _: None), files=files)
        return asyncio.run_coroutine_threadsafe(turn, self._loop).result()

    async def handle(
        self,
        request: str,
        emit: Callable[[Event], None],
        history: Sequence[ChatMessage] = (),
        files: Sequence[File] = (),
    ) -> TurnFinished | TurnFailed:
        """Run one turn and hand on its events; the last one is also returned. Cancelling this stops the turn."""
        running = self.begin(request, history, files)
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
        keeps: KeptPlan | None = None,
    ) -> RunningTurn:
        """Begin a turn; on the event loop. It starts at the next task switch. `keeps`: it makes one tool of that plan, and runs it."""
        with self._runtime.entered():
            feed: StreamAppender[Event] = StreamAppender(capture_errors=False).open()
            reached = Reached()

            def emit(event: Event) -> None:
                reached.take(event)
                feed.append(event)

            budget = Budget(self._limits, lambda b: emit(BudgetSpent(usage=b.usage, limits=b.limits, seconds=b.seconds)))
            kept = keeps.steps if keeps else ()
            turn = Turn(request, emit, tuple(history), budget, tuple(files), earlier or EarlierFiles(), kept=kept, recall=self._recall())
            running = RunningTurn(turn, feed, reached)
            references = tuple(file.reference() for file in files)
            turn.emit(TurnStarted(request=request, files=references, contents=turn.files, keeps=keeps.turn_id if keeps else ""))
            running.answer = self._agent.inquire(request, running=running)
        return running

    async def _take(self, ctx: InteractionContext, running: RunningTurn) -> None:
        """The agent: it replies with the answer, and says all that happens in the turn's feed."""
        running.begun, turn = True, running.turn
        last: TurnFinished | TurnFailed | TurnStopped
        try:
            answer, tool = await self._answer(ctx, turn)
            last = TurnFinished(answer=answer, tool=tool, usage=turn.budget.usage, seconds=turn.budget.seconds)
        except AgentError as error:
            last = running.failed(error.where or "internal", error.message, error.remedy, error.kind)
        except Exception as error:  # the end of a turn: nothing may stop the others
            log.exception("a turn failed on an unexpected error")
            last = running.failed("internal", f"an unexpected error: {type(error).__name__}: {error}", "the server's log has the details")
        except BaseException:
            running.end(running.stopped())
            raise
        running.end(last)

    async def _answer(self, ctx: InteractionContext, turn: Turn) -> tuple[str, str | None]:
        """The answer, and the name of the tool it comes from."""
        served = await self._stages.serve(turn)
        match served:
            case Reply():
                return await self._say(ctx, turn, Message.promise(served.text)), None
            case Misfit():
                return await self._say(ctx, turn, Message.promise(question(served))), None
            case Plan():
                results = await self._plans.run(turn, served)
                pieces, tool = partial(self._responder.answer_plan, replace(turn, results=results)), None
            case Served():
                pieces, tool = partial(self._responder.answer, turn, str(served.call), served.execution), served.call.tool.name
            case _:
                assert_never(served)
        with stage("answering"):
            return await self._say(ctx, turn, Message.promise(message_token_streamer=lambda _: pieces())), tool

    @staticmethod
    async def _say(ctx: InteractionContext, turn: Turn, answer: MessagePromise) -> str:
        """Reply with the answer, and tell of its pieces as they come."""
        ctx.reply(answer)
        async for piece in answer:
            turn.emit(AnswerToken(text=str(piece)))
        return str(await answer)


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "orchestrator"]
    runpy.run_module("src", run_name="__main__")
