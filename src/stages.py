"""The stages between a request and what a tool made of it.

search the library → choose → run the tool that fits, or build one and run it; mend it where it fails
"""

import logging

from src.core.errors import AgentError, stage
from src.core.events import ToolMismatch
from src.core.plan import Plan
from src.core.protocols import ToolLibrary
from src.core.tool import Tool
from src.core.turn import Turn
from src.core.value import Value
from src.core.verdict import Execution, Killed, Raised, Returned
from src.decision import Decider, Decision
from src.execution.outcome import own_failure
from src.executor import Call, Executor, Misfit, NoFit
from src.synthesis_engine import Reply, SynthesisEngine
from src.used_requests import UsedRequests

log = logging.getLogger(__name__)


class Served(Value):
    """A call that was made, and what came of it."""

    call: Call
    execution: Execution


class Stages:
    """What a request goes through, be it a turn's or that of a step of a plan."""

    def __init__(
        self, library: ToolLibrary, decider: Decider, executor: Executor, synthesis: SynthesisEngine, requests: UsedRequests
    ) -> None:
        self._library, self._decider, self._executor, self._synthesis = library, decider, executor, synthesis
        self._requests = requests

    async def serve(self, turn: Turn) -> Served | Reply | Plan | Misfit:
        """Find or build a tool and run it; or what is to be said instead, the steps that it takes, or what the call lacks.

        A turn that keeps a plan builds a tool without a search.

        Raises:
            AgentError: a stage gave up; `where` names it.
        """
        decision = Decision(choice=NoFit(reason="")) if turn.kept else await self._decider.decide(turn)
        choice = decision.choice
        if isinstance(choice, Misfit):
            turn.emit(ToolMismatch(tool=choice.tool.name, problem=choice.problem, then="ask" if choice.missing else "synthesize"))
            if choice.missing:
                return choice
        if not isinstance(choice, Call):
            built = await self._synthesis.synthesize(turn, decision.considered)
            if not isinstance(built, Tool):
                return built
            choice = await self._call_of(turn, built)
            return choice if isinstance(choice, Misfit) else await self._run(turn, choice)
        served = await self._run(turn, choice)
        if decision.teaches and isinstance(served.execution, Returned):
            self._requests.note(served.call.tool, turn.request)
        return served

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


def question(misfit: Misfit) -> str:
    """Asks the person for what a call lacks."""
    lines = [f"I can do this with `{misfit.tool.name}`, but {misfit.problem}." if not misfit.missing else "To do this I still need:"]
    for parameter in misfit.tool.signature.parameters:
        if parameter.name in misfit.missing:
            lines.append(
                f"- **{parameter.name}** ({parameter.annotation})" + (f": {parameter.description}" if parameter.description else "")
            )
    return "\n".join(lines)
