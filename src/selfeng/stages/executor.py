"""The executor: turns a request and tools that may fit into one checked call, and runs it once in
the sandbox.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from selfeng.core.consent_question import need_key, not_granted, titles
from selfeng.core.errors import LibraryError, SandboxError, ToolNotFound, stage
from selfeng.core.events import (
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionProgress,
    FilesMade,
    ToolMismatch,
)
from selfeng.core.files import File
from selfeng.core.functions import (
    COMPLAINT,
    CRON,
    NO_TOOL_FITS,
    REFERENCE,
    RESULT,
    STANDALONE,
    WRONG_RESULT,
    as_function,
    with_standalone,
    wrong_result,
)
from selfeng.core.pictures import Sight
from selfeng.core.plan import StepResult
from selfeng.core.prompt import FunctionCall, Prompt
from selfeng.core.protocols import ModelClient, Sandbox, ServerTools, ToolLibrary, ToolNetwork
from selfeng.core.question import Question
from selfeng.core.result import Dispute, EarlierResult
from selfeng.core.server_tool import ServerTool
from selfeng.core.tool import Need, Tool
from selfeng.core.turn import Check, Request, Turn, texts_in
from selfeng.core.value import Coded
from selfeng.core.verdict import USUAL, CallLimits, Execution, Killed, Returned, SandboxJob
from selfeng.core.visible import one_line
from selfeng.core.words import shortened
from selfeng.core.work import steps_of
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.prompts import render
from selfeng.prompts.request import EVIDENCE, disputable, shown
from selfeng.stages.execution.arguments import (
    ArgumentsInvalid,
    bind,
    question_for,
    resolved,
    with_forms,
)
from selfeng.stages.execution.contract import SERVICE_CHANGED, service_failure
from selfeng.stages.execution.outcome import (
    call_digest,
    consistent,
    own_failure,
    promised,
    witnessed,
)
from selfeng.stages.execution.programs import Program
from selfeng.stages.execution.schema_arguments import bind_schema, question_for_property

log = logging.getLogger(__name__)

_SHOWN = 2_000
"""Characters of an argument in the source of a call."""
_LONGEST = 20_000
"""Characters of an argument that an event shows whole, as many as a request has at most."""
_PROGRESS = 200
"""Characters of what a server says of its progress."""
_WITNESS_SECONDS = 5
"""Processor time of one witness's call."""
_SHORT = 80
"""Characters of a text that a call may word otherwise than the request, such as a date."""

_WITNESSES = "call_witnesses"
_ASK_WITNESSES = f"""
def {_WITNESSES}(modules, function, arguments):
    import copy, decimal, importlib, pathlib, random, signal

    class Slow(BaseException):
        pass

    def ring(*_):
        raise Slow

    signal.signal(signal.SIGPROF, ring)
    files = {{path: path.read_bytes() for path in pathlib.Path().iterdir() if path.is_file()}}
    values = []
    for module in modules:
        random.seed()
        decimal.setcontext(decimal.Context())
        signal.setitimer(signal.ITIMER_PROF, {_WITNESS_SECONDS}, 0.1)
        try:
            called = getattr(importlib.import_module(module), function)
            values.append([called(**copy.deepcopy(arguments))])
        except (Exception, Slow):
            values.append([])
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        for path, content in files.items():
            if not path.is_file() or path.read_bytes() != content:
                path.write_bytes(content)
    return values
"""
"""Calls each witness on the files as they came; one that raises gives no value."""

CountUse = Callable[[str, int, str], None]
"""Counts a success of a tool: its name, its version, and the digest of the call."""


class Chosen(Coded):
    """The model's choice for a request among the tools."""

    standalone: str = ""
    """The request in English, standing alone, in the model's words; "" where it was not asked."""
    cron: str = ""
    """The times at which the request wants a call to be made again and again; "" for once, now."""


class Call(Chosen):
    """A tool with arguments that fit its signature, or the schema of another server's tool."""

    tool: Tool | ServerTool
    arguments: dict[str, Any]
    """Plain JSON by parameter name; missing parameters take their defaults."""
    further: tuple[dict[str, Any], ...] = ()
    """The arguments of further calls of the tool, which the request asks for as well."""

    @property
    def bound_tool(self) -> Tool:
        """The tool, which is one of the library, with the hosts that all the calls need."""
        assert isinstance(self.tool, Tool), self
        return self.tool.for_calls([self.arguments, *self.further])

    @property
    def following(self) -> "Call":
        """The first of the further calls, with the rest of them."""
        first, *remaining = self.further
        return self.model_copy(update={"arguments": first, "further": tuple(remaining)})

    @property
    def waiting(self) -> FunctionCall:
        """The call as an event keeps it."""
        return FunctionCall(name=self.tool.name, arguments=self.arguments, further=self.further)

    def __str__(self) -> str:
        """The call as Python source, long values shortened."""
        texts = {name: repr(value) for name, value in self.arguments.items()}
        long = {name: shortened(text, _SHOWN) for name, text in texts.items() if len(text) > _SHOWN}
        return f"{self.tool.name}({', '.join(f'{k}={v}' for k, v in {**texts, **long}.items())})"


class NoFit(Chosen):
    """The model says that none of the tools does what is asked."""

    reason: str


class Disputed(Chosen):
    """The person disagrees with an earlier result."""

    dispute: Dispute

    @property
    def tool_name(self) -> str:
        """Of the tool that gave the result."""
        return self.dispute.result.tool


class Misfit(Chosen):
    """The model chose the tool, but what the request says doesn't fit its parameters."""

    tool: Tool | ServerTool
    problem: str
    missing: tuple[str, ...] = ()
    """Required parameters without a value; if they are the only problem, the person can be asked.
    """
    given: str = ""
    """missing: the arguments that the request gives, as JSON text."""

    def mismatch(self, then: Literal["ask", "synthesize"]) -> ToolMismatch:
        """The event that reports it, and what happens then."""
        return ToolMismatch(
            tool=self.tool.name,
            problem=self.problem,
            then=then,
            given=self.given,
            code="needs" if self.missing else "unfit",
            values={"names": ", ".join(self.missing)},
        )

    @property
    def text(self) -> str:
        """The introduction to the questions."""
        return (
            "To do this I still need:"
            if self.missing
            else f"I can do this with `{self.tool.name}`, but {self.problem}."
        )

    @property
    def questions(self) -> tuple[Question, ...]:
        """Questions for what the call lacks."""
        if isinstance(self.tool, ServerTool):
            items = tuple(question_for_property(self.tool, name) for name in self.missing)
        else:
            missing = [p for p in self.tool.signature.parameters if p.name in self.missing]
            items = tuple(map(question_for, missing))
        return items or (Question(id="request", question="What do you want done instead?"),)


Choice = Call | NoFit | Misfit | Disputed
"""The outcome of the choice of a tool for a request."""


class Executor:
    """Prepares calls with the model's help and runs them."""

    def __init__(
        self,
        model: ModelClient,
        sandbox: Sandbox,
        library: ToolLibrary,
        sources: PinnedSources | None = None,
        servers: ServerTools | None = None,
        *,
        network: ToolNetwork | None = None,
    ) -> None:
        """Without `servers` there are no tools of other MCP servers, without `network` no hosts."""
        self._servers, self._network = servers, network
        self._model, self._sandbox, self._library = model, sandbox, library
        self._sources = sources or PinnedSources(library)

    async def choose(
        self, turn: Turn, tools: Sequence[Tool | ServerTool], *, standalone: bool = False
    ) -> Choice:
        """Which of the tools the request needs, and with which arguments: one model call, two if
        its arguments don't fit. `standalone`: the model also rewrites the request, and may find
        that it disagrees with an earlier result.

        Raises:
            ModelError: the model can't be reached, declines or gives no usable reply.
        """
        context = await _prompt_context(turn)
        servers = any(isinstance(tool, ServerTool) for tool in tools)
        results = await self._disputable(turn.request) if standalone else ()
        timed = not turn.request.is_part and any(isinstance(tool, Tool) for tool in tools)
        prompt = render(
            "decide",
            turn.request.history,
            **context,
            standalone=standalone,
            servers=servers,
            disputable=disputable(results) if results else "",
            timed=timed,
        )
        first = await self._model_choice(turn, prompt, tools, standalone, results, timed=timed)
        again = await self._again(turn, first)
        if results and isinstance(again, Call) and not first.cron:
            again = _disputed_again(turn.request, again) or again
        return again.model_copy(update={"standalone": first.standalone, "cron": first.cron})

    async def _disputable(self, request: Request) -> tuple[EarlierResult, ...]:
        """The earlier results that a tool of the library gave."""
        results, present = request.earlier_results.values, set[str]()
        for name in dict.fromkeys(result.tool for result in results):
            with suppress(LibraryError):
                present.add((await self._library.get(name)).name)
        return tuple(result for result in results if result.tool in present)

    async def prepare(
        self, turn: Turn, tool: Tool | ServerTool, arguments: Mapping[str, Any] | None = None
    ) -> Choice:
        """The call of a tool: with these `arguments`, where they fit it and what the person
        said; else one model call, two if its arguments don't fit.

        Raises:
            ModelError: the model can't be reached, declines or gives no usable reply.
        """
        if arguments is not None and _copied(turn.request, arguments):
            with suppress(ArgumentsInvalid):
                return _call(turn.request, tool, arguments, await _results(turn, arguments))
        return await self._again(turn, await self._extracted(turn, tool, ""))

    async def _again(self, turn: Turn, result: Choice) -> Choice:
        """Have arguments that don't fit corrected once; only the person, not the model, can supply
        missing ones.
        """
        if isinstance(result, Misfit) and not result.missing:
            return await self._extracted(turn, result.tool, result.problem)
        return result

    async def _extracted(self, turn: Turn, tool: Tool | ServerTool, problem: str) -> Choice:
        prompt = render(
            "arguments",
            turn.request.history,
            **await _prompt_context(turn),
            function=tool.name,
            problem=problem,
            servers=isinstance(tool, ServerTool),
        )
        return await self._model_choice(turn, prompt, (tool,))

    async def _model_choice(
        self,
        turn: Turn,
        prompt: Prompt,
        tools: Sequence[Tool | ServerTool],
        standalone: bool = False,
        results: Sequence[EarlierResult] = (),
        *,
        timed: bool = False,
    ) -> Choice:
        passable = [r.id for r in turn.request.earlier_results.references]
        passable += [result.id for result in turn.request.results if result.data is not None]
        if turn.request.pictures:
            prompt = prompt.showing(turn.request.pictures)
        functions = [*(as_function(tool, passable, timed=timed) for tool in tools), NO_TOOL_FITS]
        if results:
            functions.append(wrong_result([result.id for result in results]))
        if standalone:
            functions = list(map(with_standalone, functions))
        choice = await self._model.choose(prompt, functions, turn.budget)
        calls = [dict(arguments) for arguments in (choice.arguments, *choice.further)]
        crons = [str(call.pop(CRON, None) or "").strip() for call in calls if timed]
        cron = next(filter(None, crons), "")
        rewrites = [str(call.pop(STANDALONE, None) or "") for call in calls if standalone]
        alone = " ".join(next(filter(None, rewrites), "").split())
        if choice.name == NO_TOOL_FITS.name:
            reason = str(choice.arguments.get("reason") or "")
            return NoFit(
                reason=reason or "none of the tools does what is asked for",
                code="" if reason else "none_fits",
                standalone=alone,
            )
        if choice.name == WRONG_RESULT:
            result = next((r for r in results if r.id == calls[0].get(RESULT)), results[-1])
            dispute = turn.request.dispute(result, str(calls[0].get(COMPLAINT) or ""))
            return Disputed(dispute=dispute, standalone=alone)
        tool = next(t for t in tools if t.name == choice.name)
        try:
            values = await _results(turn, calls)
            first, *further = [_call(turn.request, tool, call, values) for call in calls]
        except ArgumentsInvalid as error:
            return Misfit(
                tool=tool,
                problem=error.problem,
                missing=error.missing,
                given=_arguments_text(_literal_arguments(calls[0])) if error.missing else "",
                standalone=alone,
                cron=cron,
            )
        further_arguments = tuple(call.arguments for call in further)
        fields = {"standalone": alone, "cron": cron}
        return first.model_copy(update={"further": further_arguments, **fields})

    async def run(self, turn: Turn, call: Call, count: CountUse | None = None) -> Execution:
        """Call the tool once; if it returns, its witnesses are called concurrently with the next
        steps, as a check of the turn. A failure of the tool, or of the server that has it, is a
        value; only a broken sandbox raises. `count` counts a success, which this does itself by
        default.

        Raises:
            SandboxError: there is no sandbox, or it broke.
        """
        from selfeng.core.tracing import execute_tool, fail

        started = time.monotonic()
        name, tool = call.tool.name, call.tool
        files: tuple[File, ...] = ()
        with stage("execute"), execute_tool(name) as span:
            if isinstance(tool, ServerTool):
                execution = await self._run_elsewhere(turn, tool, call.arguments)
            else:
                await turn.need("sandbox")
                bound = tool.for_calls([call.arguments]) if tool.network else tool
                if bound.needs and (lacking := await self.ungranted(turn, bound)):
                    raise not_granted(name, lacking)
                hosts = titles(bound.network) if bound.network else ""
                arguments_text = _arguments_text(call.arguments)
                limits = "" if tool.limits == USUAL else str(tool.limits)
                turn.emit(
                    Executing(tool=name, arguments=arguments_text, hosts=hosts, limits=limits)
                )
                files, modules = (
                    await turn.request.files_of(call.arguments),
                    await self._sources.of(tool.requires),
                )
                digest = call_digest(call.arguments, files)
                call_id = f"{turn.request.conversation_id} {name} {len(call.further)} {digest}"
                session = call_id if tool.witnesses and not tool.network else ""
                job = tool.job(
                    library=modules,
                    session=session,
                    exchanges=(),
                    limits=tool.limits if limits else None,
                    on_line=partial(_tell, turn, name, started),
                )
                with turn.budget.paused() if limits else nullcontext():
                    execution = (
                        await self._connected(turn, bound, job, call.arguments, files)
                        if tool.network
                        else await self._sandbox.execute(job, call.arguments, files)
                    )
                execution = promised(execution, tool.signature, call.arguments, files)
                profiles = _profiles_of(turn.request, call.arguments)
                execution = consistent(execution, name, call.arguments, profiles)
                if tool.witnesses and isinstance(execution, Returned) and not limits:
                    compare = partial(_compare, turn, name, execution)
                    job = replace(job, exchanges=execution.exchanges)
                    with steps_of(None):  # what resumes the turn asks them again
                        check = asyncio.create_task(self._ask_witnesses(tool, call, files, job))
                    turn.checks.append(Check(check, compare))
            if not isinstance(execution, Returned):
                fail(span, getattr(execution, "type_name", execution.outcome))
        seconds = time.monotonic() - started
        if isinstance(execution, Returned):
            turn.emit(ExecutionFinished(tool=name, execution=execution, seconds=seconds))
        else:
            turn.emit(ExecutionFailed(tool=name, execution=execution, seconds=seconds))
        if not isinstance(execution, Killed) and execution.files:
            references = tuple(file.reference() for file in execution.files)
            turn.emit(FilesMade(tool=name, files=references, contents=execution.files))
        if not isinstance(tool, (ServerTool, Program)):
            if count and isinstance(execution, Returned):
                count(name, tool.version, digest)
            else:
                await self._report(turn, tool, digest, execution)
        return execution

    async def run_program(self, turn: Turn, call: Call) -> Execution:
        """Call a program as a tool, in one call of the sandbox. A tool that it imports counts no
        use, as it is not known whether it was called.

        Raises:
            NotConsented: a tool needs what the person has not allowed it.
            SandboxError: there is no sandbox, or it broke.
        """
        assert isinstance(call.tool, Program), call.tool
        for tool in call.tool.imported_tools:
            bound = tool.for_calls([{}])
            if bound.needs and (lacking := await self.ungranted(turn, bound)):
                raise not_granted(tool.name, lacking)
        return await self.run(turn, call)

    async def sight(self, turn: Turn) -> Sight:
        """Whether the model sees pictures."""
        return await self._model.sight(turn.budget)

    async def ungranted(self, turn: Turn, tool: Tool | Sight) -> tuple[Need, ...]:
        """The needs of a tool that the person has not allowed, for this turn or any.

        Raises:
            RequestError: no person can allow that much on this machine.
        """
        needs = await self._network.ungranted(tool) if self._network else tool.needs
        needs = tuple(need for need in needs if need_key(tool.name, need) not in turn.granted)
        for need in needs:
            if isinstance(need, CallLimits) and self._network:
                await self._network.check_limits(need)
        return needs

    async def grant(self, tool: Tool | Sight, needs: Sequence[Need]) -> None:
        """Allow a tool these of its needs, until the person revokes them."""
        assert self._network is not None, tool.name
        await self._network.grant(tool, needs)

    async def _connected(
        self,
        turn: Turn,
        tool: Tool,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File],
    ) -> Execution:
        """The outcome of a call with the hosts of a tool that is bound to it; a failure where one
        of them answers otherwise than recorded, as the value may be wrong.
        """
        assert self._network is not None, tool.name
        if not all(access.reads for access in tool.network):
            turn.sent.append(tool.name)
        execution = await self._network.execute(job, arguments, files, tool.network)
        if isinstance(execution, Killed) or not (failure := service_failure(tool, execution)):
            return execution
        if failure.type_name == SERVICE_CHANGED:
            with suppress(ToolNotFound):
                problem = one_line(failure.message)
                if change := await self._library.record_change(tool.name, tool.version, problem):
                    turn.emit(change)
        return failure

    async def _ask_witnesses(
        self, tool: Tool, call: Call, files: Sequence[File], job: SandboxJob
    ) -> Execution | None:
        """The witnesses' values, in the process of the tool's `job`; None if the sandbox broke.
        Files that they write are dropped.
        """
        library = {**job.library, **tool.witness_modules}
        ask_job = replace(job, name=_WITNESSES, code=_ASK_WITNESSES, library=library)
        modules = [*tool.witness_modules][: len(tool.witnesses)]
        arguments = {"modules": modules, "function": tool.name, "arguments": call.arguments}
        try:
            return await self._sandbox.execute(ask_job, arguments, files)
        except SandboxError as error:
            log.warning("the witnesses of %s could not be asked: %s", tool.name, error)
            return None

    async def try_out(
        self, tool: Tool, code: str, arguments: Mapping[str, Any], files: Sequence[File]
    ) -> Execution:
        """Call code of the tool without events or effects; hosts answer as recorded. Raises:
        SandboxError.
        """
        modules = await self._sources.of(tool.requires)
        return await self._sandbox.execute(tool.job(code, library=modules), arguments, files)

    async def _run_elsewhere(
        self, turn: Turn, tool: ServerTool, arguments: Mapping[str, Any]
    ) -> Execution:
        assert self._servers is not None, tool.name
        if not tool.read_only:
            turn.sent.append(tool.name)
        turn.emit(
            Executing(tool=tool.name, arguments=_arguments_text(arguments), server=tool.server)
        )

        def tell(done: float, total: float | None, words: str) -> None:
            text = one_line(words[:_PROGRESS])
            turn.emit(ExecutionProgress(tool=tool.name, done=done, total=total, text=text))

        return await self._servers.call(tool, arguments, tell)

    async def named_files(self, turn: Turn, call: Call) -> tuple[File, ...]:
        """The files of the person that the call names."""
        argument_texts = set(texts_in(call.arguments))
        return tuple(
            file
            for file in await turn.request.files_of(call.arguments)
            if file.name in argument_texts
        )

    async def _report(self, turn: Turn, tool: Tool, digest: str, execution: Execution) -> None:
        """Update the library's trust in the tool by the outcome of the call of that digest."""
        change = None
        with suppress(ToolNotFound):  # it was removed meanwhile
            if isinstance(execution, Returned):
                change = await self._library.record_use(tool.name, tool.version, digest)
            elif problem := own_failure(execution):
                change = await self._library.record_failure(tool.name, tool.version, problem)
        if change:
            turn.emit(change)


def _tell(turn: Turn, tool: str, started: float, line: str, place: int) -> None:
    """Emit the line that a call printed last, its place among those that wait, or its beginning."""
    seconds = round(time.monotonic() - started) if line or place else 0
    turn.emit(ExecutionProgress(tool=tool, done=seconds, text=line, place=place))


def _compare(turn: Turn, tool: str, execution: Returned, check: Execution | None) -> None:
    """Emit what the witnesses' values, `check`, say of the result."""
    if comparison := witnessed(tool, execution, check):
        turn.emit(comparison)


def _disputed_again(request: Request, call: Call) -> Disputed | None:
    """The call as a dispute, if it would only give the last result again although the person says
    something else now.
    """
    last = request.earlier_results.values[-1]
    if request.files or call.further or not isinstance(call.tool, Tool):
        return None
    same_call = (last.tool, last.arguments) == (call.tool.name, _arguments_text(call.arguments))
    if not same_call or request.text.split() == last.request.split():
        return None
    return Disputed(dispute=request.dispute(last))


def _call(
    request: Request,
    tool: Tool | ServerTool,
    arguments: Mapping[str, Any],
    results: Sequence[StepResult],
) -> Call:
    """The profiles of the files that the arguments name supply how those are written. Raises:
    ArgumentsInvalid.
    """
    values = resolved(arguments, results)
    if isinstance(tool, ServerTool):
        return Call(tool=tool, arguments=bind_schema(tool, values))
    if request.profiles and (profiles := _profiles_of(request, values)):
        values = with_forms(tool.signature, values, profiles)
    return Call(tool=tool, arguments=bind(tool.signature, values))


def _profiles_of(request: Request, arguments: Mapping[str, Any]) -> list[str]:
    """The profiles of the files that the arguments name."""
    argument_texts = set(texts_in(arguments))
    files = [*(file.reference() for file in request.files), *request.earlier.references]
    return [request.profiles.get(f.sha256, "{}") for f in files if f.name in argument_texts]


async def _results(turn: Turn, arguments: Any) -> tuple[StepResult, ...]:
    """The results that the arguments may refer to; earlier values are read only if they do."""
    argument_texts, earlier = set(texts_in(arguments)), turn.request.earlier_results
    read = [(r, await earlier.read(r)) for r in earlier.references if r.id in argument_texts]
    values = (
        StepResult(id=r.id, request=r.request, tool=r.tool, text="", data=value.content)
        for r, value in read
    )
    return (*values, *turn.request.results)


def _arguments_text(arguments: Mapping[str, Any]) -> str:
    """The arguments as JSON text; values that come of references may be very long, and are
    shortened to text.
    """
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in arguments.items()}
    long = {name: shortened(text, _SHOWN) for name, text in texts.items() if len(text) > _LONGEST}
    return json.dumps({**arguments, **long}, ensure_ascii=False)


def _literal_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are values, and no references to results."""
    return {
        name: value
        for name, value in arguments.items()
        if value is not None and not (isinstance(value, dict) and REFERENCE in value)
    }


def _copied(request: Request, arguments: Mapping[str, Any]) -> bool:
    """Whether the arguments are plain JSON, and their long texts stand in what the person said:
    another one was shortened or made up.
    """
    try:
        json.dumps(arguments)
    except TypeError:
        return False
    sources = [*(message.content for message in request.history), request.text]
    sources += [answer.value for answer in request.answers] + [r.text for r in request.results]
    return all(
        len(text) <= _SHORT or any(text in source for source in sources)
        for text in texts_in(arguments)
    )


async def _prompt_context(turn: Turn) -> dict[str, str]:
    """The values that every prompt here shows of a turn."""
    return shown(turn.request, await turn.lessons("execute", turn.request.text), EVIDENCE)
