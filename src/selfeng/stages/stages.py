"""The stages of a request: what each does, in one table. src/selfeng/core/stage.py lists them and
their order.
"""

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, assert_never, cast

from selfeng.agents import AgentReply, Delegation
from selfeng.core.background import BackgroundTasks
from selfeng.core.consent_question import (
    ConsentAsked,
    call_consent,
    consent_id,
    need_key,
    needs_consent,
    needs_id,
    not_consented,
    not_granted,
    picture_consent,
    schedule_consent,
    titles,
)
from selfeng.core.errors import (
    AgentError,
    AgentGaveUp,
    LibraryError,
    NotConsented,
    PlanFailed,
    RequestError,
    StillUnclear,
    SynthesisFailed,
    stage,
)
from selfeng.core.events import ConsentDecided, PlanMade, PlanStepChanged
from selfeng.core.files import File
from selfeng.core.http import READING, Exchange, NetworkAccess
from selfeng.core.owner import current_owner, owned_by
from selfeng.core.plan import Plan, SavedPlan, StepResult
from selfeng.core.prompt import FunctionCall
from selfeng.core.protocols import ServerTools, ToolLibrary
from selfeng.core.provenance import Proposal
from selfeng.core.question import ALWAYS, NO, Consent, Question, answers_text, questions_text
from selfeng.core.result import Dispute, TaughtRow, ToolEdit, canonical
from selfeng.core.schedule import SchedulePlan
from selfeng.core.secrets import may_be_kept
from selfeng.core.server_tool import ServerTool
from selfeng.core.spec import SpecifiedTool
from selfeng.core.stage import StageName
from selfeng.core.tool import Need, Tool, needs_of
from selfeng.core.turn import (
    AgentPart,
    Asking,
    Budget,
    HandCall,
    PlanPart,
    Refactoring,
    Request,
    ScheduleAnswer,
    ToolDescription,
    Turn,
)
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened
from selfeng.stages.decision import Decider
from selfeng.stages.execution.contract import SERVICE_CHANGED
from selfeng.stages.execution.outcome import chosen_value, overruled, own_failure
from selfeng.stages.executor import Call, Choice, Disputed, Executor, Misfit, NoFit
from selfeng.stages.plan_runner import PlanRunner
from selfeng.stages.response_synthesizer import describe, described
from selfeng.synthesis.building import SYNTHESIS_STAGES, Synthesis
from selfeng.synthesis.programming import FailedCall
from selfeng.synthesis_engine import DelegateToAgents, DirectAnswer, SynthesisEngine
from selfeng.turns.graph_run import GraphRun

log = logging.getLogger(__name__)

_TRACEBACK = 3000
"""Characters of a traceback that a model sees."""


class Executed(Value):
    call: Call
    execution: Execution


class PlanExecuted(Value):
    """A plan that ran, or several calls of one tool."""

    results: tuple[StepResult, ...]
    """In the order of its steps, or of the calls."""
    tool: str | None = None
    """Of the calls."""
    executions: tuple[Execution, ...] = ()
    """Of the calls."""
    files: tuple[File, ...] = ()
    """The files that the calls made."""


End = Executed | DirectAnswer | ConsentAsked | PlanExecuted | AgentReply
"""The result that the answer is written from."""


class PartServed(NamedTuple):
    """The result of a part of a turn."""

    result: StepResult
    files: tuple[File, ...]


_WAYS: Mapping[type, str] = {
    SavedPlan: "kept",
    Refactoring: "to be faster",
    ToolDescription: "to be built",
    Dispute: "marked as wrong",
}


@dataclass
class RequestState:
    """A request on its way through the graph: what each stage leaves to later ones."""

    turn: Turn
    engine: SynthesisEngine
    choice: Choice = field(default_factory=lambda: NoFit(reason=""))
    """The call of the tool that was found or built."""
    search_candidates: tuple[str, ...] = ()
    """Names of the tools that the search found."""
    likely: tuple[str, ...] = ()
    """Those that the model saw."""
    near: tuple[str, ...] = ()
    """Those that a specification is compared with."""
    dispute: Dispute | None = None
    """The earlier result that the person disagrees with."""
    learnable: tuple[str, ...] = ()
    """The forms of the request that the tool that serves it may be found by from then on."""
    ran: list[Executed] = field(default_factory=list)
    """The calls so far, except one to be mended."""
    fault: str = ""
    """The fault of the called tool that must be mended, in a few words."""
    mended: bool = False
    """Whether the tool was already sent to be repaired, which happens once."""
    specified: SpecifiedTool | None = None
    """The specification that the person has consented to."""
    unseen: str = ""
    """Which pictures no model has seen, and why, as a sentence."""
    outcome: End | None = None

    @cached_property
    def synthesis(self) -> Synthesis:
        """Created when a stage first needs it."""
        return self.engine.begin(
            self.turn,
            self.near,
            self.learnable,
            self.likely,
            dispute=self.dispute,
            specified=self.specified,
        )

    @property
    def end(self) -> End:
        """Raises: AssertionError: the request has not reached `respond`."""
        end = self.outcome or self.synthesis.result
        assert isinstance(end, End), end
        if isinstance(end, DirectAnswer) and self.unseen:
            return end.model_copy(update={"text": f"{end.text}\n\n{self.unseen}".strip()})
        return end


Stage = Callable[[RequestState], Awaitable[str]]
"""Works on the state of a request; returns the symbol that it ends with."""


class Stages:
    """The stages of a request, whether a turn's own or that of a part of it."""

    def __init__(
        self,
        library: ToolLibrary,
        decider: Decider,
        executor: Executor,
        synthesis: SynthesisEngine,
        *,
        background: BackgroundTasks,
        delegation: Delegation | None = None,
        servers: ServerTools | None = None,
    ) -> None:
        """Requests that tools serve are recorded in the `background`, and find the tools from then
        on.
        """
        self._library, self._decider, self._executor, self._synthesis = (
            library,
            decider,
            executor,
            synthesis,
        )
        self._servers = servers
        self._served, self._delegation, self._plans = (
            ServedRequests(library, background),
            delegation,
            PlanRunner(self.serve_part),
        )
        self._stages: Mapping[StageName, Stage] = {
            "gather": self._gather,
            "search": self._search,
            "clarify": self._clarify,
            **{name: _of_synthesis(take) for name, take in SYNTHESIS_STAGES.items()},
            "prepare": self._prepare,
            "execute": self._execute,
            "mend": self._mend,
            "refactor": self._refactor,
            "plan": self._plan,
            "delegate": self._delegate,
        }

    async def serve(self, turn: Turn) -> End:
        """Take the request through the graph, up to `respond`.

        Raises:
            AgentError: a stage gave up; `where` names it.
        """
        state = RequestState(turn, self._synthesis)
        await GraphRun(turn).follow(self._stages, state)
        return state.end

    async def serve_part(self, turn: Turn) -> PartServed:
        """The same for a step of a plan, or what an agent asks for; it must end with a result.

        Raises:
            AgentError: no tool serves it, its tool failed, it is declined, or it would need to ask
                a question.
        """
        request, end = turn.request, await self.serve(turn)
        match end:
            case Executed(call=call, execution=execution):
                returned = _returned(execution)
                result = StepResult(
                    id=request.plan_step,
                    request=request.text,
                    tool=call.tool.name,
                    text=returned.text,
                    data=returned.data,
                    summary=described(returned),
                )
                return PartServed(result, returned.files)
            case PlanExecuted(tool=str(tool), results=results, files=files):
                return PartServed(_together(request, tool, results), files)
            case DirectAnswer(text=text, declined=True):
                raise SynthesisFailed(text, where="specify", cause="said")
            case DirectAnswer(text=text, waits=True):
                raise SynthesisFailed(text, "accept it, then ask again", where="register")
            case DirectAnswer(text=text, questions=()):
                return PartServed(
                    StepResult(
                        id=request.plan_step,
                        request=request.text,
                        tool=None,
                        text=text,
                        data=json.dumps(text),
                    ),
                    (),
                )
            case DirectAnswer(text=text, questions=questions):
                message = questions_text(questions, text)
                raise StillUnclear(message, "ask again, with what is missing", where="clarify")
            case PlanExecuted() | AgentReply() | ConsentAsked():
                raise AssertionError("the synthesis refuses plans and work for agents here")
            case _:
                assert_never(end)

    async def _gather(self, state: RequestState) -> str:
        """A turn that builds a tool, makes one of a plan, or one faster, does not search; nor does
        one for an agent, a call by hand, or one about an answer that is marked as wrong.
        """
        request = state.turn.request
        way = _WAYS.get(type(request.kind), "new")
        if way != "new":
            state.learnable = request.learnable(request.text)
        state.turn.granted.update(request.consents)
        match request.kind:
            case HandCall(call=called, version=version):
                tool = await self._library.get(called.name)
                if version not in (0, tool.version):
                    tool = (await self._library.version(called.name, version)).tool
                state.choice = Call(tool=tool, arguments=called.arguments)
                return "by hand"
            case ScheduleAnswer(added=added):
                state.outcome = _scheduled(added)
                return "answered"
            case Asking(waiting=FunctionCall() as call) if await self._is_allowed(state, call):
                return "allowed"
            case Asking(specified=SpecifiedTool() as reply) if _is_granted(state.turn, reply):
                state.specified, way = reply, "to be built"
                state.learnable = () if request.history else state.learnable
            case Asking(agent=agent) if agent:
                way = "for agents"
            case Dispute() as dispute:
                state.dispute, state.learnable = dispute, ()
        await state.turn.profile(request.files)
        if request.visual and not request.is_part and await self._asks_to_look(state):
            return "incomplete"
        return way

    async def _asks_to_look(self, state: RequestState) -> bool:
        """Show the model the pictures of the request, or note in their profiles why not. Returns
        whether that waits for consent, which is not asked again for earlier files.
        """
        turn, request = state.turn, state.turn.request
        sight, visual, unseen = await self._executor.sight(turn), request.visual, ""
        needs = await self._executor.ungranted(turn, sight)
        asked_id = needs_id(sight.name, needs)
        answer = next((a for a in request.answers if needs and a.id == asked_id), None)
        if sight.problem:
            unseen = (
                f"the model {sight.model} sees no pictures ({sight.problem}); another one, by "
                "the settings or OPENAI_MODEL, may"
            )
        elif answer:
            decision, hosts = cast(Consent, answer.value), titles(needs)
            turn.emit(ConsentDecided(tool=sight.name, server=hosts, decision=decision))
            if decision == ALWAYS:
                await self._executor.grant(sight, sight.needs)
            visual = tuple(r for r in visual if repr(r.name) in answer.question)
            unseen = f"consent for {hosts} was refused" if decision == NO else ""
        elif needs and request.files:
            state.outcome = picture_consent(sight, [reference.name for reference in visual])
            return True
        elif needs:
            unseen = "the consent was for an earlier request; attach it again"
        if unseen:
            request.note(visual, unseen=unseen)
            names = ", ".join(reference.name for reference in visual)
            state.unseen = f"I have not seen {names}: {unseen}." * bool(request.files or answer)
        else:
            state.turn = await turn.looked(visual)
        return False

    async def _is_allowed(self, state: RequestState, waiting: FunctionCall) -> bool:
        """Take the person's answer about a call that waits. False: the request continues without
        it, because of the answer, or because the server describes the tool otherwise now.
        """
        turn = state.turn
        answer = next((a for a in turn.request.answers), None)
        tool = await self._outside(waiting.name)
        if tool is None:
            return False
        call = Call(tool=tool, arguments=waiting.arguments, further=waiting.further)
        needs = (
            await self._executor.ungranted(turn, call.bound_tool) if isinstance(tool, Tool) else ()
        )
        if answer is None:
            return False
        asked_id = (
            consent_id(tool.digest) if isinstance(tool, ServerTool) else needs_id(tool.name, needs)
        )
        decision = cast(Consent, answer.value)
        if answer.id != asked_id:  # about a redirect, or the tool needs something else now
            state.choice = call
            return isinstance(tool, Tool) and decision != NO
        server = tool.server if isinstance(tool, ServerTool) else titles(needs)
        turn.emit(ConsentDecided(tool=tool.name, server=server, decision=decision))
        if decision == NO:
            return False
        turn.granted.update((need_key(tool.name, need), decision) for need in needs)
        if decision == ALWAYS and isinstance(tool, Tool):
            await self._executor.grant(call.bound_tool, needs)
        elif decision == ALWAYS and self._servers and isinstance(tool, ServerTool):
            await self._servers.allow(tool)
        state.choice = call
        return True

    async def _outside(self, name: str) -> Tool | ServerTool | None:
        """The tool of this name of another server, or of the library."""
        if self._servers and (tool := await self._servers.get(name)):
            return tool
        with suppress(LibraryError):
            return await self._library.get(name)
        return None

    async def _search(self, state: RequestState) -> str:
        turn = state.turn
        if dispute := _overruling(turn.request):
            state.dispute = dispute
            return "nothing fits"
        self._confirm(turn.request)
        decision = await self._decider.decide(turn)
        state.choice, state.search_candidates = decision.choice, decision.considered
        state.likely = decision.likely
        state.learnable, state.near = decision.learnable, decision.near
        match state.choice:
            case Call(tool=ServerTool() as tool) as call:
                if self._servers and await self._servers.allowed(tool):
                    return "fits"
                if turn.request.is_part:
                    command = f"selfeng servers allow {tool.server} {tool.tool}"
                    raise not_consented(tool.name, command)
                state.outcome = call_consent(tool, call.waiting)
                return "incomplete"
            case Call(tool=Proposal() as tool) | Misfit(tool=Proposal() as tool):
                state.outcome = DirectAnswer(
                    text=tool.words, waits=True, code="proposed", values={"tool": tool.name}
                )
                return "waits"
            case Call(cron=cron):
                return self._propose(state, cron) if cron else "fits"
            case Disputed(dispute=dispute):
                state.dispute = dispute
                return "nothing fits"
            case NoFit():
                return "nothing fits"
            case Misfit(missing=missing):
                then: Literal["ask", "synthesize"] = "ask" if missing else "synthesize"
                turn.emit(state.choice.mismatch(then))
                return "incomplete" if missing else "nothing fits"
            case _:
                assert_never(state.choice)

    def _propose(self, state: RequestState, cron: str) -> str:
        """Ask whether to make the call at these times, instead of now."""
        call, turn = state.choice, state.turn
        assert isinstance(call, Call), call
        assert isinstance(call.tool, Tool), call
        plan = SchedulePlan(
            tool=call.tool.name,
            version=call.tool.version,
            arguments=call.arguments,
            cron=cron,
            timezone=turn.request.timezone,
        )
        try:
            plan.next_due(call.tool.created_at)
        except RequestError as error:
            state.choice = Misfit(tool=call.tool, problem=error.message)
            turn.emit(state.choice.mismatch("ask"))
        else:
            state.outcome = schedule_consent(plan)
        return "incomplete"

    def _confirm(self, request: Request) -> None:
        """Add the value that the person chose as right for the last call to the tool's tests."""
        for last in request.earlier_results.values[-1:]:
            row = chosen_value(request.answers, last)
            if row and not (request.temporary or request.names_file(row.arguments)):
                self._served.confirm(self._synthesis, last.tool, row)

    async def _clarify(self, state: RequestState) -> str:
        """Turn the values that a call lacks into a question; a specification's or an agent's open
        points are questions already.
        """
        outcome = state.outcome or state.synthesis.result
        if not isinstance(outcome, DirectAnswer | AgentReply | ConsentAsked):
            assert isinstance(state.choice, Misfit), state.choice
            misfit = state.choice
            state.outcome = DirectAnswer(
                text=misfit.text,
                questions=misfit.questions,
                code="values" if misfit.missing else "request",
                values={"tool": misfit.tool.name},
            )
        return "asked"

    async def _prepare(self, state: RequestState) -> str:
        assert isinstance(state.synthesis.result, Tool), state.synthesis.result
        if isinstance(state.turn.request.kind, ToolDescription):
            tool = state.synthesis.result
            state.outcome = DirectAnswer(
                text=f"`{tool.signature}`: {tool.description}", tool=tool.name
            )
            return "built"
        if not state.synthesis.built:  # the library had it, though the search did not offer it
            state.search_candidates += (state.synthesis.result.name,)
        state.choice = await self._call_of(
            state.turn, state.synthesis.result, state.synthesis.arguments
        )
        if isinstance(state.choice, Call):
            cron, kind = state.synthesis.cron, state.turn.request.kind
            is_own = not isinstance(kind, PlanPart | AgentPart)
            return self._propose(state, cron) if cron and is_own else "fits"
        return "incomplete"

    async def _execute(self, state: RequestState) -> str:
        call = state.choice
        assert isinstance(call, Call), call
        if isinstance(call.tool, Tool) and call.tool.needs and await self._asks(state, call):
            return "incomplete"
        execution = await self._executor.run(state.turn, call)
        if isinstance(execution, Raised) and execution.lacks and not state.turn.sent:
            if await self._waits_for(state, call, (execution.lacks,)):
                return "incomplete"
            execution = await self._executor.run(state.turn, _with_host(call, execution.lacks))
        state.ran.append(Executed(call=call, execution=execution))
        if isinstance(execution, Returned):
            tool = call.tool
            # what was built has learnt it already
            if isinstance(tool, Tool) and tool.name in state.search_candidates:
                self._served.record(tool, state.learnable)
        elif not state.mended:
            state.fault = await self._fault(state, call, execution)
            if state.fault:
                return "at fault"
        if call.further:
            state.choice = call.following
            return await self._execute(state)
        state.outcome = _outcome(state.ran)
        return "ran"

    async def _asks(self, state: RequestState, call: Call) -> bool:
        """Whether a call of a tool of the library waits for consent to what it needs.

        Raises:
            AgentError: it is a part, which can't ask.
        """
        needs = await self._executor.ungranted(state.turn, call.bound_tool)
        return bool(needs) and await self._waits_for(state, call, needs)

    async def _waits_for(self, state: RequestState, call: Call, needs: tuple[Need, ...]) -> bool:
        """Whether a call waits for consent to these needs. Raises: as `_asks`."""
        turn, tool = state.turn, call.bound_tool
        outcome = needs_consent(tool.name, needs, call=call.waiting)
        decision = turn.granted.get(outcome.question.id, "no")
        if decision != NO:  # the whole of which this is a part asked
            turn.emit(ConsentDecided(tool=tool.name, server=titles(needs), decision=decision))
            turn.granted.update((need_key(tool.name, need), decision) for need in needs)
            if decision == ALWAYS:
                await self._executor.grant(tool, needs)
            return False
        if turn.request.is_part:
            refusal = not_granted(tool.name, needs)
            if outcome.question.id not in turn.granted:
                refusal.asks = outcome.model_copy(update={"call": None})
            raise refusal
        state.outcome = outcome
        return True

    async def _mend(self, state: RequestState) -> str:
        state.mended, call, execution = True, state.ran[-1].call, state.ran[-1].execution
        assert not isinstance(execution, Returned), execution
        mended = await self._mended(state, call, execution)
        match mended:
            case None:
                state.outcome = _outcome(state.ran)
                return "left"
            case Question():
                state.outcome = DirectAnswer(text="", questions=(mended,))
                return "unclear"
            case Tool():
                state.choice = call.model_copy(update={"tool": mended})
                state.ran.pop()
                return "mended"
            case _:
                assert_never(mended)

    async def _fault(self, state: RequestState, call: Call, execution: Raised | Killed) -> str:
        """The tool's possible fault, in a few words: its own failure, any error of a tool that was
        just built on the files that it was built for, or one about lines of the person's files; ""
        for nothing. Calls by hand are not examined.
        """
        if isinstance(state.turn.request.kind, HandCall) or isinstance(call.tool, ServerTool):
            return ""
        if (failure := own_failure(execution)) or isinstance(execution, Killed):
            return "" if _has_sent(execution) else failure or ""
        files = await self._executor.named_files(state.turn, call)
        unexpected = files and (
            state.synthesis.built or await self._lines(state.turn, call, execution)
        )
        return execution.type_name if unexpected else ""

    async def _refactor(self, state: RequestState) -> str:
        assert isinstance(state.turn.request.kind, Refactoring)
        tool = await self._library.get(state.turn.request.kind.tool)
        state.outcome = await self._synthesis.refactor(state.turn, tool)
        return "done"

    async def _mended(
        self, state: RequestState, call: Call, execution: Raised | Killed
    ) -> Tool | Question | None:
        """A new version of the tool, or what the person has to decide; None if it is retired, has
        changed meanwhile or can't be repaired.

        No problem here fails the turn, which has an outcome without it.
        """
        turn = state.turn
        try:
            now = await self._library.get(call.tool.name)
            assert isinstance(call.tool, Tool), call.tool
            changed = now.version != call.tool.version
            if now.standing == "retired" or now.frozen or changed:
                return None
            failed = FailedCall(
                call=str(call),
                failure=_failure(execution),
                reason=state.fault,
                lines=await self._lines(turn, call, execution),
                built=state.synthesis.built,
                arguments=call.arguments,
                files=await turn.request.files_of(call.arguments),
                exchanges=_changed_service(execution),
            )
            mended = await self._synthesis.mend(turn, now, failed)
            return None if isinstance(mended, Proposal) else mended
        except AgentError as error:
            log.warning("could not repair %s after %s: %s", call.tool.name, state.fault, error)
            return None

    async def _lines(self, turn: Turn, call: Call, execution: Raised | Killed) -> str:
        """The lines of the person's files that an error is about."""
        if turn.inspector is None or isinstance(execution, Killed):
            return ""
        files = await self._executor.named_files(turn, call)
        lines = [await turn.inspector.lines_about(file, execution.message) for file in files]
        return "\n".join(filter(None, lines))

    async def _call_of(
        self, turn: Turn, built: Tool, arguments: Mapping[str, Any] | None
    ) -> Call | Misfit:
        with stage("execute"):
            choice = await self._executor.prepare(turn, built, arguments)
            assert not isinstance(choice, Disputed), choice  # nothing was to be disputed
            if isinstance(choice, NoFit):
                raise AgentError(
                    f"{built.name} was built, but can't be called for this request: "
                    f"{choice.reason}",
                    "ask again with the values",
                )
        if isinstance(choice, Misfit):
            turn.emit(choice.mismatch("ask"))
        return choice

    async def _plan(self, state: RequestState) -> str:
        plan = state.synthesis.result
        assert isinstance(plan, Plan), plan
        state.turn.emit(PlanMade(steps=plan.steps))
        state.outcome = await self._as_program(state, plan)
        if state.outcome:
            return "done" if isinstance(state.outcome, Executed) else "incomplete"
        try:
            state.outcome = PlanExecuted(results=await self._plans.run(state.turn, plan))
        except PlanFailed as error:
            refusal = error.__cause__
            if not isinstance(refusal, NotConsented) or refusal.asks is None or state.turn.sent:
                raise
            state.outcome = refusal.asks
            return "incomplete"
        return "done"

    async def _as_program(self, state: RequestState, plan: Plan) -> Executed | ConsentAsked | None:
        """The call of one tool that is built of those that serve the steps, and imports them, or
        the question whether to make it at set times; None if one step has none, or if the tool
        can't be built or fails, so that the steps are run.
        """
        if not (steps := await self._decider.served(plan)):
            return None
        started, request = time.monotonic(), state.turn.request
        saved = SavedPlan(turn_id="", request=request.text, steps=steps)
        part = state.turn.part(replace(request, kind=saved))
        turn = replace(part, budget=_half(part.budget))
        program = RequestState(turn, self._synthesis, learnable=state.learnable)
        try:
            await GraphRun(turn, "specify").follow(self._stages, program)
        except AgentError as error:  # where more is wrong, the steps fail by it
            log.warning("no tool does the whole plan: %s", error)
            return None
        if isinstance(program.end, ConsentAsked) and program.end.schedule:
            return program.end
        if not isinstance(program.end, Executed) or program.end.execution.outcome != "returned":
            return None
        seconds = time.monotonic() - started
        for step, its in zip(plan.steps, steps, strict=True):
            ending = {"state": "finished", "tool": its.tool, "seconds": seconds}
            turn.emit(PlanStepChanged(step=step.id, **ending))
        return program.end

    async def _delegate(self, state: RequestState) -> str:
        """Raises: AgentGaveUp, and what `hand_over` raises."""
        turn, kind, context = state.turn, state.turn.request.kind, ""
        direct_agent = agent = kind.agent if isinstance(kind, Asking) else ""
        if not agent:
            work = state.synthesis.result
            assert isinstance(work, DelegateToAgents), work
            agent, context = work.agent, work.context and f"(Before that: {work.context})"
        if self._delegation is None:
            raise AgentGaveUp(
                "the request needs an agent, but none is configured",
                "give the orchestrator a delegation",
                where=agent,
            )
        answers = turn.request.answers
        continues = direct_agent and any(a.id not in turn.request.consents for a in answers)
        words = [] if continues else [turn.request.text]
        message = "\n".join(filter(None, [*words, context, answers_text(answers)]))
        try:
            reply = await self._delegation.hand_over(turn, agent, message)
        except NotConsented as refusal:
            if refusal.asks is None:
                raise
            state.outcome = refusal.asks.model_copy(update={"agent": direct_agent})
            return "unclear"
        state.outcome = reply.model_copy(update={"agent": agent})
        if reply.outcome == "failed":
            raise AgentGaveUp(reply.text, "say it in other words, or in smaller parts", where=agent)
        return "unclear" if reply.questions else "replied"


def _half(budget: Budget) -> Budget:
    """A budget that leaves the other half of what is left."""
    limits = budget.limits
    calls = (limits.calls - budget.usage.calls) // 2
    half = {"tokens": budget.tokens_left // 2, "seconds": budget.seconds_left / 2}
    return Budget(limits.model_copy(update={"calls": calls, **half}), parent=budget)


def _with_host(call: Call, access: NetworkAccess) -> Call:
    """The call of a tool that may use one more host."""
    tool = call.bound_tool
    connected = tool.model_copy(update={"network": (*tool.network, access)})
    return call.model_copy(update={"tool": connected})


def _scheduled(added: SchedulePlan | None) -> DirectAnswer:
    """The answer to a person who was asked about a schedule."""
    if added is None:
        return DirectAnswer(text="No schedule was added.", code="not_scheduled")
    return DirectAnswer(
        text=f"`{added.tool}`, version {added.version}, now runs {added.when}. Its results come to "
        f"the conversation “{added.name}”.",
        tool=added.tool,
        code="scheduled",
        values={
            **added.when_values,
            "tool": added.tool,
            "version": added.version,
            "name": added.name,
        },
    )


def _is_granted(turn: Turn, reply: SpecifiedTool) -> bool:
    """Take the person's answer about what a tool to be built needs. False: the request continues
    without that.
    """
    answer = next((a for a in turn.request.answers), None)
    if answer is None or (spec := reply.specification) is None:
        return False
    decision, needs = cast(Consent, answer.value), needs_of(spec.accesses, reply.lock, spec.limits)
    turn.emit(ConsentDecided(tool=spec.name, server=titles(needs), decision=decision))
    if decision != NO:
        turn.granted.update((need_key(spec.name, need), decision) for need in needs)
    return decision != NO


def _has_sent(execution: Raised | Killed) -> bool:
    """Whether a repeated call could have an effect on a server again."""
    return isinstance(execution, Raised) and any(
        exchange.request.method not in READING for exchange in execution.exchanges
    )


def _changed_service(execution: Raised | Killed) -> tuple[Exchange, ...]:
    """The exchanges with a service that answers otherwise than recorded."""
    if isinstance(execution, Raised) and execution.type_name == SERVICE_CHANGED:
        return execution.exchanges
    return ()


def _of_synthesis(take: Callable[[Synthesis], Awaitable[str]]) -> Stage:
    return lambda state: take(state.synthesis)


def _outcome(ran: Sequence[Executed]) -> Executed | PlanExecuted:
    """The outcome of the calls of one tool."""
    if len(ran) == 1:
        return ran[0]
    executions = [executed.execution for executed in ran]
    results = tuple(
        StepResult(
            id=f"call_{number}",
            request=str(executed.call),
            tool=executed.call.tool.name,
            text=describe(executed.execution),
            data=executed.execution.data if isinstance(executed.execution, Returned) else None,
        )
        for number, executed in enumerate(ran, 1)
    )
    files = [f for e in executions if not isinstance(e, Killed) for f in e.files]
    return PlanExecuted(
        results=results,
        tool=ran[0].call.tool.name,
        executions=tuple(executions),
        files=tuple(files),
    )


def _together(request: Request, tool: str, results: Sequence[StepResult]) -> StepResult:
    """Results of calls as that of one step: a list of their values."""
    values = [result.data for result in results]
    data = None if None in values else f"[{', '.join(map(str, values))}]"
    text = "\n".join(result.text for result in results)
    return StepResult(id=request.plan_step, request=request.text, tool=tool, text=text, data=data)


def _failure(execution: Raised | Killed) -> str:
    if isinstance(execution, Killed):
        return execution.reason
    summary = f"{execution.type_name}: {execution.message}"
    return "\n\n".join(filter(None, [summary, shortened(execution.traceback, _TRACEBACK)]))


def _overruling(request: Request) -> Dispute | None:
    """The dispute with the last result, if the person chose the value of a witness."""
    for last in request.earlier_results.values[-1:]:
        if complaint := overruled(request.answers, last):
            row = chosen_value(request.answers, last)
            right = canonical(row.value) if row else ""
            return request.dispute(last, complaint).model_copy(update={"expected": right})
    return None


def _returned(execution: Execution) -> Returned:
    match execution:
        case Returned():
            return execution
        case Raised():
            raise AgentError(
                f"the tool raised {execution.type_name}: {execution.message}", where="execute"
            )
        case Killed():
            raise AgentError(f"the tool was ended: {execution.reason}", where="execute")
        case _:
            assert_never(execution)


class ServedRequests:
    """Adds requests that tools served to those that find them; in the background, because embedding
    takes a while.
    """

    def __init__(self, library: ToolLibrary, background: BackgroundTasks) -> None:
        self._library, self._background = library, background

    def record(self, tool: Tool, forms: Sequence[str]) -> None:
        """Record that the tool was found for a request in these forms and served it. One that is
        long or contains a secret is not stored.
        """
        # In its own context, so that the end of the turn, or of the plan's step, does not cancel
        # it.
        if storable_forms := [form for form in forms if may_be_kept(form)]:
            failure = f"could not add a served request to {tool.name}"
            Context().run(
                self._background.start, _logged(failure, self._keep(tool, storable_forms))
            )

    def confirm(self, synthesis: SynthesisEngine, name: str, row: TaughtRow) -> None:
        """Make a test of a value that the person says is right."""
        failure = f"a confirmed value of {name} did not become a test"
        work = self._confirm(synthesis, current_owner(), name, row)
        Context().run(self._background.start, _logged(failure, work))

    async def _confirm(
        self, synthesis: SynthesisEngine, owner: str, name: str, row: TaughtRow
    ) -> None:
        with owned_by(owner):
            await synthesis.save(await self._library.get(name), ToolEdit(rows=(row,)))

    async def _keep(self, tool: Tool, forms: Sequence[str]) -> None:
        for form in forms:
            await self._library.record_request(tool.name, tool.version, form)


async def _logged(failure: str, work: Awaitable[None]) -> None:
    """Log the failure of work in the background, after which the tool stays as it is."""
    try:
        await work
    except AgentError as error:
        log.warning("%s: %s", failure, error)
    except Exception:  # the edge of the background
        log.exception(failure)
