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
from selfeng.graph.turn_graph import Course, Stage
from selfeng.stages.decision import Decider
from selfeng.stages.executor import Call, Executor, Misfit, NoFit
from selfeng.stages.used_requests import UsedRequests
from selfeng.synthesis_engine import Building, Reply, SynthesisEngine

log = logging.getLogger(__name__)


class Served(Value):
    """A call that was made, and what came of it."""

    call: Call
    execution: Execution


class Planned(Value):
    """A plan that was carried out."""

    results: tuple[StepResult, ...]
    """In the order of its steps."""


@dataclass
class Passage:
    """A request on its way through the graph: what each stage leaves to those after it."""

    turn: Turn
    building: Building
    choice: Call | Misfit | NoFit = field(default_factory=lambda: NoFit(reason=""))
    """What the request asks of the tool that was found or built."""
    outcome: Served | Reply | Planned | AgentReply | None = None
    teaches: bool = False
    """Whether the tool that was found may be found by this request from now on, if it serves it."""
    mended: bool = False
    """Whether the tool was given to be mended, which it is once."""

    @property
    def end(self) -> Served | Reply | Planned | AgentReply:
        """What there is to be said at `respond`."""
        end = self.outcome or self.building.result
        assert isinstance(end, Served | Reply | Planned | AgentReply), end
        return end


class Stages:
    """What a request goes through, be it a turn's or that of a step of a plan."""

    def __init__(
        self, library: ToolLibrary, decider: Decider, executor: Executor, synthesis: SynthesisEngine, requests: UsedRequests
    ) -> None:
        self._library, self._decider, self._executor, self._synthesis = library, decider, executor, synthesis
        self._requests = requests

    def begin(self, turn: Turn) -> Passage:
        """The turn's request, before its first stage."""
        return Passage(turn, self._synthesis.begin(turn))

    async def follow(self, passage: Passage, further: Mapping[StageName, Stage] | None = None) -> None:
        """Take the request through the graph, from its start up to `respond`, or to a node that is in neither these stages nor `further`.

        Raises:
            AgentError: a stage gave up; `where` names it.
        """
        own: dict[StageName, Callable[[Passage], Awaitable[str]]] = {
            "gather": self._gather,
            "search": self._search,
            "clarify": self._clarify,
            "prepare": self._prepare,
            "execute": self._execute,
            "mend": self._mend,
        }
        stages: dict[StageName, Stage] = {name: partial(stage, passage) for name, stage in own.items()}
        await Course(passage.turn).follow({**stages, **passage.building.stages, **(further or {})})

    async def _gather(self, passage: Passage) -> str:
        """A turn that keeps a plan builds a tool without a search; one for an agent goes there at once."""
        return "for agents" if passage.turn.agent else "kept" if passage.turn.kept else "new"

    async def _search(self, passage: Passage) -> str:
        turn = passage.turn
        decision = await self._decider.decide(turn)
        passage.choice, passage.building.looked_at = decision.choice, decision.considered
        passage.teaches = decision.teaches and isinstance(decision.choice, Call)
        match passage.choice:
            case Call():
                return "fits"
            case NoFit():
                return "nothing fits"
            case Misfit(tool=tool, problem=problem, missing=missing):
                turn.emit(ToolMismatch(tool=tool.name, problem=problem, then="ask" if missing else "synthesize"))
                return "incomplete" if missing else "nothing fits"
            case _:
                assert_never(passage.choice)

    async def _clarify(self, passage: Passage) -> str:
        """What the specification or an agent leaves open is a question already; what a call lacks becomes one."""
        if not isinstance(passage.outcome or passage.building.result, Reply | AgentReply):
            assert isinstance(passage.choice, Misfit), passage.choice
            passage.outcome = Reply(text=passage.choice.text, questions=passage.choice.questions)
        return "asked"

    async def _prepare(self, passage: Passage) -> str:
        assert isinstance(passage.building.result, Tool), passage.building.result
        passage.choice = await self._call_of(passage.turn, passage.building.result)
        return "fits" if isinstance(passage.choice, Call) else "incomplete"

    async def _execute(self, passage: Passage) -> str:
        assert isinstance(passage.choice, Call), passage.choice
        execution = await self._executor.run(passage.turn, passage.choice)
        passage.outcome = Served(call=passage.choice, execution=execution)
        if isinstance(execution, Returned) and passage.teaches:
            self._requests.note(passage.choice.tool, passage.turn.request)
        if isinstance(execution, Returned) or passage.mended or own_failure(execution) is None:
            return "ran"
        return "at fault"

    async def _mend(self, passage: Passage) -> str:
        assert isinstance(passage.outcome, Served), passage.outcome
        passage.mended, call, execution = True, passage.outcome.call, passage.outcome.execution
        assert not isinstance(execution, Returned), execution
        mended = await self._mended(passage.turn, call, execution)
        if mended is None:
            return "left"
        passage.choice = Call(tool=mended, arguments=call.arguments)
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
