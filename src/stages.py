"""The stages between a request and what a tool made of it.

search the library → choose → run the tool that fits, or build one and run it; mend it where it fails
"""

import logging
import time
from collections.abc import Sequence

from src.core.errors import AgentError, ModelReplyInvalid, stage
from src.core.events import NoToolFound, Searching, ToolFound, ToolMismatch
from src.core.plan import Plan
from src.core.protocols import ToolLibrary
from src.core.tool import Candidate, Tool
from src.core.turn import Turn
from src.core.value import Value
from src.core.verdict import Execution, Killed, Raised, Returned
from src.execution.outcome import own_failure
from src.executor import Call, Executor, Misfit, NoFit
from src.synthesis_engine import Job, Reply, SynthesisEngine

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


class Stages:
    """What a request goes through, be it a turn's or that of a step of a plan."""

    def __init__(self, library: ToolLibrary, executor: Executor, synthesis: SynthesisEngine, threshold: float) -> None:
        self._library, self._executor, self._synthesis = library, executor, synthesis
        self._threshold = threshold

    async def serve(self, turn: Turn) -> Served | Reply | Plan | Job | Misfit:
        """Find or build a tool and run it; or what is to be said instead, the steps that it takes, that it is work for agents, or what
        the call lacks.

        A turn that keeps a plan builds a tool without a search.

        Raises:
            AgentError: a stage gave up; `where` names it.
        """
        choice, considered = (NoFit(reason=""), ()) if turn.kept else await self._find(turn)
        if isinstance(choice, Misfit):
            turn.emit(ToolMismatch(tool=choice.tool.name, problem=choice.problem, then="ask" if choice.missing else "synthesize"))
            if choice.missing:
                return choice
        if not isinstance(choice, Call):
            built = await self._synthesis.synthesize(turn, considered)
            if not isinstance(built, Tool):
                return built
            choice = await self._call_of(turn, built)
            if isinstance(choice, Misfit):
                return choice
        return await self._run(turn, choice)

    async def _run(self, turn: Turn, call: Call) -> Served:
        """Make the call; where it fails by the tool's own fault, have the tool mended and make it again, once."""
        execution = await self._executor.run(turn, call)
        mended = None if isinstance(execution, Returned) else await self._mended(turn, call, execution)
        if mended:
            call = Call(tool=mended, arguments=call.arguments)
            execution = await self._executor.run(turn, call)
        return Served(call=call, execution=execution)

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
