"""The desk of projects: what people on a server have built and do with it.

A project belongs to a conversation of its own, by whose id it is known; whatever is done on it is a turn there. It lies in a folder
of that name, which holds the project's own folder and its state.
"""

import asyncio
import hashlib
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from selfeng.core.errors import RequestError
from selfeng.core.events import Event, TurnFinished
from selfeng.core.files import media_type
from selfeng.core.owner import owned_by
from selfeng.core.private import close_to_others
from selfeng.core.status import Asked
from selfeng.core.turn import News, awaited
from selfeng.core.value import Value
from selfeng.projects.acting import WorkAction
from selfeng.projects.backup import backups, packed
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.consent import Awaited, Word
from selfeng.projects.options import ProjectOptions
from selfeng.projects.store import ProjectState, ProjectStore, Status
from selfeng.projects.turn import ACTING, BUILDING, ProjectTurn, ended
from selfeng.projects.workspace.actions import CreateFile, DeleteFile, ExecutePyFile, ReadRun, RunTests
from selfeng.projects.workspace.folder import WorkspaceFile
from selfeng.runtime import MiniAgents
from selfeng.store.conversation import ConversationSummary
from selfeng.store.journal import Journal
from selfeng.turns.running_turn import Last
from selfeng.turns.turn_registry import TurnRegistry

_STATE = ProjectState(goal="", status="stopped")


class ProjectSummary(Value):
    """One line in the list of somebody's projects."""

    id: str
    """Of its conversation."""
    name: str
    goal: str
    status: Status
    """`building` only while this server builds it; what a killed one left is `stopped`."""
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
    """All about one project but what its files hold."""

    turn_id: str | None
    """The turn that runs on it now."""
    files: tuple[KeptFile, ...]
    backups: tuple[KeptBackup, ...]
    """The newest first."""
    packages: tuple[str, ...]
    """Those that were approved and added."""


class ProjectDesk:
    """Used on the engine's loop; every method but `has` refuses in the same words what is not there and what is somebody else's."""

    def __init__(
        self,
        folder: Path,
        builder: ProjectBuilder,
        journal: Journal,
        turns: TurnRegistry,
        runtime: MiniAgents,
        *,
        news: News = lambda part: None,
    ) -> None:
        """`runtime` is the context that turns run under; `news` has them wait for a sandbox that is still being set up."""
        self._folder, self._builder, self._journal, self._turns, self._runtime = folder, builder, journal, turns, runtime
        self._news = news
        if folder.exists():
            close_to_others(folder, with_contents=True)

    def has(self, conversation_id: str) -> bool:
        """Whether a conversation is that of a project. `conversation_id` must be one of the journal's. Blocking, but briefly."""
        return (self._folder / conversation_id).is_dir()

    async def projects(self, owner: str) -> tuple[ProjectSummary, ...]:
        """Somebody's projects, the newest first."""
        return await asyncio.to_thread(lambda: tuple(self._summary(c) for c in self._journal.conversations(owner) if self.has(c.id)))

    async def project(self, owner: str, project_id: str) -> ProjectDetail:
        """Raises: RequestError: `owner` has no such project. WorkspaceError: its folder can't be read."""
        found = await self._own(owner, project_id)
        return await asyncio.to_thread(self._detail, found)

    async def file(self, owner: str, project_id: str, path: str) -> WorkspaceFile:
        """Raises: RequestError: `owner` has no such project. WorkspaceError: it has no such file."""
        found = await self._own(owner, project_id)
        content = await asyncio.to_thread(self._store(project_id).workspace(found.title).read, path)
        return WorkspaceFile(path=path, content=content)

    async def archive(self, owner: str, project_id: str) -> tuple[str, bytes]:
        """The project's name, and its files as a zip. Raises: RequestError, WorkspaceError, as `project`."""
        found = await self._own(owner, project_id)
        return found.title, await asyncio.to_thread(packed, self._store(project_id).workspace(found.title))

    async def begin(self, owner: str, options: Mapping[str, Any]) -> Asked:
        """Begin to build a new project; `options` are those of `ProjectOptions` without its folder.

        Raises:
            RequestError: an option can't be used, or the goal is blank.
        """
        chosen = ProjectOptions.of(options)
        goal = chosen.goal.strip()
        if not goal:
            raise RequestError("the goal is blank", "say what the project is to do")
        project_id = await asyncio.to_thread(self._create, owner, chosen.project_name, goal)
        return await self._build(owner, project_id, chosen)

    async def go_on(self, owner: str, project_id: str, options: Mapping[str, Any]) -> Asked:
        """Build on, towards the old goal if `options` give none; they name no project.

        Raises:
            RequestError: an option can't be used, `owner` has no such project, or something runs on it.
        """
        found = await self._idle(owner, project_id)
        return await self._build(owner, project_id, ProjectOptions.of({**options, "project_name": found.title}))

    async def act(self, owner: str, project_id: str, action: WorkAction) -> Asked:
        """Begin an action of a person. Raises: RequestError: `owner` has no such project, or something runs on it."""
        found = await self._idle(owner, project_id)

        async def work(emit: Callable[[Event], object]) -> Last:
            await awaited(self._news, "sandbox", emit)
            result = await self._builder.act(self._store(project_id), found.title, action, emit)
            return TurnFinished(answer=result.text.partition("\n")[0].removeprefix("$ "))

        request = _words(action)
        return await self._turn(owner, project_id, request, partial(ProjectTurn, request, ACTING, work))

    async def restore(self, owner: str, project_id: str, number: int) -> Asked:
        """Begin to restore a backup. Raises: RequestError, as `act`."""
        found = await self._idle(owner, project_id)

        async def work(emit: Callable[[Event], object]) -> Last:
            await self._builder.restore(self._store(project_id), found.title, number, emit)
            return TurnFinished(answer=f"{found.title} is what it was at backup {number}.")

        request = f"Restore backup {number}"
        return await self._turn(owner, project_id, request, partial(ProjectTurn, request, ACTING, work))

    async def say(self, owner: str, turn_id: str, word: Word) -> bool:
        """Pass a word of the person on to a build; False if `owner` has no such build, or it changes nothing."""
        turn = self._turns.find(owner, turn_id)
        return isinstance(turn, ProjectTurn) and turn.consent is not None and turn.consent.say(word)

    async def delete(self, owner: str, project_id: str) -> None:
        """Delete a project with its backups and its conversation. Raises: RequestError, as `act`."""
        found = await self._idle(owner, project_id)
        await asyncio.to_thread(self._delete, found)

    async def _build(self, owner: str, project_id: str, chosen: ProjectOptions) -> Asked:
        consent = Awaited(chosen.step)
        options = chosen.model_copy(update={"project_dir": self._folder / project_id, "step": False})

        async def work(emit: Callable[[Event], object]) -> Last:
            await awaited(self._news, "sandbox", emit)
            return ended(await self._builder.build(options, emit, consent))

        request = chosen.goal.strip() or f"Go on with {chosen.project_name}"
        return await self._turn(owner, project_id, request, partial(ProjectTurn, request, BUILDING, work, consent))

    async def _turn(self, owner: str, project_id: str, request: str, begin: Callable[[], ProjectTurn]) -> Asked:
        turn_id = await asyncio.to_thread(self._journal.begin_turn, project_id, request)
        with self._runtime.entered(), owned_by(owner):
            self._turns.begin(owner, project_id, turn_id, begin())
        return Asked(conversation_id=project_id, turn_id=turn_id)

    async def _own(self, owner: str, project_id: str) -> ConversationSummary:
        mine = await asyncio.to_thread(self._journal.conversations, owner)
        found = next((c for c in mine if c.id == project_id), None)
        if found is None or not self.has(found.id):
            raise RequestError(f"there is no project {project_id[:40]!r}", "look at the list of projects")
        return found

    async def _idle(self, owner: str, project_id: str) -> ConversationSummary:
        found = await self._own(owner, project_id)
        if self._turns.of(project_id):
            raise RequestError(f"something runs on {found.title} already", "wait until it has ended, or stop it")
        return found

    def _store(self, project_id: str) -> ProjectStore:
        return ProjectStore(self._folder / project_id)

    def _create(self, owner: str, name: str, goal: str) -> str:
        project_id = self._journal.create_conversation(owner, name)
        self._store(project_id).save(name, ProjectState(goal=goal))
        return project_id

    def _delete(self, found: ConversationSummary) -> None:
        """The folder goes last: as long as it is there, the rest can be deleted again."""
        store = self._store(found.id)
        if store.names():
            store.delete(found.title)
        self._journal.remove_conversation(found.id)
        shutil.rmtree(self._folder / found.id)

    def _summary(self, found: ConversationSummary) -> ProjectSummary:
        state = self._state(found)
        left = state.status == "building" and self._turns.of(found.id) is None
        known = {"id": found.id, "name": found.title, "created_at": found.created_at}
        return ProjectSummary(**known, goal=state.goal, status="stopped" if left else state.status)

    def _state(self, found: ConversationSummary) -> ProjectState:
        """What is known of the project; nothing where that was damaged, which building on tells of."""
        with suppress(RequestError):
            return self._store(found.id).load(found.title) or _STATE
        return _STATE

    def _detail(self, found: ConversationSummary) -> ProjectDetail:
        store = self._store(found.id)
        files = store.workspace(found.title).files()
        kept = reversed(backups(store.backups(found.title)))
        return ProjectDetail(
            **dict(self._summary(found)),
            turn_id=self._turns.of(found.id),
            files=tuple(map(_file, files)),
            backups=tuple(map(_backup, kept)),
            packages=self._state(found).packages,
        )


def _words(action: WorkAction) -> str:
    """What a person asks for, as the request of a turn."""
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
    known = {"size": len(file.content), "media_type": media_type(file.path, file.content)}
    return KeptFile(path=file.path, sha256=hashlib.sha256(file.content).hexdigest(), **known)


def _backup(path: Path) -> KeptBackup:
    found = path.stat()
    return KeptBackup(number=int(path.stem), at=datetime.fromtimestamp(found.st_mtime, UTC), size=found.st_size)
