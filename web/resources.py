"""Resources: what the operations of the REST API answer with."""

import base64
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field, computed_field

from selfeng.core.events import Event, Outcome, Record, Witnessed
from selfeng.core.files import FileReference
from selfeng.core.http import NetworkAccess
from selfeng.core.lesson import Lesson
from selfeng.core.provenance import Origin, Proposal, ToolVersion
from selfeng.core.question import Question
from selfeng.core.schedule import Schedule
from selfeng.core.server_tool import ServerStatus
from selfeng.core.signature import Parameter
from selfeng.core.stage_event import Usage
from selfeng.core.status import Asked, LocalServer
from selfeng.core.tool import Candidate, Grant, Need, Requirement, Tool
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Killed, Raised, Returned, Verdict
from selfeng.doors.turn_story import TurnStory
from selfeng.projects.service import ProjectSummary
from selfeng.servers.vault import StoredSecret
from selfeng.stages.execution.programs import Program
from selfeng.store.conversation_list import ConversationSummary
from selfeng.store.habits import Habits
from selfeng.store.shares import MadeShare, Share
from selfeng.store.subscriptions import Subscription
from web.operations import ErrorDetail

Hidden = Annotated[Any, Field(exclude=True)]
"""A field that this resource leaves out."""

_IMPORTED = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import|import[ \t]+(\w+))\b", re.MULTILINE
)


class ToolLine(Tool):
    """A tool in a list: every field but the large ones."""

    signature: str  # type: ignore[assignment]
    """As Python source."""
    modules: tuple[str, ...]
    """Those of the standard library that its code imports."""
    packages: tuple[str, ...]
    """The other modules that its code imports."""
    code: Hidden
    tests: Hidden
    digest: Hidden
    example_requests: Hidden
    requires: Hidden
    witnesses: Hidden
    network: Hidden
    exchanges: Hidden
    lock: Hidden
    limits: Hidden


class ListedTool(ToolLine):
    last_used: datetime | None
    """When you used it last."""


class FoundTool(ToolLine):
    """A tool that a search found."""

    confidence: float
    """Calibrated probability that it fits, 0..1."""
    request: str
    """The nearest of the requests that it is found by, as far as you may see them."""


class ToolList(Value):
    tools: tuple[ListedTool, ...] | tuple[FoundTool, ...]


class ToolParameter(Parameter):
    @computed_field  # type: ignore[prop-decorator]
    @property
    def required(self) -> bool:
        return super().required


class ToolPage(Tool):
    """A tool with the examples, the requests and the habits that you may see."""

    signature: str  # type: ignore[assignment]
    """As Python source."""
    parameters: tuple[ToolParameter, ...]
    returns: str
    """Annotation."""
    input_schema: dict[str, Any]
    """JSON Schema of an object with the arguments of a call."""
    used_requests: tuple[str, ...]
    """Those that it served, and is found by."""
    habits: Habits
    witnesses: int  # type: ignore[assignment]
    """How many other implementations check its results."""
    exchanges: int  # type: ignore[assignment]
    """How many are recorded of the hosts that it needs."""
    lock: Hidden
    needed: tuple[Need, ...]
    """The hosts, packages and limits that it has with your consent only."""
    ungranted: tuple[Need, ...]
    """The consents that a call would ask for."""


class CalledFile(FileReference):
    content: str
    """Base64."""


class CallReport(Value):
    """The outcome of a call of a tool."""

    outcome: Literal["returned", "raised", "killed"]
    """killed: the sandbox ended it."""
    value: Any = None
    """The value that it returned; null also if that is not JSON."""
    text: str
    """The value that it returned, or the reason why it did not, for people."""
    stdout: str = ""
    files: tuple[CalledFile, ...] = ()
    """The files that it made."""
    refused_files: tuple[str, ...] = ()
    """Name and reason of each file that the sandbox does not hand out."""
    seconds: float
    witnessed: Witnessed | None = None
    """The values that other implementations returned; null if there are none."""
    lacks: NetworkAccess | None = None
    """The host that a redirect led to without consent."""


class ProgramReport(CallReport):
    """The outcome of a program."""

    tools: tuple[Requirement, ...]
    """The tools of the library that it was pinned to."""
    notes: tuple[str, ...] = ()
    """Notes for a person on them, in sentences."""
    traceback: str = ""
    """The lines that an exception came from, in the program and its tools."""


class ProposalLine(Value):
    """A new tool, or a version of one, that waits for you."""

    name: str
    description: str
    signature: str
    version: int
    based_on: int
    """The version that it follows; 0 for a new tool."""
    origin: Origin
    created_at: datetime
    refused: bool = False
    objections: tuple[str, ...] = ()
    """How an update fails your own tests and recorded calls."""


class ProposalList(Value):
    proposals: tuple[ProposalLine, ...]


class ProposalPage(ProposalLine):
    code: str
    tests: str
    code_before: str = ""
    """Of the version that it follows, and likewise."""
    tests_before: str = ""


class SavedTool(Value):
    """The result of an edit, or of taught rows."""

    name: str
    version: int = 0
    """0 while a turn makes it."""
    waits: bool = False
    """Whether it is a proposal, which you accept or refuse."""
    turn: Asked | None = None
    """The turn that makes a version which passes; null if the tool passes already."""


class TestCount(Value):
    __test__ = False

    passed: int
    total: int


class _VersionFacts(ToolVersion):
    origin: Origin
    why: str
    """The origin for people."""
    usage: Usage | None
    """The tokens and cost of its model calls."""
    provenance: Hidden
    exchanges: Hidden
    witnesses: Hidden
    lock: Hidden


class VersionLine(_VersionFacts):
    """A version in a list: every field but the large ones."""

    tests: TestCount | None  # type: ignore[assignment]
    """How many tests passed; null if it was never tested."""
    name: Hidden
    description: Hidden
    signature: Hidden
    code: Hidden
    example_requests: Hidden
    requires: Hidden
    network: Hidden
    limits: Hidden


class VersionList(Value):
    versions: tuple[VersionLine, ...]


class ShownPrompt(Value):
    """A prompt of a model call, without its text."""

    name: str
    digest: str


class VersionPage(_VersionFacts):
    """A version with the examples that you may see."""

    signature: str  # type: ignore[assignment]
    """As Python source."""
    verdict: Verdict | None
    prompts: tuple[ShownPrompt, ...]


class VersionDifference(Value):
    from_: int = Field(alias="from")
    to: int
    diff: str
    """Unified, of code and tests."""


class LessonLine(Lesson):
    evidence: int  # type: ignore[assignment]
    """How many turns it comes from."""


class LessonList(Value):
    lessons: tuple[LessonLine, ...]


class OtherServerTool(Value):
    """A tool of another MCP server; what is said of it is the server's claim."""

    name: str
    description: str
    read_only: bool
    allowed: bool
    """Whether it is called without asking."""


class OtherServer(ServerStatus):
    tools: tuple[OtherServerTool, ...]


class OtherServerList(Value):
    servers: tuple[OtherServer, ...]


class SubscriptionList(Value):
    subscriptions: tuple[Subscription, ...]


class ScheduleList(Value):
    schedules: tuple[Schedule, ...]


class GrantList(Value):
    grants: tuple[Grant, ...]
    """By tool and time."""


class ConversationList(Value):
    conversations: tuple[ConversationSummary, ...]


class RecordList(Value):
    records: tuple[Record, ...]


class TurnReport(Value):
    """A turn as far as it has come."""

    conversation_id: str
    turn_id: str
    after: str | None
    """The turn that it follows, "" for none; null: the one listed before it."""
    request: str
    answers: Mapping[str, str]
    """Those that came with it to the questions of the turn before, by their ids."""
    outcome: Outcome | None
    """null while it runs or waits."""
    step: str
    """Its newest step, in a few words."""
    answer: str
    """Markdown, as far as it goes; in the end all of it, or why there is none and what to do."""
    questions: tuple[Question, ...]
    """Those that the next turn of the conversation may answer."""
    files: tuple[FileReference, ...]
    """The files that its tools made."""
    new_tools: tuple[str, ...]
    """Names of the tools that it built or revised."""
    usage: Usage
    """The tokens and cost of its model calls, once it has ended."""
    seconds: float


class ConversationPage(ConversationSummary):
    """A conversation with its turns, in the order in which they began."""

    turns: tuple[TurnReport, ...]


class Stopping(Value):
    stopped: bool
    """Whether it ran or waited, and is being stopped."""


class UploadedFile(FileReference):
    id: str
    """By which a request or call names it, within five minutes."""


class ProjectList(Value):
    projects: tuple[ProjectSummary, ...]


class ShareList(Value):
    shares: tuple[Share, ...]


class NewLink(MadeShare):
    path: str
    """Of the page that it opens."""


class ModelList(Value):
    models: tuple[str, ...]


class LocalServerList(Value):
    servers: tuple[LocalServer, ...]


class SecretList(Value):
    secrets: tuple[StoredSecret, ...]


class Authorization(Value):
    """How far a permission by OAuth's device flow is."""

    state: Literal["none", "waiting", "kept", "failed"]
    """none: no one has begun one since the server started; kept: the secret has the token."""
    user_code: str = ""
    """The code that the person enters on the service's page."""
    verification_uri: str = ""
    """The address of that page, as the service says it."""
    error: ErrorDetail | None = None
    """failed: why."""


class Drawing(Value):
    svg: str


def tool_line(tool: Tool) -> ToolLine:
    return ToolLine(**_line(tool))


def listed_tool(tool: Tool, last_used: datetime | None) -> ListedTool:
    return ListedTool(**_line(tool), last_used=last_used)


def found_tool(
    text: str, candidate: Candidate, examples: Sequence[str], used_requests: Sequence[str]
) -> FoundTool:
    """A tool that a search for the text found; of the requests, that with most of its words is
    shown.
    """
    words = set(text.casefold().split())
    nearest = max(
        (*used_requests, *examples),
        key=lambda request: len(words & set(request.casefold().split())),
        default="",
    )
    line = _line(candidate.tool)
    return FoundTool(**line, confidence=candidate.confidence, request=nearest)


def _line(tool: Tool) -> dict[str, Any]:
    modules = {
        from_name or import_name for from_name, import_name in _IMPORTED.findall(tool.code)
    } - {"__future__"}
    return {
        **dict(tool),
        "signature": str(tool.signature),
        "modules": sorted(modules & sys.stdlib_module_names),
        "packages": sorted(modules - sys.stdlib_module_names),
    }


def tool_page(
    tool: Tool,
    examples: Sequence[str],
    used_requests: Sequence[str],
    habits: Habits,
    *,
    ungranted: tuple[Need, ...] = (),
) -> ToolPage:
    signature = tool.signature
    overrides = {
        "signature": str(signature),
        "example_requests": examples,
        "witnesses": len(tool.witnesses),
        "exchanges": len(tool.exchanges),
    }
    return ToolPage(
        **{**dict(tool), **overrides},
        parameters=tuple(ToolParameter(**dict(parameter)) for parameter in signature.parameters),
        returns=signature.returns,
        input_schema=signature.input_schema(),
        used_requests=used_requests,
        habits=habits,
        needed=tool.needs,
        ungranted=ungranted,
    )


def proposal_line(proposal: Proposal) -> ProposalLine:
    return ProposalLine(**_proposal_fields(proposal))


def proposal_page(proposal: Proposal, before: ToolVersion | None) -> ProposalPage:
    former = {"code_before": before.code, "tests_before": before.tests} if before else {}
    fields = _proposal_fields(proposal)
    return ProposalPage(**fields, code=proposal.code, tests=proposal.tests, **former)


def _proposal_fields(proposal: Proposal) -> dict[str, Any]:
    names = {"name", "description", "version", "based_on", "created_at", "refused", "objections"}
    origin = proposal.provenance.origin
    return {
        **proposal.model_dump(include=names),
        "signature": str(proposal.signature),
        "origin": origin,
    }


def saved_tool(name: str, saved: Tool | Asked) -> SavedTool:
    if isinstance(saved, Asked):
        return SavedTool(name=name, turn=saved)
    return SavedTool(name=name, version=saved.version, waits=isinstance(saved, Proposal))


def call_report(execution: Execution, events: Iterable[Event] = ()) -> CallReport:
    fields: dict[str, Any] = {"outcome": execution.outcome, "seconds": execution.seconds}
    fields["witnessed"] = next((e for e in events if isinstance(e, Witnessed)), None)
    match execution:
        case Returned(text=text):
            stored_result = execution.result
            fields |= {
                "text": text,
                "value": json.loads(stored_result.content) if stored_result else None,
            }
        case Raised(type_name=kind, message=message, lacks=access):
            fields |= {"text": ": ".join(filter(None, (kind, message))), "lacks": access}
        case Killed(reason=reason):
            return CallReport(**fields, text=reason, stdout=execution.stdout)
        case _:
            assert_never(execution)
    files = tuple(
        CalledFile(**dict(file.reference()), content=base64.b64encode(file.content).decode())
        for file in execution.files
    )
    return CallReport(
        **fields, stdout=execution.stdout, files=files, refused_files=execution.refused_files
    )


def program_report(
    program: Program, execution: Execution, events: Sequence[Event]
) -> ProgramReport:
    return ProgramReport(
        **dict(call_report(execution, events)),
        tools=program.requires,
        notes=tuple(program.notes(events)),
        traceback=execution.traceback if isinstance(execution, Raised) else "",
    )


def version_line(version: ToolVersion) -> VersionLine:
    verdict = version.provenance.verdict
    passed = [test.outcome == "passed" for test in verdict.tests] if verdict else []
    count = TestCount(passed=sum(passed), total=len(passed)) if verdict else None
    return VersionLine(**{**_version_facts(version), "tests": count})


def version_page(version: ToolVersion, examples: Sequence[str]) -> VersionPage:
    provenance = version.provenance
    overrides = {"signature": str(version.signature), "example_requests": examples}
    return VersionPage(
        **{**_version_facts(version), **overrides},
        verdict=provenance.verdict,
        prompts=tuple(ShownPrompt(name=p.name, digest=p.digest) for p in provenance.prompts),
    )


def _version_facts(version: ToolVersion) -> dict[str, Any]:
    provenance = version.provenance
    return {
        **dict(version),
        "origin": provenance.origin,
        "why": str(provenance.origin),
        "usage": provenance.usage,
    }


def lesson_line(lesson: Lesson) -> LessonLine:
    """Turns are private to their owners, so they are only counted."""
    return LessonLine(**{**dict(lesson), "evidence": len(lesson.evidence)})


def turn_reports(records: Iterable[Record]) -> tuple[TurnReport, ...]:
    """A report of each turn that the records belong to, in the order in which they began."""
    stories: dict[str, TurnStory] = {}
    for record in records:
        stories.setdefault(record.turn_id, TurnStory()).add(record)
    return tuple(map(_turn_report, stories.values()))


def _turn_report(story: TurnStory) -> TurnReport:
    return TurnReport(
        conversation_id=story.conversation,
        turn_id=story.turn,
        after=story.after,
        request=story.request,
        answers=story.answers,
        outcome=story.outcome,
        step="" if story.outcome else story.step,
        answer=story.text,
        questions=story.questions,
        files=tuple(story.files.values()),
        new_tools=tuple(story.new_tools),
        usage=story.usage,
        seconds=story.seconds,
    )
