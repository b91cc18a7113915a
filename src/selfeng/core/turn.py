"""A turn: one request and all it causes, with the budget it may spend."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, Protocol

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    TypeAdapter,
)

from selfeng.core.errors import BudgetExceeded, FailureCause
from selfeng.core.events import Event, LessonsShown, Limits, ModelNews, Waiting
from selfeng.core.files import File, FileReference
from selfeng.core.lesson import AgentKind, LessonHint
from selfeng.core.plan import SavedPlan, SavedStep, StepResult
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Answer, Consent
from selfeng.core.result import Dispute, EarlierResult, Result
from selfeng.core.schedule import SchedulePlan
from selfeng.core.spec import SpecifiedTool
from selfeng.core.stage_event import Usage
from selfeng.core.status import Part
from selfeng.core.value import Value
from selfeng.core.verdict import Execution
from selfeng.core.visible import one_line

MOST_SEEN = 8
"""Pictures that a model is shown at once."""
_VISUAL = re.compile(r'"kind": ?"picture"|"pages_without_text":')
"""In a profile, whose texts have their quotes escaped."""


class Budget:
    """Counts what a turn or another `spender` spends; used on the engine's loop only."""

    spender = "turn"

    def __init__(
        self,
        limits: Limits | None = None,
        on_charge: Callable[["Budget"], object] = lambda _: None,
        *,
        on_thought: Callable[[ModelNews], object] = lambda _: None,
        on_text: Callable[[str], object] = lambda _: None,
        parent: "Budget | None" = None,
    ) -> None:
        """`on_charge` is called after each model call, with this budget; `on_thought` while a model
        thinks aloud, is silent, or is asked again; `on_text` with a structured reply so far, while
        it is written. A `parent` is charged and notified too, and its limits apply as well.
        """
        self.limits = limits or Limits()
        self.usage = Usage()
        self._on_charge, self._on_thought, self._on_text = on_charge, on_thought, on_text
        self._parent = parent
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Since the turn began."""
        return time.monotonic() - self._started

    def catch_up(self, seconds: float) -> None:
        """Count at least this many seconds as spent, when a turn is resumed in another process."""
        self._started = min(self._started, time.monotonic() - seconds)

    @property
    def tokens_left(self) -> int:
        remaining = max(0, self.limits.tokens - self.usage.input_tokens - self.usage.output_tokens)
        return min(remaining, self._parent.tokens_left) if self._parent else remaining

    @property
    def seconds_left(self) -> float:
        remaining = max(0.0, self.limits.seconds - self.seconds)
        return min(remaining, self._parent.seconds_left) if self._parent else remaining

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock while a person is asked."""
        start = time.monotonic()
        try:
            with self._parent.paused() if self._parent else nullcontext():
                yield
        finally:
            self._started += time.monotonic() - start

    async def look(self) -> None:
        """Call before `check`: find out what others spend on the same limit."""
        if self._parent:
            await self._parent.look()

    @property
    def limits_cost(self) -> bool:
        """Whether the cost of a running call has to be known."""
        return self.limits.cost is not None or bool(self._parent and self._parent.limits_cost)

    def check(self, *, paid: bool = True) -> None:
        """Call before each model call; `paid`: its price is known and not zero.

        Raises:
            BudgetExceeded: a limit is used up; the message names it.
        """
        if self._parent:
            self._parent.check(paid=paid)
        usage, limits = self.usage, self.limits
        if usage.calls >= limits.calls:
            raise self._exceeded(f"{limits.calls} model calls", "calls", limits.calls)
        if usage.input_tokens + usage.output_tokens >= limits.tokens:
            raise self.out_of_tokens()
        if self.seconds >= limits.seconds:
            raise self.out_of_seconds()
        if limits.cost is not None and (usage.cost or 0.0) >= limits.cost:
            raise self._exceeded(f"{limits.cost:g} US dollars", "cost", limits.cost)

    def check_running(self, tokens: int, cost: float | None) -> None:
        """Call while a model call runs, with all that it has used so far; `cost` in US dollars,
        None if the price is unknown.

        Raises:
            BudgetExceeded: this exceeds a limit on tokens or cost; the message names it.
        """
        if self._parent:
            self._parent.check_running(tokens, cost)
        usage, limits = self.usage, self.limits
        if usage.input_tokens + usage.output_tokens + tokens > limits.tokens:
            raise self.out_of_tokens()
        if limits.cost is not None and (usage.cost or 0.0) + (cost or 0.0) > limits.cost:
            raise self._exceeded(f"{limits.cost:g} US dollars", "cost", limits.cost)

    def charge(self, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        """Count one finished model call; `cost` in US dollars, None if the price is unknown."""
        has_cost = cost is not None or self.usage.cost is not None
        self.usage = Usage(
            calls=self.usage.calls + 1,
            input_tokens=self.usage.input_tokens + input_tokens,
            output_tokens=self.usage.output_tokens + output_tokens,
            cost=(self.usage.cost or 0.0) + (cost or 0.0) if has_cost else None,
        )
        self._on_charge(self)
        if self._parent:
            self._parent.charge(input_tokens, output_tokens, cost)

    def tell(self, thought: ModelNews) -> None:
        """Report what a model thinks aloud, or that it is silent or asked again."""
        self._on_thought(thought)
        if self._parent:
            self._parent.tell(thought)

    def hear(self, text: str) -> None:
        """Report what a model has written of a structured reply."""
        self._on_text(text)
        if self._parent:
            self._parent.hear(text)

    def out_of_tokens(self) -> BudgetExceeded:
        if self._parent and self._parent.tokens_left == self.tokens_left:
            return self._parent.out_of_tokens()
        return self._exceeded(f"{self.limits.tokens} tokens", "tokens", self.limits.tokens)

    def out_of_seconds(self) -> BudgetExceeded:
        if self._parent and self._parent.seconds_left == self.seconds_left == 0:
            return self._parent.out_of_seconds()
        return self._exceeded(f"{self.limits.seconds:g} seconds", "seconds", self.limits.seconds)

    def remedy(self, limit: str) -> str:
        """The remedy when the limit of this name is reached."""
        return f"ask for less, or raise TURN_{limit.upper()}"

    def _exceeded(self, words: str, cause: FailureCause, limit: float) -> BudgetExceeded:
        message = f"the {self.spender} has used up its budget of {words}"
        return BudgetExceeded(message, self.remedy(f"max_{cause}"), cause=cause, limit=limit)


Recall = Callable[[AgentKind, str], Awaitable[tuple[LessonHint, ...]]]
"""The lessons for a kind of agent that are relevant to its work, best first; the same throughout a
turn. It never fails.
"""


async def no_lessons(agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
    return ()


News = Callable[[Part], asyncio.Event | None]
"""Set when a part has made progress; None if it is ready or has failed."""


async def awaited(
    news: News,
    part: Part,
    emit: Callable[[Waiting], object],
    enough: Callable[[], Awaitable[bool]] | None = None,
) -> bool:
    """Wait, if necessary, until a part is ready, has failed, or has come far enough, and emit
    events about it. Returns whether it had to wait.
    """
    if news(part) is None:
        return False
    start = time.monotonic()
    emit(Waiting(part=part, state="started"))
    while further := news(part):
        await further.wait()
        if enough and await enough():
            break
    emit(Waiting(part=part, state="finished", seconds=time.monotonic() - start))
    return True


def texts_in(value: Any) -> Iterator[str]:
    """The texts in plain JSON, at any depth, without the names of members."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for item in value.values() for text in texts_in(item))
        case list():
            yield from (text for item in value for text in texts_in(item))


async def _nowhere(reference: object) -> Any:
    raise LookupError(reference)


_is_referable = attrgetter("reference.referable")


class Contents(NamedTuple):
    """Read what a conversation stores. Blocking. Raises: ResourceNotFound."""

    file: Callable[[FileReference], File]
    result: Callable[[EarlierResult], Result]


@dataclass(frozen=True)
class EarlierFiles:
    """Files that the conversation had before this turn, the newest of each name."""

    references: tuple[FileReference, ...] = ()
    read: Annotated[Callable[[FileReference], Awaitable[File]], Field(exclude=True)] = _nowhere

    @staticmethod
    def stored(references: tuple[FileReference, ...], contents: Contents) -> "EarlierFiles":
        return EarlierFiles(references, lambda file: asyncio.to_thread(contents.file, file))


@dataclass(frozen=True)
class EarlierResults:
    """Values that tools returned before this turn, the newest last."""

    values: tuple[EarlierResult, ...] = ()
    read: Annotated[Callable[[EarlierResult], Awaitable[Result]], Field(exclude=True)] = _nowhere

    @staticmethod
    def stored(values: tuple[EarlierResult, ...], contents: Contents) -> "EarlierResults":
        return EarlierResults(values, lambda value: asyncio.to_thread(contents.result, value))

    @property
    def references(self) -> tuple[EarlierResult, ...]:
        """Those that arguments may refer to; what is short is written out."""
        return tuple(filter(_is_referable, self.values))


class Inspector(Protocol):
    """Looks into files, in the sandbox."""

    async def inspect(
        self, reference: FileReference, read: Callable[[FileReference], Awaitable[File]]
    ) -> str:
        """The profile of a file, as JSON of an object; `read` is called if its content is new.

        It never fails: the profile then names the problem.
        """

    async def pictures(self, file: File) -> tuple[str, ...]:
        """The images of a file that a model may see, as data URLs of JPEG: a picture, or the first
        pages without text of a PDF; none of a file that can't be read.

        Raises: SandboxUnavailable, SandboxFailed.
        """

    async def lines_about(self, file: File, message: str) -> str:
        """The lines of a file that an error's message is about; "" if none is found.

        Raises: SandboxUnavailable, SandboxFailed.
        """


class Asking(Value):
    """A person asks for a result."""

    kind: Literal["ask"] = "ask"
    agent: str = ""
    """The agent that gets the request, without a search; "" for the usual way."""
    again: str = ""
    """Id of an earlier turn, which this one repeats."""
    waiting: FunctionCall | None = None
    """The call that the question before the request was about."""
    specified: SpecifiedTool | None = None
    """The tool to be built that it was about."""


class HandCall(Value):
    """A person, or a schedule of theirs, calls a tool, which needs no model."""

    kind: Literal["call"] = "call"
    call: FunctionCall
    version: int = 0
    """Of the tool; 0 for the newest."""
    schedule: str = ""
    """The name of the schedule."""


class ScheduleAnswer(Value):
    """The person has said whether to make a call at set times."""

    kind: Literal["schedule"] = "schedule"
    added: SchedulePlan | None = None
    """The schedule that was added; None if the person wants none."""


class ToolDescription(Value):
    """The text describes a tool to build, which is not called."""

    kind: Literal["build"] = "build"


class Refactoring(Value):
    kind: Literal["refactor"] = "refactor"
    tool: str
    """The one to make faster."""


class ProjectBuild(Value):
    kind: Literal["project"] = "project"
    options: Mapping[str, Any]


class PlanPart(Value):
    """A step of the turn's plan."""

    kind: Literal["step"] = "step"
    id: str
    results: tuple[StepResult, ...] = ()
    """The results of the steps that this one needs."""


class AgentPart(Value):
    """The part of a turn that one of its agents requested."""

    kind: Literal["part"] = "part"


_ASKING = Asking()
RequestKind = Annotated[
    Asking
    | HandCall
    | ScheduleAnswer
    | ToolDescription
    | Refactoring
    | ProjectBuild
    | SavedPlan
    | Dispute
    | PlanPart
    | AgentPart,
    Field(discriminator="kind"),
]
"""SavedPlan: the turn makes one tool of it; Dispute: the answer that the person marked as wrong."""


_StoredFile = Annotated[
    File,
    PlainSerializer(File.reference),
    BeforeValidator(lambda value, info: info.context.file(FileReference.model_validate(value))),
]


@dataclass(frozen=True)
class Request:
    """The request of a turn, or of a part of a turn: a step of its plan, or an agent's request. As
    JSON it is all that another process needs to run the turn: contents by reference.
    """

    text: str
    history: tuple[ChatMessage, ...] = ()
    """Earlier requests and answers of the conversation, oldest first."""
    files: tuple[_StoredFile, ...] = ()
    """The files that came with the request."""
    earlier: EarlierFiles = EarlierFiles()
    earlier_results: EarlierResults = field(default=EarlierResults(), kw_only=True)
    answers: tuple[Answer, ...] = ()
    """Answers to the questions before the request."""
    rounds: int = 0
    """Rounds of questions in a row just before the request."""
    conversation_id: str = ""
    """Empty if none is stored."""
    after: str | None = None
    """Id of the turn that it follows, "" for none; None: the newest of the conversation."""
    model: str = ""
    """The name of the model that the turn asks; "" for the configured one."""
    temporary: bool = False
    """Whether nothing may be learnt from its text."""
    timezone: str = "UTC"
    """The person's, as IANA names it, in which the text names times."""
    kind: RequestKind = _ASKING
    refused: tuple[str, ...] = ()
    """Tools of other servers, hosts, packages and limits that the person does not want for this
    request.
    """
    consents: Mapping[str, Consent] = field(default_factory=dict)
    """The person's answers to questions for consent of this request, by their ids."""
    profiles: Annotated[dict[str, str], Field(exclude=True)] = field(default_factory=dict)
    """Profiles of files, by the sha256 of their content; parts extend them."""
    pictures: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    """The images of the files that the model may see, as data URLs."""

    def part(
        self,
        text: str,
        files: tuple[File, ...],
        kind: PlanPart | AgentPart,
        history: tuple[ChatMessage, ...] = (),
    ) -> "Request":
        """A request that is a part of this one: it has the same conversation, earlier files and
        results, but none of the person's answers.
        """
        return replace(self, text=text, files=files, kind=kind, history=history, answers=())

    def as_json(self) -> str:
        return _REQUEST.dump_json(self).decode()

    @staticmethod
    def from_json(text: str, contents: Contents) -> "Request":
        """Blocking. Raises: ValidationError: another version wrote it; ResourceNotFound: a file of
        it is gone.
        """
        request = _REQUEST.validate_json(text, context=contents)
        return replace(
            request,
            earlier=EarlierFiles.stored(request.earlier.references, contents),
            earlier_results=EarlierResults.stored(request.earlier_results.values, contents),
        )

    def dispute(self, result: EarlierResult, complaint: str = "") -> Dispute:
        """The disagreement of this request with an earlier result, by default in its own words."""
        return Dispute(result=result, complaint=one_line(complaint or self.text))

    @property
    def visual(self) -> tuple[FileReference, ...]:
        """The files that code can't read, as they are pictures or scans: those of the request, or
        else of its conversation; at most `MOST_SEEN`.
        """
        new, old = (
            [r for r in references if _VISUAL.search(self.profiles.get(r.sha256, ""))]
            for references in (map(File.reference, self.files), self.earlier.references)
        )
        return tuple((new or old)[:MOST_SEEN])

    def note(self, references: Iterable[FileReference], **fields: object) -> None:
        """Add fields to the profiles of files."""
        profiles = {r.sha256: json.loads(self.profiles[r.sha256]) for r in references}
        self.profiles.update({id: json.dumps(fields | p) for id, p in profiles.items()})

    def learnable(self, *forms: str) -> tuple[str, ...]:
        """Those of these forms of the request that the tool that serves it may be found by from
        then on: none in a temporary conversation.
        """
        return () if self.temporary else tuple(dict.fromkeys(filter(None, forms)))

    def names_file(self, arguments: Mapping[str, Any] | None) -> bool:
        """Whether a call names a file of the request or its conversation."""
        names = {file.name for file in self.files} | {r.name for r in self.earlier.references}
        return not names.isdisjoint(texts_in(arguments))

    async def files_of(self, arguments: Mapping[str, Any]) -> tuple[File, ...]:
        """The files of the request, and those of the conversation that a call names."""
        names = set(texts_in(arguments))
        earlier = [r for r in self.earlier.references if r.name in names]
        return (*self.files, *[await self.earlier.read(reference) for reference in earlier])

    @property
    def is_part(self) -> bool:
        """Whether one tool must serve it: it can be neither a plan nor work for agents."""
        return isinstance(self.kind, PlanPart | AgentPart | SavedPlan | ToolDescription)

    @property
    def plan_step(self) -> str:
        """The id of the plan's step that this is; "" for none."""
        return self.kind.id if isinstance(self.kind, PlanPart) else ""

    @property
    def saved_steps(self) -> tuple[SavedStep, ...]:
        """Those of the plan that becomes one tool."""
        return self.kind.steps if isinstance(self.kind, SavedPlan) else ()

    @property
    def results(self) -> tuple[StepResult, ...]:
        """The results of the plan's steps that it needs."""
        return self.kind.results if isinstance(self.kind, PlanPart) else ()


_REQUEST = TypeAdapter(Request)


class Wait(Protocol):
    """How a turn waits for a part: as `awaited`."""

    async def __call__(
        self,
        news: News,
        part: Part,
        emit: Callable[[Waiting], object],
        enough: Callable[[], Awaitable[bool]] | None = None,
    ) -> bool: ...


class Check(NamedTuple):
    """A comparison of a result that runs concurrently with the next steps."""

    task: asyncio.Task[Execution | None]
    report: Callable[[Execution | None], object]
    """Emits an event if the outcome of the task calls for one."""


@dataclass(frozen=True)
class Turn:
    """A request, or a part of one, and what its stages work with."""

    request: Request
    emit: Callable[[Event], object]
    budget: Budget = field(default_factory=Budget)
    news: News = lambda part: None
    recall: Recall = no_lessons
    inspector: Inspector | None = None
    wait: Wait = awaited
    lessons_shown: set[str] = field(default_factory=set)
    """Ids of the lessons that the turn has shown."""
    checks: list[Check] = field(default_factory=list)
    """The checks that compare results while the turn runs, those of its parts included; see
    `checked`.
    """
    sent: list[str] = field(default_factory=list)
    """Tools whose calls, also of parts, may have changed something elsewhere: they are not made
    again.
    """
    granted: dict[str, Consent] = field(default_factory=dict)
    """The person's consents to needs of tools, by `need_key`, and to questions, by their ids."""

    async def checked(self) -> None:
        """Wait for the checks so far; their events are emitted here."""
        while self.checks:
            check = self.checks[0]
            check.report(await check.task)
            self.checks.remove(check)

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Cancels the checks that are not awaited at the end."""
        try:
            yield
        finally:
            for check in self.checks:
                check.task.cancel()

    def part(self, request: Request, emit: Callable[[Event], object] | None = None) -> "Turn":
        """A part of the turn, on the same budget."""
        return replace(self, request=request, emit=emit or self.emit)

    def beside_others(self) -> "Turn":
        """A part that runs concurrently with others. It learns nothing from them, or what it does
        would depend on which of them is faster.
        """
        request = replace(self.request, profiles=dict(self.request.profiles))
        return replace(self, request=request, lessons_shown=set(self.lessons_shown))

    async def need(self, part: Part, enough: Callable[[], Awaitable[bool]] | None = None) -> bool:
        """Wait for a part that is still being set up, or until it is far enough. Returns whether it
        had to wait. Waiting spends no budget.
        """
        with self.budget.paused():
            return await self.wait(self.news, part, self.emit, enough)

    async def profile(self, files: Sequence[File]) -> None:
        """Profile these files, and those of the conversation, for all prompts that come."""
        files_by_reference = {file.reference(): file for file in files}
        references = (*files_by_reference, *self.request.earlier.references)
        if self.inspector is None or not references:
            return
        await self.need("sandbox")

        async def read(reference: FileReference) -> File:
            return files_by_reference.get(reference) or await self.request.earlier.read(reference)

        new = [r for r in references if r.sha256 not in self.request.profiles]
        profiles = await asyncio.gather(*(self.inspector.inspect(r, read) for r in new))
        self.request.profiles.update({r.sha256: p for r, p in zip(new, profiles, strict=True)})

    async def looked(self, visual: Sequence[FileReference]) -> "Turn":
        """The turn with the pictures of these files, whose profiles have their numbers."""
        files, pictures = {file.reference(): file for file in self.request.files}, list[str]()
        for reference in visual:
            assert self.inspector is not None
            file = files.get(reference) or await self.request.earlier.read(reference)
            more = (await self.inspector.pictures(file))[: MOST_SEEN - len(pictures)]
            numbers = [*range(len(pictures) + 1, len(pictures) + len(more) + 1)]
            drawn = {"shown": numbers} if more else {"unseen": "it could not be drawn"}
            self.request.note((reference,), **drawn)
            pictures += more
        return replace(self, request=replace(self.request, pictures=tuple(pictures)))

    async def lessons(self, agent: AgentKind, about: str) -> tuple[LessonHint, ...]:
        """The lessons for a kind of agent that are relevant to its work; an event reports those
        that are new to the turn.
        """
        hints = await self.recall(agent, about)
        if untold := tuple(hint for hint in hints if hint.id not in self.lessons_shown):
            self.lessons_shown.update(hint.id for hint in untold)
            self.emit(LessonsShown(agent=agent, lessons=untold))
        return hints
