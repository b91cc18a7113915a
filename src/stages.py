"""The stages between a request and what a tool made of it.

src/turn_graph.py says which follows which; those that build a tool stand in src/synthesis/building.py.
"""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import assert_never

from src.agents import AgentReply
from src.core.errors import AgentError, ModelReplyInvalid, stage
from src.core.events import NoToolFound, Searching, StageName, ToolFound, ToolMismatch
from src.core.plan import StepResult
from src.core.protocols import ToolLibrary
from src.core.tool import Candidate, Tool
from src.core.turn import Turn
from src.core.value import Value
from src.core.verdict import Execution, Killed, Raised, Returned
from src.execution.outcome import own_failure
from src.executor import Call, Executor, Misfit, NoFit
from src.synthesis_engine import Building, Reply, SynthesisEngine
from src.turn_graph import Course, Stage

log = logging.getLogger(__name__)

CANDIDATES = 8
"""How many tools the model chooses from."""
CHOICE_ODDS = 19.0
"""How much likelier a model is to choose a tool that fits than one that doesn't (0.95 against 0.05): what its choice adds to
the odds that the search gives."""


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

    def __init__(self, library: ToolLibrary, executor: Executor, synthesis: SynthesisEngine, threshold: float) -> None:
        self._library, self._executor, self._synthesis = library, executor, synthesis
        self._threshold = threshold

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
        passage.choice, passage.building.looked_at = await self._find(turn)
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


def _confirmed(confidence: float) -> float:
    """Confidence of the search, 0..1, after the model has chosen the same tool; Bayes' rule in odds form."""
    return CHOICE_ODDS * confidence / (CHOICE_ODDS * confidence + 1 - confidence)
