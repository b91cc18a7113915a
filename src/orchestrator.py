"""The orchestrator: a turn from request to answer.

search the library → run the tool that fits | ask for what is missing | build a tool and run it → answer
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence

from src.core.errors import AgentError, FailureKind, ModelReplyInvalid, stage
from src.core.events import (
    AnswerToken,
    BudgetSpent,
    Event,
    Limits,
    NoToolFound,
    Searching,
    ToolFound,
    ToolMismatch,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
)
from src.core.files import File
from src.core.prompt import ChatMessage
from src.core.protocols import ToolLibrary
from src.core.reached import Reached
from src.core.tool import Candidate, Tool
from src.core.turn import Budget, EarlierFiles, Recall, Turn, no_lessons
from src.executor import Call, Executor, Misfit, NoFit
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
from src.synthesis_engine import Reply, SynthesisEngine

log = logging.getLogger(__name__)

CANDIDATES = 8
"""How many tools the model chooses from."""
CHOICE_ODDS = 19.0
"""How much likelier a model is to choose a tool that fits than one that doesn't (0.95 against 0.05): what its choice adds to
the odds that the search gives."""

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
        threshold: float = 0.75,
        limits: Limits | None = None,
        runtime: MiniAgents | None = None,
        recall: Callable[[], Recall] = lambda: no_lessons,
    ) -> None:
        """`runtime` is the context that turns run under; `recall` gives each turn its access to what was learnt."""
        self._library, self._executor, self._synthesis, self._responder = library, executor, synthesis, responder
        self._threshold, self._limits = threshold, limits
        self._runtime = runtime or MiniAgents()
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
        self, request: str, history: Sequence[ChatMessage] = (), files: Sequence[File] = (), earlier: EarlierFiles | None = None
    ) -> RunningTurn:
        """Begin a turn; on the event loop. It starts at the next task switch."""
        with self._runtime.entered():
            feed: StreamAppender[Event] = StreamAppender(capture_errors=False).open()
            reached = Reached()

            def emit(event: Event) -> None:
                reached.take(event)
                feed.append(event)

            budget = Budget(self._limits, lambda b: emit(BudgetSpent(usage=b.usage, limits=b.limits, seconds=b.seconds)))
            turn = Turn(request, emit, tuple(history), budget, tuple(files), earlier or EarlierFiles(), recall=self._recall())
            running = RunningTurn(turn, feed, reached)
            turn.emit(TurnStarted(request=request, files=tuple(file.reference() for file in files), contents=turn.files))
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
        choice, considered = await self._find(turn)
        if isinstance(choice, Misfit):
            turn.emit(ToolMismatch(tool=choice.tool.name, problem=choice.problem, then="ask" if choice.missing else "synthesize"))
            if choice.missing:
                return await self._say(ctx, turn, Message.promise(question(choice))), None
        if not isinstance(choice, Call):
            built = await self._synthesis.synthesize(turn, considered)
            if isinstance(built, Reply):
                return await self._say(ctx, turn, Message.promise(built.text)), None
            choice = await self._call_of(turn, built)
            if isinstance(choice, Misfit):
                return await self._say(ctx, turn, Message.promise(question(choice))), None
        execution = await self._executor.run(turn, choice)
        with stage("answering"):
            call = str(choice)
            answer = Message.promise(message_token_streamer=lambda _: self._responder.answer(turn, call, execution))
            return await self._say(ctx, turn, answer), choice.tool.name

    async def _find(self, turn: Turn) -> tuple[Call | Misfit | NoFit, tuple[str, ...]]:
        """What the library has for the request, and the names of the tools that were looked at."""
        started = time.monotonic()
        turn.emit(Searching())
        with stage("searching"):
            candidates = await self._candidates(turn)
            choice = await self._choose(turn, candidates)
        considered = tuple(c.tool.name for c in candidates)
        seconds = time.monotonic() - started
        if isinstance(choice, NoFit):
            turn.emit(NoToolFound(reason=choice.reason, considered=considered, seconds=seconds))
        else:
            confidence = next(_confirmed(c.confidence) for c in candidates if c.tool.name == choice.tool.name)
            turn.emit(ToolFound(tool=choice.tool.name, confidence=confidence, considered=considered, seconds=seconds))
        return choice, considered

    async def _candidates(self, turn: Turn) -> tuple[Candidate, ...]:
        """The tools nearest to the request, by itself and as one that goes on from the request before it, best first."""
        found = await self._library.search(turn.request, CANDIDATES)
        before = next((m.content for m in reversed(turn.history) if m.role == "user"), None)
        if before is not None:
            found += await self._library.search(f"{before}\n{turn.request}", CANDIDATES)
        best: dict[str, Candidate] = {}
        for candidate in sorted(found, key=lambda c: c.confidence, reverse=True):
            best.setdefault(candidate.tool.name, candidate)
        return tuple(best.values())[:CANDIDATES]

    async def _choose(self, turn: Turn, candidates: Sequence[Candidate]) -> Call | Misfit | NoFit:
        if not candidates:
            return NoFit(reason="The library is empty.")
        try:
            choice = await self._executor.choose(turn, [c.tool for c in candidates])
        except ModelReplyInvalid:
            best = candidates[0]
            if best.confidence < self._threshold:
                return NoFit(reason="The model could not make the choice, and the search alone is not sure enough.")
            choice = await self._executor.prepare(turn, best.tool)
        if isinstance(choice, NoFit):
            return choice
        confidence = next(_confirmed(c.confidence) for c in candidates if c.tool.name == choice.tool.name)
        if confidence < self._threshold:
            limit = f"below the {self._threshold:.0%} of SIMILARITY_THRESHOLD"
            return NoFit(reason=f"{choice.tool.name} fits with a confidence of {confidence:.0%} only, {limit}.")
        return choice

    async def _call_of(self, turn: Turn, built: Tool) -> Call | Misfit:
        with stage("executing"):
            choice = await self._executor.prepare(turn, built)
            if isinstance(choice, NoFit):
                raise AgentError(
                    f"{built.name} was built, but can't be called for this request: {choice.reason}", "ask again with the values"
                )
        if isinstance(choice, Misfit):
            turn.emit(ToolMismatch(tool=built.name, problem=choice.problem, then="ask"))
        return choice

    @staticmethod
    async def _say(ctx: InteractionContext, turn: Turn, answer: MessagePromise) -> str:
        """Reply with the answer, and tell of its pieces as they come."""
        ctx.reply(answer)
        async for piece in answer:
            turn.emit(AnswerToken(text=str(piece)))
        return str(await answer)


def question(misfit: Misfit) -> str:
    """Asks the person for what a call lacks."""
    lines = [f"I can do this with `{misfit.tool.name}`, but {misfit.problem}." if not misfit.missing else "To do this I still need:"]
    for parameter in misfit.tool.signature.parameters:
        if parameter.name in misfit.missing:
            lines.append(
                f"- **{parameter.name}** ({parameter.annotation})" + (f": {parameter.description}" if parameter.description else "")
            )
    return "\n".join(lines)


def _confirmed(confidence: float) -> float:
    """Confidence of the search, 0..1, after the model has chosen the same tool; Bayes' rule in odds form."""
    return CHOICE_ODDS * confidence / (CHOICE_ODDS * confidence + 1 - confidence)


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "orchestrator"]
    runpy.run_module("src", run_name="__main__")
