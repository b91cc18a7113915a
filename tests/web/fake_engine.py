"""An engine without a model: the request says what the turn does; journal and recorder are the real
ones.

`say TEXT` answers word by word, `recite TEXT` at once; `say back` also hands out the files that
came with it, and `return JSON` tells of that value, `return rows N` of a table. `hold NAME` says one word, waits until
somebody sends `release NAME`, then says another. `plan NAME` takes two steps, of which the second
waits for `release NAME`; keeping it says `kept`. `build NAME` passes through the stages of a
synthesis and waits for `release NAME` in `execute`. `delegate NAME` has an agent run code until
somebody sends `release NAME`. `born NAME` adds that tool to the library. `question` asks two, whose answers are said. `draw` makes a picture and a table. `flood N` emits N
pieces, `essay N` of Markdown. `fail` and `crash` end badly, within a turn and before one, and `lack` for consent to what a tool needs. `grow NAME` reports a new tool,
`stock N` adds as many to the library, and `connect` three that need consent.
`break` makes the journal fail twice, `hang` makes the engine refuse to end, `sandbox off` changes
the status. `prepare NAME` has a sandbox set up, and waits for it, until somebody sends `release
NAME`; the search can't be set up meanwhile. `queue NAME` waits in the queue until somebody sends
`release NAME`, and `too many` finds it full.
"""

import asyncio
import json
import os
import re
import struct
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle, islice, starmap
from typing import Any

from selfeng.capability_registry import LibraryChange
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.composition import FreeTools
from selfeng.core.consent_question import not_granted, schedule_consent
from selfeng.core.errors import (
    AgentError,
    DatabaseUnavailable,
    LimitReached,
    RequestError,
    ResourceNotFound,
    SandboxUnavailable,
    SynthesisFailed,
    ToolNotFound,
    VersionConflict,
    VersionNotFound,
)
from selfeng.core.events import (
    AnswerToken,
    CodeRun,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    FilesMade,
    Outcome,
    PlanMade,
    PlanStepChanged,
    QuestionsAsked,
    Record,
    Searching,
    StageEntered,
    SynthesisStep,
    TestFinished,
    ToolFound,
    ToolProposed,
    TurnFailed,
    TurnFinished,
    TurnQueued,
    TurnStarted,
    TurnStopped,
    Usage,
    Witnessed,
)
from selfeng.core.files import File
from selfeng.core.http import NetworkAccess
from selfeng.core.lesson import Lesson
from selfeng.core.package_lock import PackageLock
from selfeng.core.plan import PlannedStep
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.provenance import (
    AskedPrompt,
    Behaviour,
    ChangedCall,
    Corrected,
    Proposal,
    Provenance,
    Repaired,
    ToolVersion,
)
from selfeng.core.question import Answer, Question, completed, questions_text
from selfeng.core.result import RecomputedAnswers, TaughtRow, ToolEdit
from selfeng.core.schedule import SCHEDULE, Schedule, SchedulePlan
from selfeng.core.settings import Settings
from selfeng.core.signature import Parameter, Signature
from selfeng.core.stage import StageName
from selfeng.core.status import Asked, EngineLoad, EngineStatus, LibraryStatus
from selfeng.core.tool import Candidate, Imported, Tool, ToolDraft
from selfeng.core.turn import Budget, HandCall, Request, awaited
from selfeng.core.verdict import (
    CallLimits,
    Execution,
    Raised,
    Returned,
    SandboxStatus,
    TestResult,
    Verdict,
)
from selfeng.engine import Engine
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_export import ToolExport
from selfeng.library.exchange.tool_import import ImportFinding, ToolImport
from selfeng.library.tool_editor import Proposals, proposal_of
from selfeng.llm_client import LLMClient
from selfeng.projects import loop
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.service import ProjectService
from selfeng.provision.configuration import Configuration
from selfeng.provision.local_servers import local_servers
from selfeng.provision.setup import Readiness, Report
from selfeng.servers.broker import Broker
from selfeng.servers.deliveries import Deliveries
from selfeng.servers.mcp_servers import McpServers
from selfeng.servers.tool_network import GrantedNetwork
from selfeng.servers.vault import Vault
from selfeng.stages.execution.arguments import bind_by_hand
from selfeng.stages.execution.programs import Program, program_of
from selfeng.stages.library_health import (
    STALE_DAYS,
    FindingKind,
    HealthFinding,
    LibraryHealth,
    Remedy,
)
from selfeng.stages.scheduler import Scheduler
from selfeng.stages.watched_folders import WatchedFolders
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.conversation_list import ConversationChange, ConversationKind
from selfeng.store.database import open_database
from selfeng.store.grants import Grants
from selfeng.store.habits import FollowUp, Habits, PastCall, PastTurn
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.known_tools import KnownTools
from selfeng.store.recorder import Feed, Recorder
from selfeng.store.retention import PersonalData
from selfeng.store.schedules import Schedules
from selfeng.store.shares import Shares
from selfeng.store.spending import Spending
from selfeng.store.subscriptions import Subscription, Subscriptions
from selfeng.store.turn_queue import QueueLimits, TurnQueue
from selfeng.turns.conversations import Conversations
from selfeng.turns.turn_registry import TurnRegistry
from tests.doubles import ListedLibrary, ScriptedNetwork, kept, passing, recorded
from tests.projects.still_sandbox import StillSandbox, locked
from tests.servers.mcp_examples import all_fit

HABITS = Habits(
    after=(FollowUp(tool="double", request="Double that", times=2),),
    together=("double",),
    last=(PastTurn(conversation_id="c1", request="Add 1 and 2"),),
    calls=(PastCall(at=datetime(2026, 1, 3, 4, 5, 6, tzinfo=UTC), returned=True),),
)
TOOL = Tool(
    name="add",
    description="Adds two numbers.",
    signature=Signature(
        function="add",
        parameters=(
            Parameter(name="a", annotation="int"),
            Parameter(name="b", annotation="int", default="1"),
        ),
        returns="int",
    ),
    code="import numpy.linalg as la\nfrom math import pi\n\n\ndef add(a: int, b: int = 1) -> int:\n    return a + b\n",
    tests="from add import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    example_requests=("What is 1 plus 2?",),
    model="offline",
    created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    digest="0" * 64,
    uses=3,
    version=2,
)
SERVED = ("3 and 4 together", "sum of 1 and 1")
_KNOWN = {"digest": TOOL.digest, "created_at": TOOL.created_at}
VERSIONS = (
    ToolVersion(
        **dict(TOOL.draft()),
        **_KNOWN,
        version=2,
        provenance=Provenance(
            origin=Repaired(failure="it raised KeyError"),
            verdict=Verdict(
                passed=True, tests=(TestResult(test="test_add", outcome="passed", seconds=0.01),)
            ),
            prompts=(AskedPrompt(name="repair", digest="1" * 64, text="what a person said"),),
            usage=Usage(calls=3, input_tokens=20, output_tokens=10, cost=0.02),
        ),
    ),
    ToolVersion(
        **{**dict(TOOL.draft()), "code": "def add(a, b): ...\n"},
        **_KNOWN,
        version=1,
        provenance=Provenance(),
    ),
)


LESSON = Lesson(
    id="l1",
    agent="test",
    trigger="tests compare floats",
    advice="Use pytest.approx.",
    evidence=("t1", "t2"),
    uses=2,
    helped=1,
    failed=1,
    weight=0.5,
    created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    updated_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)


WAY: tuple[tuple[str, StageName], ...] = (
    ("new", "search"),
    ("nothing fits", "specify"),
    ("ordered", "test"),
    ("written", "implement"),
    ("alike", "verify"),
    ("failed", "repair"),
    ("repaired", "verify"),
    ("passed", "register"),
    ("registered", "prepare"),
    ("fits", "execute"),
)
"""The stages of a turn that builds a tool, after the first."""


QUESTIONS = (
    Question(
        id="unit",
        question="Which unit?",
        why="The result is in it.",
        answer="choice",
        options=("metre", "foot"),
        default="metre",
    ),
    Question(id="digits", question="How many digits?", answer="number"),
)

WEEKLY = SchedulePlan(tool="add", version=1, arguments={"a": 2}, cron="0 8 * * mon")


ESSAY = """

## A moving average

It is the mean of the *last* few values, such as `mean(values[-7:])`, and **smooths** a series:

- each value counts the same
- the window has a length
  1. a long one smooths more
  2. a short one follows sooner

```python
def moving_average(values: list[float], window: int) -> list[float]:
    return [sum(values[i : i + window]) / window for i in range(len(values) - window + 1)]
```

| window | smooth | late |
|--------|--------|------|
| 3      | little | 1    |
| 30     | much   | 15   |

> See [the article](https://example.org/moving-average) for its weights.
"""


class OneFile:
    """A model that asks for humanize if it may, writes main.py, and is done; where the goal says
    `wait` it never replies.
    """

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        goal = str(prompt.messages[-1].content)
        budget.charge(10, 5, None)
        if "wait" in goal:
            await asyncio.Event().wait()
        names = {function.name for function in functions}
        if "add_package" in names and "add_package" not in goal:
            return FunctionCall(name="add_package", arguments={"package": "humanize"})
        if "finish" in names:
            return FunctionCall(name="finish", arguments={"summary": "It is built."})
        return FunctionCall(
            name="create_file",
            arguments={"name": "main.py", "body": "print(42)\n", "reasoning": "It is not there."},
        )


def stocked(number: int) -> Tool:
    """One of many tools that differ in name, use, age, parameters and standing."""
    verb = ("count", "sort", "convert", "summarize", "extract", "plot")[number % 6]
    thing = ("words", "invoices", "csv_columns", "lengths", "addresses")[number % 5]
    name = f"{verb}_{thing}_{number:04}"
    kind = ("str", "float", "list[str]")[number % 3]
    parameter = Parameter(name="input_file" if number % 4 == 0 else "value", annotation=kind)
    signature = Signature(function=name, parameters=(parameter,), returns=kind)
    told = f"{verb.capitalize()} the {thing.replace('_', ' ')} of what it is given."
    about = f" Empty ones are left out, and so is what cannot be read; group {number % 7}."
    return TOOL.model_copy(
        update={
            "name": name,
            "description": told + (about if number % 2 else ""),
            "signature": signature,
            "code": f"import csv\n\n\ndef {signature}:\n    return value\n",
            "model": "offline" if number % 3 else "",
            "uses": number % 17,
            "created_at": TOOL.created_at + timedelta(days=number % 90),
            "standing": "retired"
            if number % 50 == 49
            else "trusted"
            if number % 4
            else "provisional",
        }
    )


class FewTools:
    """The library: one tool with two versions, and as many others as it is stocked with."""

    def __init__(self) -> None:
        self._tools = {TOOL.name: TOOL}

    def stock(self, count: int) -> None:
        self._tools |= {tool.name: tool for tool in map(stocked, range(count))}

    def connect(self) -> None:
        """A tool that needs two hosts, and those that its calls name, one that needs a package, and
        one that needs more than the usual limits.
        """
        hosts = ("api.example.org", "other.example.org", "{url}")
        accesses = tuple(NetworkAccess(host=host, purpose="It knows.") for host in hosts)
        exchanges = (recorded("https://api.example.org/", {"rate": 1.5}),)
        update = {"name": "rate_of", "network": accesses, "exchanges": exchanges}
        self._tools["rate_of"] = TOOL.model_copy(update=update)
        text = "humanize==4.9.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"
        lock = PackageLock(requirements=("humanize>=4",), text=text)
        self._tools["ordinal_of"] = TOOL.model_copy(update={"name": "ordinal_of", "lock": lock})
        limits = CallLimits(seconds=600, memory=2048)
        self._tools["long_job"] = TOOL.model_copy(update={"name": "long_job", "limits": limits})

    def add(self, name: str) -> None:
        """A tool that takes a text, unless there is one of that name."""
        signature = Signature(
            function=name, parameters=(Parameter(name="text", annotation="str"),), returns="str"
        )
        new = TOOL.model_copy(update={"name": name, "signature": signature})
        self._tools.setdefault(name, new)

    async def matches(self, text: str, limit: int) -> tuple[Candidate, ...]:
        return (Candidate(tool=TOOL, similarity=0.9, confidence=0.9),) * ("plus" in text)

    async def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    async def get(self, name: str) -> Tool:
        if name == "crash":
            raise ZeroDivisionError("the engine has a bug")
        if name == "away":
            raise DatabaseUnavailable("the database does not answer", "ask again")
        if name not in self._tools:
            raise ToolNotFound(f"there is no tool {name!r}", "look at the list of tools")
        return self._tools[name]

    async def versions(self, name: str) -> tuple[ToolVersion, ...]:
        await self.get(name)
        return VERSIONS

    async def version(self, name: str, number: int) -> ToolVersion:
        found = next((v for v in VERSIONS if (v.name, v.version) == (name, number)), None)
        if found is None:
            raise VersionNotFound(f"{name} has no version {number}", "look at the list of versions")
        return found

    async def rollback(self, name: str, to: int) -> Tool:
        await self.version(name, to)
        if to == TOOL.version:
            raise VersionConflict(f"version {to} of {name} is already in use", "choose another")
        return TOOL.model_copy(update={"version": 3})

    async def retire(self, name: str, merged_into: str = "") -> Tool:
        tool = await self.get(name)
        retired = tool.model_copy(update={"standing": "retired", "merged_into": merged_into})
        if name != TOOL.name:
            self._tools[name] = retired
        return retired

    async def restore(self, name: str) -> Tool:
        update = {"standing": "provisional", "merged_into": ""} if name != TOOL.name else {}
        self._tools[name] = (await self.get(name)).model_copy(update=update)
        return self._tools[name]

    async def freeze(self, name: str, frozen: bool = True) -> Tool:
        return (await self.get(name)).model_copy(update={"frozen": frozen})


class FakeHealth:
    """Of `add` everything is known, and of other tools that they are never used."""

    def __init__(self, library: FewTools) -> None:
        self._library = library

    async def report(self, owner: str, days: int = STALE_DAYS) -> LibraryHealth:
        offered = [tool for tool in await self._library.tools() if tool.standing != "retired"]
        extra = [tool.name for tool in offered if tool.name != TOOL.name]
        rows: list[tuple[FindingKind, str, Remedy, dict[str, float]]] = [
            *(("twins", name, "merge", {"inputs": 24, "recorded": 9}) for name in extra[:1]),
            ("weak", TOOL.name, "strengthen", {"noticed": 3, "tried": 8}),
            ("slow", TOOL.name, "refactor", {"seconds": 4.2, "usual": 0.06, "calls": 12}),
            *(("never_used", n, "retire", {"days": days, "version_days": days}) for n in extra),
        ]
        findings = [
            HealthFinding(
                kind=kind,
                tools=(TOOL.name, name) if kind == "twins" else (name,),
                proposal=proposal,
                evidence=evidence,
            )
            for kind, name, proposal, evidence in rows
        ]
        count = len(offered)
        return LibraryHealth(tools=count, compared=count, unmeasured=0, findings=tuple(findings))


class OneLesson:
    """The lessons: one, which can be edited and removed."""

    def __init__(self) -> None:
        self._lessons = {LESSON.id: LESSON}
        self.changed = Changes[[]]()

    async def lessons(self) -> tuple[Lesson, ...]:
        return tuple(self._lessons.values())

    async def edit(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        edited = self._lesson(lesson_id).model_copy(update={"trigger": trigger, "advice": advice})
        self._lessons[lesson_id] = edited
        self.changed.tell()
        return edited

    async def remove(self, lesson_id: str) -> None:
        del self._lessons[self._lesson(lesson_id).id]
        self.changed.tell()

    def _lesson(self, lesson_id: str) -> Lesson:
        if lesson_id not in self._lessons:
            raise ResourceNotFound(
                f"there is no lesson {lesson_id!r}", "look at the list of lessons"
            )
        return self._lessons[lesson_id]


DRAWN = {
    "chart.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 2, 2),
    "data.csv": b"day,price\n1,2\n",
}


def _file(name: str, content: bytes) -> File:
    return File(name=name, content=content)


def _value(request: str) -> str:
    """The value of a request `return …`, as JSON."""
    told = request.removeprefix("return ")
    if not told.startswith("rows "):
        return told
    rows = range(1, int(told.removeprefix("rows ")) + 1)
    return json.dumps(
        [
            {
                "month": n,
                "paid": round(1013.37 / (n % 7 + 1), 4),
                "to": f"=bank {n % 5}",
                "open": n / 3,
            }
            for n in rows
        ]
    )


def _client(settings: Settings, news: Callable[[], None]) -> LLMClient:
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    return LLMClient(
        model="offline" if settings.offline else settings.openai_model,
        api_key=key,
        base_url=settings.openai_base_url,
        max_retries=0,
        news=news,
    )


async def _examine(
    draft: ToolDraft, beside: Sequence[Tool] = (), *, alone: bool = False
) -> Verdict:
    """The gate, which tells by the name what it comes to."""
    if draft.name.startswith("wrong"):
        raise SynthesisFailed(f"{draft.name}: 1 of 2 tests failed", "ask its author")
    if draft.name.startswith("broken"):
        raise SandboxUnavailable("there is no sandbox", "start Docker")
    return passing("test_one", "test_two")


class FlushedConversations(Conversations):
    """The real ones begin a turn with its first record, and these record it later."""

    def __init__(
        self,
        journal: Journal,
        files: ConversationFiles,
        feed: Feed,
        turns: TurnRegistry,
        *,
        recorder: Recorder,
    ) -> None:
        super().__init__(journal, files, feed, turns)
        self._recorder = recorder

    async def records(self, owner: str, turn_id: str) -> tuple[Record, ...]:
        await self._recorder.flush()
        return await super().records(owner, turn_id)

    async def examples_of(
        self, owner: str, tools: Sequence[Tool | ToolVersion]
    ) -> tuple[tuple[str, ...], ...]:
        return tuple(tool.example_requests for tool in tools)

    async def habits(self, owner: str, name: str) -> Habits:
        if name == TOOL.name:
            return HABITS
        now = datetime.now(UTC)
        ago = (0, 1, 1, 2, 4, 4, 4, 5, 8, 9, 9, 11, 15, 15, 16, 18, 22, 25, 25, 26, 29)
        calls = [PastCall(at=now - timedelta(days=n), returned=n != 11) for n in ago]
        return HABITS.model_copy(update={"calls": tuple(calls)})

    async def last_uses(self, owner: str) -> dict[str, datetime]:
        return {TOOL.name: HABITS.calls[0].at}


class FakeUpdates:
    """Follows any https address; a look finds an update of `add` that fails a test."""

    def __init__(self, subscriptions: Subscriptions, proposals: Proposals) -> None:
        self._subscriptions, self._proposals = subscriptions, proposals

    async def list(self, owner: str) -> tuple[Subscription, ...]:
        return self._subscriptions.read(owner)

    async def follow(self, owner: str, place: str, name: str = "") -> Subscription:
        if "example.org" not in place:
            raise RequestError(f"{place!r} can't be followed", "name an index")
        new = Subscription(
            name=name or "tools",
            owner=owner,
            place=place,
            key="ssh-ed25519 AAAA",
            fingerprint="SHA256:m/Th9pNMUMFpwPNQuIW5RbO+oQzbg9zoEEARRevkwIs",
            created_at=datetime(2026, 11, 30, tzinfo=UTC),
        )
        self._subscriptions.put(new, new=True)
        return new

    async def leave(self, owner: str, name: str) -> None:
        for subscription in self._subscriptions.read(owner):
            self._subscriptions.remove(subscription)

    async def check(
        self, owner: str, name: str = "", *, installs: bool = False
    ) -> AsyncIterator[ImportFinding]:
        objection = "of your tests, test_sum fails (assert 4 == 3)"
        draft = TOOL.draft().model_copy(update={"code": TOOL.code.replace("a + b", "a + b + 1")})
        origin = Imported(file="tools, version 2", signer="SHA256:m/Th9pNM")
        proposal = proposal_of(draft, 1, Provenance(origin=origin))
        self._proposals.put(owner, proposal.model_copy(update={"objections": (objection,)}))
        yield ImportFinding(name="add", outcome="waits", detail=objection)
        refusal = "gone.zip can't be read; ask the publisher"
        yield ImportFinding(name="gone", outcome="refused", detail=refusal)


class FakeReview:
    """Proposals are real, and judged by their words."""

    def __init__(self, library: FewTools, proposals: Proposals) -> None:
        self._library, self._proposals = library, proposals

    async def difference(self, name: str, before: int, after: int) -> str:
        return f"-{(await self._library.version(name, before)).code}+{(await self._library.version(name, after)).code}"

    async def used_requests(self, owner: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return dict.fromkeys(names, SERVED)

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        if request not in SERVED:
            raise ResourceNotFound(f"{name} has learned no request {request!r} of yours")
        return tuple(one for one in SERVED if one != request)

    async def proposals(self, owner: str) -> tuple[Proposal, ...]:
        return self._proposals.of(owner)

    async def proposal(self, owner: str, name: str) -> Proposal:
        return self._proposals.get(owner, name)

    async def behaviour(self, owner: str, name: str) -> Behaviour:
        call = ChangedCall(call="add(a=2)", before="returns 3", after="returns 4")
        return Behaviour(compared=250, recorded=31, changed=1, calls=(call,))

    async def accept(self, owner: str, name: str, *, anyway: bool = False) -> Tool:
        proposal = self._proposals.get(owner, name)
        self._proposals.remove(owner, name)
        return TOOL.model_copy(update={"version": proposal.version})

    async def refuse(self, owner: str, name: str, refused: bool = True) -> Proposal:
        proposal = self._proposals.get(owner, name)
        proposal = proposal.model_copy(update={"refused": refused})
        self._proposals.put(owner, proposal)
        return proposal

    async def merge(self, owner: str, into: str, name: str) -> Tool:
        target, duplicate = await self._library.get(into), await self._library.get(name)
        if target.signature.parameters == duplicate.signature.parameters:
            raise RequestError(
                f"{name} can't be merged into {into}: they differ for another person's call",
                "keep both, or correct the one that is wrong",
            )
        await self._library.retire(name, into)
        return target.model_copy(update={"version": target.version + 1})

    async def unmerge(self, name: str) -> Tool:
        return await self._library.restore(name)

    async def verdict(
        self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False
    ) -> Verdict:
        """A row passes if its value is the sum, code if it is not `wrong`."""
        names = ["test_add", *(f"test_user_example_{n}" for n, _ in enumerate(edit.rows, 1))]
        sums = [row.value == 4 and row.arguments == {"a": 2, "b": 2} for row in edit.rows]
        right = ["wrong" not in edit.code, *sums]
        tests = tuple(
            TestResult(
                test=t,
                outcome="passed" if ok else "failed",
                seconds=0.01,
                message="" if ok else "assert",
            )
            for t, ok in zip(names, right, strict=True)
        )
        return Verdict(passed=all(right), tests=tests)

    async def save(self, owner: str, name: str, edit: ToolEdit, *, proposed: bool = False) -> Tool:
        return TOOL.model_copy(update={"version": 3})


class NothingEarlier:
    """Answers of ended turns: none is computed again."""

    def __init__(self, library: FewTools) -> None:
        self._library = library

    async def recompute(self, owner: str, name: str) -> RecomputedAnswers:
        version = (await self._library.get(name)).version
        return RecomputedAnswers(tool=name, version=version, computed=0, unknown=0, changed=())


class FakeSetup:
    """Everything is set up, but for what the script says."""

    def __init__(self, configuration: Configuration, readiness: Readiness) -> None:
        self._configuration, self._readiness = configuration, readiness
        self.sandbox = SandboxStatus(available=True, backend="docker", detail="Docker 28")

    async def status(self) -> EngineStatus:
        return EngineStatus(
            model=self._configuration.status,
            sandbox=self.sandbox,
            library=LibraryStatus(tools=1, search="ready", detail="ready"),
            files=self._configuration.settings.file_limits,
            unready=self._readiness.unready,
        )


class FakeEngine:
    """As much of `selfeng.engine.Engine` as the web server uses; to be made on its event loop."""

    def __init__(self, settings: Settings) -> None:
        folder, self.file_limits = settings.data_dir, settings.file_limits
        ports: Any = json.loads(os.environ.get("LOCAL_PORTS", "{}"))
        kinds = {int(port): kind for port, kind in ports.items()}
        look = partial(local_servers, kinds, 5)
        self.configuration = Configuration(settings, _client, look)
        self._database = open_database(settings.database)
        self._journal = Journal(self._database)
        self._journal.stop_abandoned_turns()
        self.spending = Spending(self._database)
        self.personal_data = PersonalData(self._database, self._journal, settings.large_files)
        files = ConversationFiles(self._database, settings.large_files)
        self.shares = Shares(self._database, self._journal, files)
        self.servers = McpServers(
            settings.mcp_config, KnownTools(self._database), all_fit, timeout=20
        )
        grants = Grants(self._database)
        self.network = GrantedNetwork(StillSandbox(), ScriptedNetwork(), grants)
        self.vault = Vault(self._database, folder)
        self.recorder = Recorder(self, pauses=(), retry=0.01)
        self.feed = Feed(self._journal, self.recorder)
        self._failures = 0
        self._running: dict[str, tuple[str, asyncio.Task[None]]] = {}
        self._released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.library, self.learning, self.changes = (
            FewTools(),
            OneLesson(),
            Changes[LibraryChange](),
        )
        self._proposals = Proposals(self._database)
        keys = SigningKeys(folder)
        self.review = FakeReview(self.library, self._proposals)
        self.earlier_answers = NothingEarlier(self.library)
        self.health = FakeHealth(self.library)
        self.tool_export = ToolExport(self.library, keys)
        self.tool_import = ToolImport(ListedLibrary(), keys, _examine)
        self.updates = FakeUpdates(Subscriptions(self._database), self._proposals)
        self.called = Changes[Event]()
        self._hangs = False
        self.readiness = Readiness()
        self.setup = FakeSetup(self.configuration, self.readiness)
        sandbox = StillSandbox()
        loop.lock_packages = locked  # type: ignore[attr-defined]
        listed = ListedLibrary(TOOL)
        tools = FreeTools(listed, PinnedSources(listed).of)
        builder = ProjectBuilder(OneFile(), sandbox, tools=tools)
        queue = TurnQueue(self._database, lambda: QueueLimits(8, 8, 8))
        self._turns = TurnRegistry(self.recorder, queue, lambda: 8, self._start)
        self.conversations = FlushedConversations(
            self._journal, files, self.feed, self._turns, recorder=self.recorder
        )
        self._works = set[asyncio.Task[None]]()
        self.schedules = Scheduler(
            Schedules(self._database),
            self.library,
            self._begin_scheduled,
            self._turns,
            journal=self._journal,
            files=files,
            deliveries=Deliveries(
                Broker(self.vault.value), grants, self.vault.value, folder / "scheduled"
            ),
            folders=WatchedFolders(lambda: [folder], self.file_limits, settings.large_files, 0.0),
            background=BackgroundTasks(),
            emit=self.recorder.emit,
        )
        self._scheduling = asyncio.create_task(self.schedules.run())
        self.projects = ProjectService(
            folder / "projects", lambda: builder, self._journal, self._turns, BackgroundTasks()
        )

    def append(self, entries: Sequence[JournalEntry]) -> list[Record]:
        """The journal's, for the recorder."""
        if self._failures:
            self._failures -= 1
            raise OSError("the disk is full")
        return self._journal.append(entries)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._works.add(task)
        task.add_done_callback(self._works.discard)

    async def ask(
        self,
        owner: str,
        conversation_id: str | None,
        request: str,
        files: Sequence[File] = (),
        *,
        answers: Sequence[Answer] = (),
        again: str = "",
        after: str | None = None,
        model: str = "",
        temporary: bool = False,
        timezone: str = "",
        turn_id: str = "",
    ) -> Asked:
        if known := self._journal.conversation_of(turn_id):
            return Asked(conversation_id=known, turn_id=turn_id)
        if problem := self.file_limits.problem(files):
            raise RequestError(problem)
        if request == "too many":
            raise LimitReached(
                "the queue is full, with 66 requests of yours waiting",
                "wait until one of them runs, or stop one",
            )
        if not request.strip() and not answers:
            raise RequestError("the request is blank", "write what you need")
        if request == "crash":
            raise ZeroDivisionError("the engine has a bug")
        if conversation_id is None:
            kind: ConversationKind = "temporary" if temporary else "chat"
            conversation_id = self._journal.create_conversation(owner, request[:80], kind)
        else:
            self._journal.conversation(owner, conversation_id)
        if model:
            change = ConversationChange(model=model)
            self._journal.change_conversation(owner, conversation_id, change)
        if again:
            (first, *_) = self._journal.turn(owner, again)
            assert isinstance(first.event, TurnStarted), first
            answers = first.event.answers
            after = self._journal.parent(again)
        elif answers and answers[0].id == SCHEDULE:
            answers = completed((schedule_consent(WEEKLY).question,), answers)
            place = (conversation_id, after)
            await self.schedules.answer(owner, WEEKLY, answers[0], place)
        elif answers:
            answers = completed(QUESTIONS, answers)
        if answers:
            request = f"say {' '.join(f'{answer.id}={answer.value}' for answer in answers)}"
        return self._begin(
            owner, conversation_id, request, files, answers=answers, turn_id=turn_id, after=after
        )

    turn = Engine.turn
    forward = Engine.forward

    async def delete_data(self, owner: str) -> None:
        await asyncio.to_thread(self.personal_data.delete, owner)

    async def call(
        self,
        owner: str,
        called: str | Program,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        *,
        watch: Callable[[Event], object] = lambda event: None,
    ) -> Execution:
        """Adds two numbers, and raises for a negative one; returns the files that come with it. A
        witness returns another value for 13. A program does what the tool does that it imports.
        """
        name = called if isinstance(called, str) else called.requires[0].name
        tool = await self.library.get(name)
        given = {"b": 1, **bind_by_hand(tool.signature, arguments)}
        if lacking := [n for n in await self.network.ungranted(tool) if n.name != "{url}"]:
            raise not_granted(name, lacking)
        if given["a"] < 0:
            raised = Raised(type_name="ValueError", message="a is negative")
            self.called.tell(ExecutionFailed(tool=name, execution=raised))
            return raised
        returned = kept(json.dumps(given["a"] + given["b"]))
        self.called.tell(ExecutionFinished(tool=name, execution=returned))
        if given["a"] == 13:
            watch(Witnessed(tool=name, agree=1, of=2, other="12"))
        return returned.model_copy(update={"files": tuple(files)})

    async def program(self, code: str) -> Program:
        return program_of(code, await self.library.tools())

    async def schedule(
        self, owner: str, plan: SchedulePlan, files: Sequence[File] = ()
    ) -> Schedule:
        return await self.schedules.add(owner, plan, files)

    async def _begin_scheduled(self, owner: str, request: Request, turn_id: str) -> Asked:
        """Fails for a negative number."""
        assert isinstance(request.kind, HandCall)
        arguments = request.kind.call.arguments
        value = arguments["a"] + arguments.get("b", 1)
        text = f"say {value}" if arguments["a"] >= 0 else "fail"
        return self._begin(owner, request.conversation_id, text, (), turn_id=turn_id)

    async def keep(self, owner: str, turn_id: str) -> Asked:
        records = self._journal.turn(owner, turn_id)
        return self._begin(owner, records[0].conversation_id, "say kept", (), turn_id)

    async def dispute(self, owner: str, turn_id: str, complaint: str, value: str) -> Asked:
        conversation_id = self._journal.turn(owner, turn_id)[0].conversation_id
        return self._begin(owner, conversation_id, f"say {complaint} {value}", ())

    async def refactor(self, owner: str, name: str) -> Asked:
        conversation_id = self._journal.create_conversation(owner, f"Make {name} faster")
        return self._begin(owner, conversation_id, f"say {name}", ())

    async def run(
        self,
        owner: str,
        conversation_id: str | None,
        name: str,
        arguments: Mapping[str, Any],
        files: Sequence[File],
        *,
        after: str | None = None,
        temporary: bool = False,
    ) -> Asked:
        await self.library.get(name)
        if conversation_id is None:
            kind: ConversationKind = "temporary" if temporary else "chat"
            conversation_id = self._journal.create_conversation(owner, f"Run {name}", kind)
        else:
            self._journal.conversation(owner, conversation_id)
        return self._begin(
            owner, conversation_id, f"return {json.dumps(arguments)}", files, after=after
        )

    def _begin(
        self,
        owner: str,
        conversation_id: str,
        request: str,
        files: Sequence[File],
        keeps: str = "",
        *,
        answers: Sequence[Answer] = (),
        turn_id: str = "",
        after: str | None = None,
    ) -> Asked:
        turn_id = self._journal.begin_turn(conversation_id, request, turn_id, after=after)
        emit = partial(self.recorder.emit, conversation_id, turn_id)
        task = asyncio.create_task(
            self._turn(owner, request, files, keeps, answers=answers, after=after, emit=emit)
        )
        self._running[turn_id] = owner, task
        task.add_done_callback(lambda _: self._running.pop(turn_id))
        return Asked(conversation_id=conversation_id, turn_id=turn_id)

    async def _turn(
        self,
        owner: str,
        request: str,
        files: Sequence[File],
        keeps: str,
        *,
        answers: Sequence[Answer],
        after: str | None,
        emit: Callable[[Event], None],
    ) -> None:
        said = list[str]()
        try:
            emit(
                TurnStarted(
                    request=request,
                    files=tuple(f.reference() for f in files),
                    contents=tuple(files),
                    keeps=keeps,
                    answers=tuple(answers),
                    after=after,
                )
            )
            if request.startswith("queue "):
                await self._queue(emit, request.removeprefix("queue "))
            if request.startswith("plan "):
                await self._plan(emit, request.removeprefix("plan "))
            if request.startswith("build "):
                await self._build(emit, request.removeprefix("build "))
            if request.startswith("born "):
                self._born(emit, request.removeprefix("born "))
            if request.startswith("delegate "):
                await self._delegate(emit, request.removeprefix("delegate "))
            if request.startswith("prepare "):
                await self._prepare(emit, request.removeprefix("prepare "))
            if request == "say proposed":
                self._propose(owner, emit)
            if request == "question":
                emit(QuestionsAsked(questions=QUESTIONS, intro="Two things first."))
            if request == "weekly":
                consent = schedule_consent(WEEKLY)
                coded = {"code": consent.code, "values": consent.values}
                emit(QuestionsAsked(questions=(consent.question,), schedule=WEEKLY, **coded))
            if request.startswith("say back"):
                back = tuple(File(name=f"back-{f.name}", content=f.content) for f in files)
                emit(
                    FilesMade(tool="echo", files=tuple(f.reference() for f in back), contents=back)
                )
            if request == "draw":
                made = tuple(starmap(_file, DRAWN.items()))
                emit(FilesMade(tool="add", files=tuple(f.reference() for f in made), contents=made))
            if request.startswith("return "):
                emit(Executing(tool="add", arguments="{}"))
                emit(ExecutionFinished(tool="add", execution=kept(_value(request))))
            async for text in self._words(*request.split(" ", 1)):
                said.append(text)
                emit(AnswerToken(text=text))
        except asyncio.CancelledError:
            emit(TurnStopped(reason="Stopped on request."))
            raise
        except ValueError as error:
            emit(TurnFailed(where="internal", message=str(error)))
        except AgentError as error:
            emit(TurnFailed(where="internal", **error.event_fields))
        else:
            outcome = Outcome.ASKED if request in ("question", "weekly") else Outcome.ANSWERED
            emit(TurnFinished(answer="".join(said), outcome=outcome))

    def _propose(self, owner: str, emit: Callable[[Event], None]) -> None:
        """Version 3 of the tool."""
        fields = {**dict(TOOL), "version": 3, "code": TOOL.code.replace("a + b", "a + b + 1")}
        proposal = Proposal(**fields, based_on=2, provenance=Provenance(origin=Corrected()))
        self._proposals.put(owner, proposal)
        emit(ToolProposed(tool=TOOL.name, version=3, based_on=2))

    async def _queue(self, emit: Callable[[Event], None], name: str) -> None:
        """Third in the queue, then second, until somebody sends `release NAME`."""
        emit(TurnQueued(place=3))
        await self.recorder.flush()
        emit(TurnQueued(place=2))
        await self._released[name].wait()
        emit(TurnQueued(place=0, seconds=1.5))

    async def _plan(self, emit: Callable[[Event], None], name: str) -> None:
        """Two steps, of which the second waits until somebody sends `release NAME`."""
        first = PlannedStep(id="reversed", request="Reverse the text 'abc'", needs=())
        second = PlannedStep(
            id="vowels", request="Count the vowels of reversed", needs=("reversed",)
        )
        emit(PlanMade(steps=(first, second)))
        for step, tool, value in ((first, "reverse_text", "cba"), (second, "count_vowels", "1")):
            emit(PlanStepChanged(step=step.id, state="started"))
            emit(Searching(plan_step=step.id))
            if step is second:
                await self._released[name].wait()
            emit(ToolFound(plan_step=step.id, tool=tool, confidence=0.9, considered=(tool,)))
            emit(
                PlanStepChanged(step=step.id, state="finished", tool=tool, text=value, seconds=0.5)
            )

    async def _build(self, emit: Callable[[Event], None], name: str) -> None:
        """The stages of a synthesis with one repair."""
        emit(StageEntered(node="gather"))
        for symbol, node in WAY:
            emit(StageEntered(node=node, symbol=symbol))
        await self._released[name].wait()
        emit(StageEntered(node="respond", symbol="ran"))

    def _born(self, emit: Callable[[Event], None], name: str) -> None:
        """The steps of a synthesis that tell what was built."""
        parameter = {"name": "text", "annotation": "str", "default": None}
        wanted = {
            "name": name,
            "parameters": [parameter],
            "returns": "str",
            "example_requests": [f"{name} the word stressed"],
        }
        survivor = {"line": 2, "before": "a + b", "after": "a - b"}
        strength = {"killed": 3, "mutants": 4, "survivors": [survivor]}
        passed = TestResult(test="test_it", outcome="passed", seconds=0.01)
        ended = partial(SynthesisStep, state="finished", seconds=0.1)
        emit(ended(step="specify", artifact=json.dumps(wanted)))
        emit(TestFinished(against="implementation", result=passed))
        emit(ended(step="verify"))
        emit(ended(step="strengthen", artifact=json.dumps(strength)))
        self.library.add(name)
        self.changes.tell(LibraryChange(name=name, change="added", reason=f"{name} is new."))
        emit(ended(step="register", text=f"{name} is in the library."))

    async def _delegate(self, emit: Callable[[Event], None], name: str) -> None:
        """The proxy has the coder run code, which waits until somebody sends `release NAME`."""
        outer = DelegationChanged(
            id="1", sender="user", recipient="proxy", state="started", text="write a script"
        )
        inner = DelegationChanged(
            id="2",
            sender="proxy",
            recipient="coder",
            state="started",
            text="write it, and run it",
            within="1",
        )
        emit(outer)
        emit(inner)
        emit(CodeRun(within="2", run=1, state="started", code="print('hi')"))
        await self._released[name].wait()
        ran = Returned(type_name="list", text="[]", stdout="hi\n")
        emit(CodeRun(within="2", run=1, state="finished", execution=ran, seconds=0.1))
        emit(
            inner.model_copy(update={"state": "finished", "text": "It prints hi.", "seconds": 0.2})
        )
        emit(outer.model_copy(update={"state": "finished", "text": "Done.", "seconds": 0.3}))

    async def _prepare(self, emit: Callable[[Event], None], name: str) -> None:
        async def failing(report: Report) -> None:
            raise AgentError(
                "the package registry can't be reached", "connect this machine to the network"
            )

        async def working(report: Report) -> None:
            report("3 of 15 tools verified", 3, 15)
            await self._released[name].wait()

        self.readiness.expect("search", "sandbox")
        self._start(self.readiness.prepare("search", failing))
        self._start(self.readiness.prepare("sandbox", working))
        await awaited(self.readiness.news, "sandbox", emit)

    async def _words(self, verb: str, rest: str = "") -> AsyncIterator[str]:
        match verb:
            case "plan" | "build" | "prepare" | "born" | "queue":
                yield "One."
            case "delegate" | "return" | "draw":
                yield "Done."
            case "question":
                yield questions_text(QUESTIONS, "Two things first.")
            case "weekly":
                yield questions_text((schedule_consent(WEEKLY).question,))
            case "say":
                for word in rest.split():
                    yield word
            case "recite":
                yield rest
            case "hold":
                yield "one"
                await self._released[rest].wait()
                yield "two"
            case "release":
                self._released.pop(rest).set()
            case "flood":
                for number in range(int(rest)):
                    yield f"{number} "
                    await self.recorder.flush()
            case "essay":
                for word in islice(cycle(re.findall(r"\s*\S+", ESSAY)), int(rest)):
                    yield word
                    await asyncio.sleep(0.001)
            case "grow":
                self.changes.tell(LibraryChange(name=rest, change="added", reason="for the test"))
            case "connect":
                self.library.connect()
                self.changes.tell(LibraryChange(name="rate_of", change="added", reason="asked"))
            case "stock":
                self.library.stock(int(rest))
                self.changes.tell(LibraryChange(name="add", change="modified", reason="more"))
                yield f"There are {rest} more tools."
            case "break":
                self._failures = 2
            case "sandbox":
                self.setup.sandbox = SandboxStatus(
                    available=False, backend="none", detail="no engine answers"
                )
            case "hang":
                self._hangs = True
            case "lack":
                raise not_granted("rate_of", (await self.library.get("rate_of")).needs[:1])
            case _:
                raise ValueError(f"{verb} is not in the script")

    async def stop(self, owner: str, turn_id: str) -> bool:
        if await self._turns.stop(owner, turn_id):
            return True
        if self._running.get(turn_id, ("",))[0] != owner:
            return False
        self._running[turn_id][1].cancel()
        return True

    async def teach(self, owner: str, name: str, rows: Sequence[TaughtRow]) -> Tool | Asked:
        return await self.ask(owner, None, f"say {name} is taught")

    async def load(self) -> EngineLoad:
        return EngineLoad(running=len(self._running), queued=0, containers=2)

    async def aclose(self) -> None:
        if self._hangs:
            await asyncio.to_thread(self._sleep_for_ever)
        tasks = [self._scheduling, *(task for _, task in self._running.values())]
        for task in tasks:
            task.cancel()
        await self._turns.aclose("The server ended.")
        self._turns.stop_all("The server ended.")
        await asyncio.gather(*tasks, *self._works, return_exceptions=True)
        await self.recorder.aclose()
        await self.feed.aclose()
        await self.servers.aclose()
        self._database.dispose()

    @staticmethod
    def _sleep_for_ever() -> None:
        import threading

        threading.Event().wait()
