"""The projects of people on a server: their lists, their files, and the turns that build and change
them.

A project belongs to its own conversation and has its id; every action on it is a turn there. Its
folder of that name holds the project's own folder and its state.
"""

import asyncio
import hashlib
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, assert_never

from selfeng.core.background import BackgroundTasks
from selfeng.core.composition import copies
from selfeng.core.errors import AgentError, RequestError, ResourceBusy, ResourceNotFound
from selfeng.core.events import (
    BudgetSpent,
    Event,
    TurnFailed,
    TurnFinished,
    TurnResumed,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.files import media_type
from selfeng.core.private import close_to_others
from selfeng.core.project_events import ProjectFailed, ProjectFinished, ProjectStopped
from selfeng.core.stage_event import Usage
from selfeng.core.status import Asked
from selfeng.core.tool import Requirement
from selfeng.core.turn import Budget, News, ProjectBuild, Request, awaited
from selfeng.core.value import Value
from selfeng.durable.turn_work import TurnStarter
from selfeng.durable.workflows import Workflows
from selfeng.projects.actions import (
    CreateFile,
    DeleteFile,
    ExecutePyFile,
    ReadRun,
    RunTests,
    WorkAction,
)
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.consent import ApprovalReply, PendingApproval
from selfeng.projects.loop import Final
from selfeng.projects.options import ProjectOptions
from selfeng.projects.state import ProjectState, ProjectStore, Status, backups, packed
from selfeng.projects.workspace import WorkspaceFile
from selfeng.store.conversation_list import ConversationSummary
from selfeng.store.journal import Journal
from selfeng.store.turn_queue import ClaimedTurn
from selfeng.turns.event_numbers import NumberedEvent
from selfeng.turns.running_turn import Last, RunningTurn
from selfeng.turns.turn_registry import TurnRegistry

_STATE = ProjectState(goal="", status="stopped")
BUILDING, ACTING = "building", "acting"
"""Where a turn of a project gave up: in a build, or in an action of a person."""


class ProjectSummary(Value):
    """A project in a list."""

    id: str
    """Id of its conversation."""
    name: str
    goal: str
    status: Status
    """`building` only while this server builds it; a build that a killed server left is `stopped`.
    """
    created_at: datetime
    """UTC."""


class KeptFile(Value):
    """A file of a project without its content."""

    path: str
    size: int
    """Bytes."""
    sha256: str
    media_type: str


class KeptBackup(Value):
    number: int
    at: datetime
    """UTC."""
    size: int
    """Bytes of the zip."""


class ProjectDetail(ProjectSummary):
    """A project with everything but the contents of its files."""

    turn_id: str | None
    """The turn that runs on it now."""
    files: tuple[KeptFile, ...]
    backups: tuple[KeptBackup, ...]
    """Newest first."""
    packages: tuple[str, ...]
    """The packages that were approved and added."""
    tools: tuple[Requirement, ...]
    """The tools of the library that it has copies of."""


class ProjectTurn(RunningTurn):
    """A turn of a project: a build, or an action of a person. Starts on creation, on the event
    loop.
    """

    def __init__(
        self,
        tasks: BackgroundTasks,
        request: str,
        where: str,
        work: Callable[[Callable[[Event], object]], Awaitable[Last]],
        consent: PendingApproval | None = None,
        *,
        resumed: TurnResumed | None = None,
    ) -> None:
        """`consent` is what a build asks for approval."""
        super().__init__(tasks)
        self.consent = consent
        self._where = where
        self._spent: Mapping[str, Any] = {}
        self._start = time.monotonic()
        self.emit(TurnStarted(request=request))
        if resumed:
            self.emit(resumed)

        async def timed() -> Last:
            last = await work(self.emit)
            return last if last.seconds else last.model_copy(update=self._elapsed)

        self.begin(timed)

    def emit(self, event: Event) -> None:
        if isinstance(event, BudgetSpent):
            self._spent = {"usage": event.usage, "seconds": event.seconds}
        super().emit(event)

    @property
    def spent(self) -> Mapping[str, Any]:
        return {"usage": Usage(), **self._elapsed, **self._spent}

    @property
    def _elapsed(self) -> Mapping[str, float]:
        return {"seconds": time.monotonic() - self._start}

    def failed(self, error: AgentError) -> TurnFailed:
        return TurnFailed(where=self._where, **error.event_fields, **self.spent)


def ended(last: Final) -> Last:
    """The end of a build as the end of its turn."""
    spent = {"usage": last.usage, "seconds": last.seconds}
    match last:
        case ProjectFinished():
            return TurnFinished(answer=last.summary, **spent)
        case ProjectFailed():
            return TurnFailed(
                where=BUILDING,
                **last.model_dump(
                    include={"message", "remedy", "kind", "cause", "values", "reached"}
                ),
                **spent,
            )
        case ProjectStopped():
            return TurnStopped(reason=last.reason, **spent)
        case _:
            assert_never(last)


class ProjectService:
    """Used on the engine's loop. A project of another owner is refused in the same words as one
    that does not exist.
    """

    def __init__(
        self,
        folder: Path,
        builder: Callable[[], ProjectBuilder],
        journal: Journal,
        turns: TurnRegistry,
        runtime: BackgroundTasks,
        *,
        month: Callable[[], Budget | None] = lambda: None,
        news: News = lambda part: None,
        workflows: Workflows | None = None,
    ) -> None:
        """`builder` gives the one that new builds and actions use, `month` the budget of all turns
        in a month, on which each build draws. `runtime` runs the turns; with
        `news` they wait for a sandbox that is still being set up. `workflows` keep the steps of
        builds that outlive the process.
        """
        self._folder, self._builder, self._journal, self._turns, self._runtime = (
            folder,
            builder,
            journal,
            turns,
            runtime,
        )
        self._month, self._news, self._starter = month, news, TurnStarter(journal, turns, workflows)
        if folder.exists():
            close_to_others(folder, with_contents=True)

    async def projects(self, owner: str) -> tuple[ProjectSummary, ...]:
        """An owner's projects, newest first."""
        return await asyncio.to_thread(
            lambda: tuple(map(self._summary, self._journal.conversations(owner, kind="project")))
        )

    async def project(self, owner: str, project_id: str) -> ProjectDetail:
        """Raises: ResourceNotFound: `owner` has no such project. WorkspaceError: its folder can't
        be read.
        """
        return await asyncio.to_thread(self._detail, await self._owned_project(owner, project_id))

    async def file(self, owner: str, project_id: str, path: str) -> WorkspaceFile:
        """Raises: ResourceNotFound: `owner` has no such project. WorkspaceError: it has no such
        file.
        """
        project = await self._owned_project(owner, project_id)
        content = await asyncio.to_thread(
            self._store(project_id).workspace(project.title).read, path
        )
        return WorkspaceFile(path=path, content=content)

    async def archive(self, owner: str, project_id: str) -> tuple[str, bytes]:
        """The project's name, and its files as a zip. Raises: ResourceNotFound, WorkspaceError, as
        `project`.
        """
        project = await self._owned_project(owner, project_id)
        return project.title, await asyncio.to_thread(
            packed, self._store(project_id).workspace(project.title)
        )

    async def begin(self, owner: str, options: Mapping[str, Any]) -> Asked:
        """Start to build a new project; `options` are those of `ProjectOptions` without its folder.

        Raises:
            LimitReached: too many requests wait in the queue.
            RequestError: an option can't be used, or the goal is blank.
        """
        build_options = ProjectOptions.of(options)
        if not (goal := build_options.goal.strip()):
            raise RequestError("the goal is blank", "say what the project should do")
        await self._turns.check(owner)
        project_id = await asyncio.to_thread(self._create, owner, build_options.project_name, goal)
        return await self._build(owner, project_id, build_options)

    async def go_on(self, owner: str, project_id: str, options: Mapping[str, Any]) -> Asked:
        """Continue a project, towards the old goal if `options` give none; they name no project.

        Raises:
            RequestError: an option can't be used.
            ResourceNotFound: `owner` has no such project.
            ResourceBusy: another action is running on it.
        """
        project = await self._idle(owner, project_id)
        return await self._build(
            owner, project_id, ProjectOptions.of({**options, "project_name": project.title})
        )

    async def act(self, owner: str, project_id: str, action: WorkAction) -> Asked:
        """Start an action of a person. Raises: ResourceNotFound: `owner` has no such project.
        ResourceBusy: another action is running.
        """
        project, builder = await self._idle(owner, project_id), self._builder()

        async def work(emit: Callable[[Event], object]) -> Last:
            await awaited(self._news, "sandbox", emit)
            result = await builder.act(self._store(project_id), project.title, action, emit)
            return TurnFinished(answer=result.text.partition("\n")[0].removeprefix("$ "))

        request = _request(action)
        return await self._turn(
            owner, project_id, request, partial(ProjectTurn, self._runtime, request, ACTING, work)
        )

    async def restore(self, owner: str, project_id: str, number: int) -> Asked:
        """Start to restore a backup. Raises: ResourceNotFound, ResourceBusy, as `act`."""
        project, builder = await self._idle(owner, project_id), self._builder()

        async def work(emit: Callable[[Event], object]) -> Last:
            store = self._store(project_id)
            return TurnFinished(
                answer=str(await builder.restore(store, project.title, number, emit))
            )

        request = f"Restore backup {number}"
        return await self._turn(
            owner, project_id, request, partial(ProjectTurn, self._runtime, request, ACTING, work)
        )

    async def answer(self, owner: str, turn_id: str, reply: ApprovalReply) -> bool:
        """Give a build the person's reply; False if `owner` has no such build, or the reply changes
        nothing.
        """
        turn = self._turns.find(owner, turn_id)
        return (
            isinstance(turn, ProjectTurn)
            and turn.consent is not None
            and turn.consent.answer(reply)
        )

    async def delete(self, owner: str, project_id: str) -> None:
        """Delete a project with its backups and its conversation. Raises: ResourceNotFound,
        ResourceBusy, as `act`.
        """
        await asyncio.to_thread(self._delete, await self._idle(owner, project_id))

    async def resume(
        self, claimed: ClaimedTurn, request: Request, events: Sequence[NumberedEvent]
    ) -> None:
        """Go on with a build that another process left. Raises: RequestError: another version
        wrote its options.
        """
        assert isinstance(request.kind, ProjectBuild)
        _, begin = self._building(claimed.conversation_id, ProjectOptions.of(request.kind.options))
        await self._starter.go_on(
            claimed, events, lambda resumed, _watch: begin(resumed=resumed), request, lasting=True
        )

    async def _build(self, owner: str, project_id: str, build_options: ProjectOptions) -> Asked:
        request, begin = self._building(project_id, build_options)
        options = build_options.model_dump(mode="json", exclude={"project_dir", "api_key"})
        stored_request = Request(
            request, conversation_id=project_id, kind=ProjectBuild(options=options)
        )
        return await self._turn(owner, project_id, request, begin, stored_request)

    def _building(
        self, project_id: str, build_options: ProjectOptions
    ) -> tuple[str, Callable[..., ProjectTurn]]:
        """The request of a build, and what begins its turn."""
        consent, builder = PendingApproval(build_options.step), self._builder()
        options = build_options.model_copy(
            update={"project_dir": self._folder / project_id, "step": False}
        )

        async def work(emit: Callable[[Event], object]) -> Last:
            await awaited(self._news, "sandbox", emit)
            return ended(await builder.build(options, emit, consent, parent=self._month()))

        request = build_options.goal.strip() or f"Go on with {build_options.project_name}"
        return request, partial(ProjectTurn, self._runtime, request, BUILDING, work, consent)

    async def _turn(
        self,
        owner: str,
        project_id: str,
        request: str,
        begin: Callable[..., ProjectTurn],
        stored_request: Request | None = None,
    ) -> Asked:
        await self._turns.check(owner, project_id)
        started, run = TurnStarted(request=request), lambda resumed, _watch: begin(resumed=resumed)
        return await self._starter.begin(
            owner, project_id, started, run, stored_request=stored_request, lasting=True
        )

    async def _owned_project(self, owner: str, project_id: str) -> ConversationSummary:
        with suppress(ResourceNotFound):
            project = await asyncio.to_thread(self._journal.conversation, owner, project_id)
            if project.kind == "project":
                return project
        raise ResourceNotFound(
            f"there is no project {project_id[:40]!r}", "look at the list of projects"
        )

    async def _idle(self, owner: str, project_id: str) -> ConversationSummary:
        project = await self._owned_project(owner, project_id)
        if self._turns.of(project_id):
            raise ResourceBusy(
                f"{project.title} is busy: another action is running",
                "wait until it has ended, or stop it",
                name=project.title,
            )
        return project

    def _store(self, project_id: str) -> ProjectStore:
        return ProjectStore(self._folder / project_id)

    def _create(self, owner: str, name: str, goal: str) -> str:
        project_id = self._journal.create_conversation(owner, name, "project")
        self._store(project_id).save(name, ProjectState(goal=goal))
        return project_id

    def _delete(self, project: ConversationSummary) -> None:
        """The conversation goes last: as long as it exists, the deletion can be repeated."""
        store = self._store(project.id)
        if store.names():
            store.delete(project.title)
        shutil.rmtree(self._folder / project.id, ignore_errors=True)
        self._journal.remove_conversations([project.id])

    def _summary(self, project: ConversationSummary) -> ProjectSummary:
        state = self._state(project)
        is_abandoned = state.status == "building" and self._turns.of(project.id) is None
        fields = {"id": project.id, "name": project.title, "created_at": project.created_at}
        return ProjectSummary(
            **fields, goal=state.goal, status="stopped" if is_abandoned else state.status
        )

    def _state(self, project: ConversationSummary) -> ProjectState:
        """The state of the project; an empty one if the file is damaged, which the next build
        reports.
        """
        with suppress(RequestError):
            return self._store(project.id).load(project.title) or _STATE
        return _STATE

    def _detail(self, project: ConversationSummary) -> ProjectDetail:
        store = self._store(project.id)
        files = store.workspace(project.title).files()
        texts = {file.path: file.content.decode(errors="replace") for file in files}
        backup_paths = reversed(backups(store.backups(project.title)))
        return ProjectDetail(
            **dict(self._summary(project)),
            turn_id=self._turns.of(project.id),
            files=tuple(map(_file, files)),
            backups=tuple(map(_backup, backup_paths)),
            packages=self._state(project).packages,
            tools=copies(texts),
        )


def _request(action: WorkAction) -> str:
    """An action of a person, as the request of its turn."""
    match action:
        case ExecutePyFile(name=name, arguments=arguments):
            return " ".join(("Run", name, *arguments))
        case RunTests(name=name):
            return f"Run the tests of {name}" if name else "Run the tests"
        case ReadRun(what=what):
            return f"Read the {what}"
        case CreateFile(name=name):
            return f"Create {name}"
        case DeleteFile(name=name):
            return f"Delete {name}"
        case edit:
            return f"Edit {edit.name}"


def _file(file: WorkspaceFile) -> KeptFile:
    fields = {"size": len(file.content), "media_type": media_type(file.path, file.content)}
    return KeptFile(path=file.path, sha256=hashlib.sha256(file.content).hexdigest(), **fields)


def _backup(path: Path) -> KeptBackup:
    status = path.stat()
    return KeptBackup(
        number=int(path.stem), at=datetime.fromtimestamp(status.st_mtime, UTC), size=status.st_size
    )
