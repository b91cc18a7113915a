"""Test doubles of the engine's protocols: scripted, deterministic, and failing loudly when the
script is at its end.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from selfeng.core.errors import (
    NetworkRefused,
    ToolExists,
    ToolNameInvalid,
    ToolNotFound,
    VersionConflict,
    VersionNotFound,
)
from selfeng.core.events import Event, ToolStandingChanged, TurnFailed, TurnFinished
from selfeng.core.files import File
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, Network, NetworkAccess
from selfeng.core.owner import current_owner
from selfeng.core.pictures import Sight
from selfeng.core.prompt import ChatMessage, FunctionCall, FunctionSchema, Prompt
from selfeng.core.provenance import Provenance, ToolVersion
from selfeng.core.result import canonical, reference_to
from selfeng.core.signature import parse_signature
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import Candidate, Tool, ToolDraft
from selfeng.core.turn import Asking, Budget, Request
from selfeng.core.verdict import (
    Execution,
    Returned,
    SandboxJob,
    SandboxStatus,
    TestResult,
    Verdict,
    Version,
)
from selfeng.orchestrator import Orchestrator
from selfeng.synthesis.probe import ENTRY
from selfeng.synthesis.stubs import NOT_WRITTEN

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class ScriptedModel:
    """A `ModelClient` that gives the scripted replies in their order; an exception in the script is
    raised.
    """

    def __init__(self, *replies: str | BaseModel | FunctionCall | Exception) -> None:
        self._replies = list(replies)
        self.prompts: list[Prompt] = []
        self.eyes = Sight(model="scripted", problem="a script has no eyes")

    def extend(self, *replies: str | BaseModel | FunctionCall | Exception) -> None:
        """Go on with these replies."""
        self._replies += replies

    async def stream(self, prompt: Prompt, budget: Budget) -> AsyncIterator[str]:
        reply = self._next(prompt, budget)
        assert isinstance(reply, str), f"{prompt.name} asked for text, the script holds {reply!r}"
        for piece in reply.splitlines(keepends=True) or [""]:
            yield piece

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        value = self._next(prompt, budget)
        assert isinstance(value, reply), (
            f"{prompt.name} asked for {reply.__name__}, the script holds {value!r}"
        )
        return value

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        call = self._next(prompt, budget)
        assert isinstance(call, FunctionCall), (
            f"{prompt.name} asked for a call, the script holds {call!r}"
        )
        assert call.name in [f.name for f in functions]
        return call

    async def sight(self, budget: Budget) -> Sight:
        return self.eyes

    def asked(self) -> list[str]:
        """Names of the prompts so far."""
        return [p.name for p in self.prompts]

    def _next(self, prompt: Prompt, budget: Budget) -> str | BaseModel | FunctionCall:
        budget.check()
        budget.charge(10, 5, None)
        self.prompts.append(prompt)
        assert self._replies, f"the script has no reply left for {prompt.name}"
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


class ScriptedNetwork:
    """Answers GET requests within the accesses with the bodies of its pages, JSON by URL; it notes
    what it was asked.
    """

    def __init__(self, pages: Mapping[str, object] | None = None) -> None:
        self.pages = dict(pages or {})
        self.sent: list[str] = []

    def network(
        self, accesses: Sequence[NetworkAccess], on_exchange: Callable[[Exchange], None]
    ) -> Network:
        return _ScriptedAnswers(self, accesses, on_exchange)


class _ScriptedAnswers(NamedTuple):
    pages: ScriptedNetwork
    accesses: Sequence[NetworkAccess]
    on_exchange: Callable[[Exchange], None]
    repeatable: bool = True

    async def send(self, request: HttpRequest) -> HttpResponse:
        if not any(access.covers(request) for access in self.accesses):
            raise NetworkRefused(f"no consent for {request.method} {request.url}")
        self.pages.sent.append(request.url)
        exchange = recorded(request.url, self.pages.pages.get(request.url))
        self.on_exchange(exchange)
        return exchange.response


def recorded(url: str, body: object) -> Exchange:
    """A GET of JSON; without a body it is not found."""
    response = HttpResponse(
        status=404 if body is None else 200,
        headers=(("content-type", "application/json"),),
        body=b64encode(json.dumps(body).encode()).decode(),
        url=url,
    )
    at = datetime(2026, 11, 1, tzinfo=UTC)
    return Exchange(request=HttpRequest(method="GET", url=url), response=response, at=at)


class ScriptedSandbox:
    """A `Sandbox` that gives the scripted verdicts and executions in their order and notes what it
    was asked to run.

    Of versions only a suite's first run, on the stub that raises, is part of the script: `again`
    says how the others do; without it stubs fail and everything else passes. Nor are probes part of
    it, whose calls all raise.
    """

    def __init__(
        self,
        *outcomes: Verdict | Execution | Exception,
        again: Callable[[Version], Verdict] | None = None,
    ) -> None:
        self._outcomes, self._again = list(outcomes), again or steady
        self.verified: list[tuple[str, str, str]] = []
        self.repeated: list[Version] = []
        self.executed: list[tuple[str, Mapping[str, Any]]] = []
        self.files: list[tuple[File, ...]] = []
        self.owners: list[str] = []
        """The owner of each execution."""
        self.libraries: list[Mapping[str, str]] = []
        """The modules beside the code, job by job."""
        self.jobs: list[SandboxJob] = []
        """Those that were executed."""
        self.sends: list[HttpRequest] = []
        """The requests that every execution with a network sends."""

    async def status(self) -> SandboxStatus:
        return SandboxStatus(available=True, backend="scripted", detail="a test double")

    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        self.verified.append((job.name, job.code, job.tests))
        self.libraries.append(job.library)
        verdict = self._next()
        assert isinstance(verdict, Verdict), f"the script holds {verdict!r}"
        for test in verdict.tests:
            on_test(test)
        return verdict

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        self.libraries.append(job.library)
        if versions and NOT_WRITTEN in versions[0].code and versions[0].order == "given":
            first = await self.verify(
                replace(job, code=versions[0].code, library={}), lambda _: None
            )
            return first, *(await self.verify_versions(replace(job, library={}), versions[1:]))
        self.repeated += versions
        return tuple(self._again(version) for version in versions)

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        network: Network | None = None,
    ) -> Execution:
        if job.name == ENTRY:
            return Returned(
                type_name="list",
                text="",
                data=json.dumps([["raised", "NotScripted", 0] for _ in arguments["calls"]]),
            )
        self.executed.append((job.name, arguments))
        self.jobs.append(job)
        for request in self.sends if network else ():
            with suppress(NetworkRefused):
                await network.send(request)
        self.owners.append(current_owner())
        self.libraries.append(job.library)
        self.files.append(tuple(files))
        execution = self._next()
        assert not isinstance(execution, Verdict), f"the script holds {execution!r}"
        return execution

    def _next(self) -> Verdict | Execution:
        assert self._outcomes, "the script of the sandbox is at its end"
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class ListedLibrary:
    """A `ToolLibrary` in memory; a search offers all tools in their order, with the confidence
    given.

    `judgement` is what a use or a failure makes of a tool's standing.
    """

    def __init__(
        self, *tools: Tool, confidence: float = 0.8, judgement: ToolStandingChanged | None = None
    ) -> None:
        self._tools = {t.name: t for t in tools}
        self._confidence, self._judgement = confidence, judgement
        self._versions = {(t.name, t.version): _version(t, Provenance()) for t in tools}
        self.uses: list[str] = []
        self.calls: list[str] = []
        """Digests of the calls that succeeded."""
        self.failures: list[str] = []
        self.changes: list[str] = []
        self.requests: list[tuple[str, int, str]] = []
        """Tool, version and request of each reuse, and of what a new tool is found by."""
        self.forgotten: list[tuple[str, str]] = []

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(tool=t, similarity=0.6, confidence=self._confidence)
            for t in list(self._tools.values())[:limit]
        )

    async def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    async def get(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolNotFound(f"there is no tool {name!r}")
        return self._tools[name]

    async def check_name(self, name: str) -> None:
        if name in self._tools:
            raise ToolExists(f"a tool {name!r} is registered already")
        if not name.isidentifier():
            raise ToolNameInvalid(f"{name!r} can't be the name of a tool")

    async def check(self, draft: ToolDraft) -> None:
        await self.check_name(draft.name)

    async def add(
        self,
        draft: ToolDraft,
        provenance: Provenance | None = None,
        requests: Sequence[str] = (),
    ) -> Tool:
        await self.check(draft)
        self.requests += [(draft.name, 1, request) for request in requests]
        return self._keep(registered(draft), provenance or Provenance())

    async def prepare(self, draft: ToolDraft, requests: Sequence[str] = ()) -> None:
        pass

    async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        newest = (await self.get(draft.name)).version
        if newest != based_on:
            raise VersionConflict(
                f"version {based_on} of {draft.name} is not the newest any more, version {newest} "
                "is"
            )
        return self._keep(registered(draft).model_copy(update={"version": newest + 1}), provenance)

    async def version(self, name: str, number: int) -> ToolVersion:
        if (name, number) not in self._versions:
            raise VersionNotFound(f"{name} has no version {number}")
        return self._versions[name, number]

    def replace(self, tool: Tool) -> None:
        """Have another version of a tool."""
        self._keep(tool, Provenance())

    async def remove(self, name: str) -> None:
        del self._tools[name]

    async def forget_person(self, owner: str, requests: Mapping[str, object]) -> None:
        """It knows nobody."""

    async def record_use(
        self, name: str, version: int, call: str, key: str = ""
    ) -> ToolStandingChanged | None:
        self.uses.append(name)
        self.calls.append(call)
        return self._judgement

    async def record_failure(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        self.failures.append(f"{name} {version}: {problem}")
        return self._judgement

    async def record_change(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        self.changes.append(f"{name} {version}: {problem}")
        return self._judgement

    async def forget_request(self, name: str, request: str) -> bool:
        self.forgotten.append((name, request))
        return True

    async def record_request(self, name: str, version: int, request: str) -> None:
        self.requests.append((name, version, request))

    def _keep(self, tool: Tool, provenance: Provenance) -> Tool:
        self._tools[tool.name] = tool
        self._versions[tool.name, tool.version] = _version(tool, provenance)
        return tool


async def handled(
    orchestrator: Orchestrator,
    request: str,
    emit: Callable[[Event], None],
    history: Sequence[ChatMessage] = (),
    files: Sequence[File] = (),
    *,
    agent: str = "",
    conversation_id: str = "",
) -> TurnFinished | TurnFailed:
    """Run one turn and pass on its events; also returns the last one. Cancelling this stops the
    turn.
    """
    kind = Asking(agent=agent)
    turn_request = Request(
        request, tuple(history), tuple(files), conversation_id=conversation_id, kind=kind
    )
    running = orchestrator.begin(turn_request)
    events = aiter(running)
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


def _version(tool: Tool, provenance: Provenance) -> ToolVersion:
    known = {"version": tool.version, "digest": tool.digest, "created_at": tool.created_at}
    return ToolVersion(**dict(tool.draft()), **known, provenance=provenance)


def registered(draft: ToolDraft) -> Tool:
    return Tool(**dict(draft.draft()), created_at=datetime(2026, 1, 1, tzinfo=UTC), digest="0" * 64)


def tool(
    name: str = "add_numbers",
    code: str = "def add_numbers(a: int, b: int = 1) -> int:\n    return a + b\n",
) -> Tool:
    """A tool as the library gives it."""
    draft = ToolDraft(
        name=name,
        description="Add numbers.",
        signature=parse_signature(code, name),
        code=code,
        tests="",
    )
    return registered(draft)


def specification(name: str = "double_number") -> Specification:
    """A specification that a model might write for `double 4`."""
    return Specification(
        name=name,
        description="Double a number.",
        parameters=(
            SpecParameter(name="number", annotation="int", default=None, description="the number"),
        ),
        returns="int",
        returns_description="twice the number",
        errors="none",
        user_examples=(),
        examples=(SpecExample(call=f"{name}(number=4)", result="8"),),
        example_requests=("double 4", "twice 7"),
    )


def specified(name: str = "double_number") -> SpecificationReply:
    return SpecificationReply(outcome="tool", message="", specification=specification(name))


TESTS = (
    "from double_number import double_number\n\n\ndef test_doubles_a_number():\n    assert "
    "double_number(number=4) == 8\n"
)
CODE = "def double_number(number: int) -> int:\n    return 2 * number\n"


def fenced(code: str) -> str:
    return f"Here it is:\n\n```python\n{code}```\nDone."


def passing(*names: str) -> Verdict:
    return Verdict(
        passed=True,
        tests=tuple(
            TestResult(test=n, outcome="passed", seconds=0.01)
            for n in names or ("test_doubles_a_number",)
        ),
    )


def failing(*names: str, message: str = "assert 4 == 8") -> Verdict:
    tests = (
        TestResult(test=n, outcome="failed", seconds=0.01, message=message)
        for n in names or ("test_doubles_a_number",)
    )
    return Verdict(passed=False, tests=tuple(tests))


def steady(version: Version) -> Verdict:
    """How a version does where nothing is flaky: stubs, mutants and tools under another name fail,
    everything else passes.
    """
    return failing() if is_stub(version.code) or not version.whole else passing()


def gate(sandbox: ScriptedSandbox) -> Callable[[Tool, Mapping[str, str]], Awaitable[Verdict]]:
    """The verdicts of the sandbox's script, as if they were those of the whole gate on tools with
    other modules to import.
    """

    async def judge(tool: Tool, library: Mapping[str, str]) -> Verdict:
        return await sandbox.verify(
            SandboxJob(tool.name, tool.code, tool.tests, library=library), lambda _: None
        )

    return judge


def is_stub(code: str) -> bool:
    agreeing = (
        "    return float('nan')\n",
        "    return [[]]\n",
        "    return Agreeing()\n",
        "    raise StopIteration\n",
    )
    plain = (
        "    return None\n",
        "    return 0\n",
        "    return number\n",
        "    return (a, b)\n",
        "% 9973\n",
    )
    return "NotWritten" in code or code.endswith((*agreeing, *plain))


def returned(text: str = "8", type_name: str = "int") -> Returned:
    with suppress(ValueError):
        return Returned(type_name=type_name, text=text, data=canonical(json.loads(text)))
    return Returned(type_name=type_name, text=text, data=json.dumps(text))


def kept(data: str) -> Returned:
    """A value that is kept, given as JSON text, as the sandbox reports it."""
    value = json.loads(data)
    content = canonical(value)
    return Returned(
        type_name=type(value).__name__,
        text=value if isinstance(value, str) else repr(value)[:20_000],
        data=content,
        value=reference_to(value, content),
    )


def plain_events(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as dicts without what varies between runs: times."""
    return [
        {k: v for k, v in e.model_dump(exclude_defaults=True).items() if k != "seconds"}
        | {"type": e.type}
        for e in events
    ]
