"""The stages between a request and what a tool made of it.

src/selfeng/graph/turn_graph.py says which follows which; those that build a tool stand in src/selfeng/synthesis/building.py.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from selfeng.agents import AgentReply
from selfeng.core.errors import AgentError, stage
from selfeng.core.events import StageName, ToolMismatch
from selfeng.core.plan import StepResult
from selfeng.core.protocols import ToolLibrary
from selfeng.core.tool import Tool
from selfeng.core.turn import Turn
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.execution.outcome import own_failure
from selfeng.graph.turn_graph import GraphRun, Stage
from selfeng.stages.decision import Decider
from selfeng.stages.executor import Call, Executor, Misfit, NoFit
from selfeng.stages.served_requests import ServedRequests
from selfeng.synthesis_engine import DirectAnswer, Synthesis, SynthesisEngine

log = logging.getLogger(__name__)


class Executed(Value):
    """A call that was made, and what came of it."""

    call: Call
    execution: Execution


class PlanExecuted(Value):
    """A plan that was carried out."""

    results: tuple[StepResult, ...]
    """In the order of its steps."""


@dataclass
class RequestState:
    """A request on its way through the graph: what each stage leaves to those after it."""

    turn: Turn
    building: Synthesis
    choice: Call | Misfit | NoFit = field(default_factory=lambda: NoFit(reason=""))
    """What the request asks of the tool that was found or built."""
    outcome: Executed | DirectAnswer | PlanExecuted | AgentReply | None = None
    learn_request: bool = False
    """Whether the tool that was found may be found by this request from now on, if it serves it."""
    mended: bool = False
    """Whether the tool was given to be mended, which it is once."""

    @property
    def end(self) -> Executed | DirectAnswer | PlanExecuted | AgentReply:
        """What there is to be said at `respond`."""
        end = self.outcome or self.building.result
        assert isinstance(end, Executed | DirectAnswer | PlanExecuted | AgentReply), end
        return end


class Stages:
    """What a request goes through, be it a turn's or that of a step of a plan."""

    def __init__(
        self, library: ToolLibrary, decider: Decider, executor: Executor, synthesis: SynthesisEngine, requests: ServedRequests
    ) -> None:
        self._library, self._decider, self._executor, self._synthesis = library, decider, executor, synthesis
        self._requests = requests

    def begin(self, turn: Turn) -> RequestState:
        """The turn's request, before its first stage."""
        return RequestState(turn, self._synthesis.begin(turn))

    async def follow(self, state: RequestState, further: Mapping[StageName, Stage] | None = None) -> None:
        """Take the request through the graph, from its start up to `respond`, or to a node that is in neither these stages nor `further`.

        Raises:
            AgentError: a stage gave up; `where` names it.
        """
        own: dict[StageName, Callable[[RequestState], Awaitable[str]]] = {
            "gather": self._gather,
            "search": self._search,
            "clarify": self._clarify,
            "prepare": self._prepare,
            "execute": self._execute,
            "mend": self._mend,
        }
        stages: dict[StageName, Stage] = {name: partial(stage, state) for name, stage in own.items()}
        await GraphRun(state.turn).follow({**stages, **state.building.stages, **(further or {})})

    async def _gather(self, state: RequestState) -> str:
        """A turn that keeps a plan builds a tool without a search; one for an agent goes there at once."""
        return "for agents" if state.turn.agent else "kept" if state.turn.kept else "new"

    async def _search(self, state: RequestState) -> str:
        turn = state.turn
        decision = await self._decider.decide(turn)
        state.choice, state.building.search_candidates = decision.choice, decision.considered
        state.learn_request = decision.learn_request and isinstance(decision.choice, Call)
        match state.choice:
            case Call():
                return "fits"
            case NoFit():
                return "nothing fits"
            case Misfit(tool=tool, problem=problem, missing=missing):
                turn.emit(ToolMismatch(tool=tool.name, problem=problem, then="ask" if missing else "synthesize"))
                return "incomplete" if missing else "nothing fits"
            case _:
                assert_never(state.choice)

    async def _clarify(self, state: RequestState) -> str:
        """What the specification or an agent leaves open is a question already; what a call lacks becomes one."""
        if not isinstance(state.outcome or state.building.result, DirectAnswer | AgentReply):
            assert isinstance(state.choice, Misfit), state.choice
            state.outcome = DirectAnswer(text=state.choice.text, questions=state.choice.questions)
        return "asked"

    async def _prepare(self, state: RequestState) -> str:
        assert isinstance(state.building.result, Tool), state.building.result
        state.choice = await self._call_of(state.turn, state.building.result)
        return "fits" if isinstance(state.choice, Call) else "incomplete"

    async def _execute(self, state: RequestState) -> str:
        assert isinstance(state.choice, Call), state.choice
        execution = await self._executor.run(state.turn, state.choice)
        state.outcome = Executed(call=state.choice, execution=execution)
        if isinstance(execution, Returned) and state.learn_request:
            self._requests.record(state.choice.tool, state.turn.request)
        if isinstance(execution, Returned) or state.mended or own_failure(execution) is None:
            return "ran"
        return "at fault"

    async def _mend(self, state: RequestState) -> str:
        assert isinstance(state.outcome, Executed), state.outcome
        state.mended, call, execution = True, state.outcome.call, state.outcome.execution
        assert not isinstance(execution, Returned), execution
        mended = await self._mended(state.turn, call, execution)
        if mended is None:
            return "left"
        state.choice = Call(tool=mended, arguments=call.arguments)
        return "mended"

    async def _mended(self, turn: Turn, call: Call, execution: Raised | Killed) -> Tool | None:
        """A new version of the tool; None if it is not at fault, is retired, has changed meanwhile or can't be mended.

        No trouble on the way fails the turn, which has an outcome without it.
        """
        reason = own_failure(execution)
        if reason is None:
            return None
        failure = execution.reason if isinstance(execution, Killed) else f"{execution.type_name}: {execution.message}"
        try:
            now = await self._library.get(call.tool.name)
            if now.standing == "retired" or now.version != call.tool.version:
                return None
            return await self._synthesis.mend(turn, now, str(call), failure, reason)
        except AgentError as error:
            log.warning("%s stays as it is after %s: %s", call.tool.name, reason, error)
            return None

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
