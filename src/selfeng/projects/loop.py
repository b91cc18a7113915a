"""The loop of a build: reason and act, until everything passes and the model judges the goal met.

Each examination, model call and action is one step of plain values. A turn that is resumed in
another process gets the outcomes of its build's steps, and repeats the one that was running; an
action begins with the files of the backup before it. After each action the state is on disk and the
files are in place, so that the next build can continue a killed one.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from selfeng.core.composition import NEAR, FreeTools, lines
from selfeng.core.errors import (
    AgentError,
    BudgetExceeded,
    Diverged,
    ModelReplyInvalid,
    ProjectGivenUp,
    RequestError,
    TakenOver,
    WorkspaceError,
)
from selfeng.core.events import BudgetSpent
from selfeng.core.package_lock import PackageLock, lock_packages
from selfeng.core.packages import sandbox_packages, sandbox_requirements
from selfeng.core.project_events import (
    AnyProjectEvent,
    ProjectFailed,
    ProjectFinished,
    ProjectPaused,
    ProjectStarted,
    ProjectStopped,
)
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import ModelClient, Sandbox
from selfeng.core.turn import Budget
from selfeng.core.words import count, shortened
from selfeng.durable.outcomes import done_once, name_of
from selfeng.projects.acting import ActionContext, ActionResult, ProgramActions, act, choice_of
from selfeng.projects.actions import AddPackage, Finish, GiveUp, ProjectAction, WriteFile
from selfeng.projects.consent import Consent
from selfeng.projects.edits import Change, apply, replaced, unified
from selfeng.projects.examining import (
    MAIN,
    Examination,
    emit_examination,
    examine,
    format_run,
    imported,
)
from selfeng.projects.options import (
    REQUIREMENTS,
    ProjectOptions,
    is_meant,
    line_of,
    module,
    packages_in,
    requirement,
)
from selfeng.projects.project_context import Context, LastStep, findings, gather
from selfeng.projects.state import (
    Activity,
    ProjectState,
    ProjectStore,
    Status,
    back_up,
    newest,
    put_back,
)
from selfeng.projects.workspace import WorkspaceFile
from selfeng.prompts import render

log = logging.getLogger(__name__)

T = TypeVar("T")

PROMPT = "project_step"
STOPPED = "The build was stopped."
_SENTENCE = 200
_LAST = 6_000
"""Characters of the result of the last step."""
_REMEMBERED = 30
"""Actions that a prompt lists."""
_PATIENCE = 3
"""Unusable replies in a row."""

OnEvent = Callable[[AnyProjectEvent | BudgetSpent], object]
OnContext = Callable[[Context], object]
Final = ProjectFinished | ProjectFailed | ProjectStopped


@dataclass(frozen=True)
class BuildDeps:
    """The dependencies of every build."""

    model: ModelClient
    sandbox: Sandbox
    seconds: float
    """The time limit of a sandbox job."""
    tools: FreeTools | None
    """Those that projects may import; None: they import none."""


class BuildBudget(Budget):
    spender = "build"

    def remedy(self, limit: str) -> str:
        return f"continue with another build, or raise {limit}"


class Begun(NamedTuple):
    """The state that a build finds when it begins."""

    files: int
    requirements: str | None
    """The text of the project's requirements.txt; None if it is not text."""
    backups: int
    """The number of the newest."""
    mark: str
    """Of the build, in the project's hidden folder."""


class Build:
    def __init__(
        self,
        deps: BuildDeps,
        options: ProjectOptions,
        store: ProjectStore,
        state: ProjectState,
        *,
        emit: OnEvent,
        consent: Consent,
        parent: Budget | None = None,
        actions: ProgramActions,
        on_context: OnContext,
    ) -> None:
        self._actions, self._on_context = actions, on_context
        self._deps = deps
        self._context: Context | None = None
        self._options, self._store, self._state, self._emit, self._consent = (
            options,
            store,
            state,
            emit,
            consent,
        )
        self._name = options.project_name
        self._workspace = store.workspace(self._name)
        self._budget = BuildBudget(
            options.limits,
            lambda b: self._emit(BudgetSpent(usage=b.usage, limits=b.limits, seconds=b.seconds)),
            parent=parent,
        )
        self._steps = self._backups = 0
        self._last = self._tools = ""
        self._examination: Examination | None = None
        self._asks = options.step
        self._allowed = options.packages

    async def run(self, resumed: bool) -> Final:
        last: Final
        try:
            beginning = await self._begin()
            self._backups = beginning.backups
            started = {
                "goal": self._state.goal,
                "path": str(self._workspace.folder),
                "file_count": beginning.files,
                "resumed": resumed,
            }
            self._emit(ProjectStarted(project=self._name, **started))
            listed = packages_in(beginning.requirements or "")
            other_packages = [p for p in listed if module(p) not in sandbox_packages()]
            self._allowed = tuple(dict.fromkeys((*self._options.packages, *other_packages)))
            if self._state.packages and not self._state.lock:
                await self._install(self._state.packages)
            self._tools = await done_once(name_of("project.tools", self._state.goal), self._near)
            last = await self._loop()
        except AgentError as error:
            last = self._failed(error)
        except (Diverged, TakenOver):  # the state is another process's
            raise
        except asyncio.CancelledError:
            await self._end(self._stopped())
            raise
        except Exception as error:  # the end of a build: nothing may affect other builds
            log.exception("a build failed on an unexpected error")
            last = self._failed(
                AgentError(
                    f"an unexpected error: {type(error).__name__}: {error}",
                    "the log has the details",
                )
            )
        return await self._end(last)

    async def _begin(self) -> Begun:
        """Raises: WorkspaceError; Diverged: this is not the folder that the build began in."""
        beginning: Begun = await self._step("begin", self._look)
        if (await asyncio.to_thread(self._store.mark, self._name)) != beginning.mark:
            raise Diverged(f"the folder of the project {self._name} is elsewhere, or was built in")
        return beginning

    def _look(self) -> Begun:
        text = None
        with suppress(WorkspaceError):
            text = self._requirements()
        there = newest(self._store.backups(self._name))
        return Begun(len(self._workspace.paths()), text, there, self._store.begin(self._name))

    async def _step(self, door: str, do: Callable[[], T], *name_parts: Any) -> T:
        """Do what blocks as a step."""
        name = name_of(f"project.{door}", self._name, self._state.before.epoch, *name_parts)
        return await done_once(name, lambda *_: asyncio.to_thread(do))

    async def _install(self, packages: tuple[str, ...]) -> None:
        """Choose versions of the packages, and install them. Raises: RequestError: none fit;
        SandboxError.
        """

        async def install(*_: object) -> PackageLock:
            lock = await asyncio.to_thread(lock_packages, tuple(map(requirement, packages)))
            await self._deps.sandbox.install(lock)
            return lock

        lock = await done_once(name_of("project.install", packages), install)
        self._keep(packages=packages, lock=lock)

    async def _loop(self) -> Final:
        unusable = 0
        while True:
            await self._reason()
            if self._steps == self._options.max_steps:
                message = f"the build did not finish within {count(self._steps, 'step')}"
                remedy = "continue with another build, or raise max_steps"
                raise BudgetExceeded(message, remedy, cause="steps", limit=self._steps)
            try:
                action = await self._choose()
            except (WorkspaceError, ModelReplyInvalid) as error:
                unusable += 1
                if unusable == _PATIENCE:
                    raise
                await self._note("unusable", "", f"{error.message}; {error.remedy}", ok=False)
                continue
            unusable = 0
            if isinstance(action, Finish):
                with suppress(WorkspaceError):  # the goal is met without the list
                    await self._require() if self._steps else None
                return ProjectFinished(project=self._name, summary=action.summary, **self._spent())
            if isinstance(action, GiveUp):
                raise ProjectGivenUp(action.reason, "change the goal, or let another model try")
            if not await self._may_act(action):
                return self._stopped()
            await self._act(action)

    async def _reason(self) -> None:
        """Look at the project, unless nothing has changed."""
        epoch = self._state.before.epoch + 1
        self._keep(before=self._state.before.model_copy(update={"epoch": epoch}))
        if self._examination is None:
            name = name_of("project.examine", self._name, epoch)
            examination, count, changes = await done_once(name, self._examined)
            self._examination, backup = examination, self._state.before.backup or ""
            for change in changes:
                self._emit(change.event(self._name, epoch, backup))
            emit_examination(self._emit, self._name, epoch, examination, count)
            self._keep(log="\n".join(map(format_run, examination.runs)) or self._state.log)
            if self._steps and examination.made:
                await self._take_over(examination.made)

    async def _near(self, *_: object) -> str:
        """The tools that may help with the goal, one per line; "" if there are none."""
        tools = self._deps.tools
        return lines(await tools.find(self._state.goal, NEAR)) if tools else ""

    async def _linked(self) -> tuple[Sequence[Change], Mapping[str, str]]:
        """Keep a copy of each tool that the project imports, and no others. Returns what that
        changes, and the problem of each file with its imports.
        """
        if self._deps.tools is None:
            return (), {}
        files = await asyncio.to_thread(self._workspace.files)
        python = (file for file in files if file.path.endswith(".py"))
        before = {file.path: file.content.decode(errors="replace") for file in python}
        after, problems = await self._deps.tools.linked(before, map(module, self._state.packages))
        return await asyncio.to_thread(replaced, self._workspace, before, after), problems

    async def _examined(self, *_: object) -> tuple[Examination, int, Sequence[Change]]:
        """The examination of the project, the number of its files, and the changes of copies."""
        changes, problems = await self._linked()
        files = await asyncio.to_thread(self._workspace.files)
        examination = await examine(
            self._deps.sandbox,
            files,
            seconds=self._deps.seconds,
            limits=self._workspace.limits,
            extra=tuple(map(module, self._state.packages)),
            allowed=tuple(map(module, self._allowed)),
            lock=self._state.lock,
            problems=problems,
        )
        return examination, len(files), changes

    async def _take_over(self, made_files: tuple[WorkspaceFile, ...]) -> None:
        """Keep the files that main made."""
        try:
            await self._step("keep", lambda: self._workspace.keep(made_files))
        except WorkspaceError as error:
            self._last = (
                f"{self._last}\nWhat {MAIN} made was not kept: {error.message}; {error.remedy}"
            )

    async def _choose(self) -> ProjectAction:
        """One model call. Raises: WorkspaceError, ModelError."""
        assert self._examination is not None
        epoch, actions = self._state.before.epoch, self._actions.all
        without = [] if self._examination.passing else ["finish"]
        without += [] if self._allowed else ["add_package"]
        functions = actions.functions(without)

        async def ask(budget: Budget, _: str) -> FunctionCall:
            self._context = await self._gathered(functions)
            self._on_context(self._context)
            return await self._deps.model.choose(self._prompt(self._context), functions, budget)

        call = await done_once(name_of("project.choose", self._name, epoch), ask, self._budget)
        action: ProjectAction = actions.read(call)
        self._choice = choice_of(action, self._name, epoch, PROMPT)
        self._emit(self._choice)
        return action

    async def _gathered(self, functions: Sequence[FunctionSchema]) -> Context:
        """The context for the next choice of an action."""
        assert self._examination is not None
        return gather(
            name=self._name,
            goal=self._state.goal,
            folder=self._workspace.folder,
            before=self._state.before,
            files=await asyncio.to_thread(self._workspace.files),
            examination=self._examination,
            actions=functions,
        )

    def _prompt(self, context: Context) -> Prompt:
        assert self._examination is not None
        recent = self._state.activity[-_REMEMBERED:]
        return render(
            PROMPT,
            goal=context.goal,
            findings=findings(context, self._examination),
            project=context.project_code_formatted or "(There are no files yet.)",
            activity="\n".join(map(str, recent)) or "(Nothing was done yet.)",
            step=self._steps + 1,
            steps=self._options.max_steps,
            last=self._last,
            tools=self._tools,
            may_finish="finish" in context.available_action_names,
            may_add="add_package" in context.available_action_names,
        )

    async def _may_act(self, action: ProjectAction) -> bool:
        """In step mode, ask the person whether to do the action."""
        if not await self._pauses():
            return True
        self._emit(
            ProjectPaused(project=self._name, epoch=self._choice.epoch, action=action.action)
        )
        with self._budget.paused():
            name = name_of("project.consent", self._name, self._choice.epoch)
            decision = await done_once(name, lambda *_: self._consent.to_act(self._choice))
        if decision == "act_on":
            self._asks = False
        return decision != "stop"

    async def _pauses(self) -> bool:
        """Whether the person wants to be asked, who may change their mind at any time."""
        new: bool | None = None

        async def look(*_: object) -> bool:
            nonlocal new
            new = self._asks or self._consent.pausing
            return new

        pauses = await done_once(name_of("project.pauses", self._name, self._choice.epoch), look)
        if new is None:  # it was in another process
            self._consent.pausing = pauses
        return pauses

    async def _act(self, action: ProjectAction) -> None:
        assert not isinstance(action, Finish | GiveUp)
        self._backups += 1
        folder, number = self._store.backups(self._name), self._backups
        backup = await self._step(
            "back_up", lambda: str(back_up(self._workspace, folder, number)), number
        )
        ok = True
        try:
            result = await (
                self._add(action) if isinstance(action, AddPackage) else self._acted(action, backup)
            )
        except WorkspaceError as error:
            ok, result = (
                False,
                ActionResult(text=f"It was not done: {error.message}; {error.remedy}"),
            )
        if result.changed:
            self._examination = None
        if result.log:
            self._keep(log=result.log)
        self._keep(
            before=LastStep(
                epoch=self._state.before.epoch,
                reasoning=action.reasoning,
                action_name=action.action,
                backup=backup,
            )
        )
        await self._note(action.action, _brief(action), result.text, ok=ok)

    async def _acted(self, action: Any, backup: str) -> ActionResult:
        """Perform an action on the project. Raises: WorkspaceError, SandboxError."""
        emitted_events: list[AnyProjectEvent] = []

        def tell(event: AnyProjectEvent) -> None:
            emitted_events.append(event)
            self._emit(event)

        async def work(_: Budget, key: str) -> tuple[ActionResult, list[AnyProjectEvent]]:
            if key:  # a killed process may have begun it
                await asyncio.to_thread(put_back, self._workspace, Path(backup))
            scene = ActionContext(
                self._name,
                self._choice.epoch,
                self._workspace,
                self._deps.sandbox,
                self._state.lock,
                self._deps.seconds,
                backup,
                tell,
            )
            if action.action in self._actions:
                assert self._context is not None
                return await self._actions.act(scene, action, self._context), emitted_events
            return await act(scene, action, self._state), emitted_events

        name = name_of("project.act", self._name, self._choice.epoch, action.action)
        result, events = await done_once(name, work)
        for event in events if events is not emitted_events else ():
            self._emit(event)
        return result

    async def _add(self, action: AddPackage) -> ActionResult:
        """Raises: WorkspaceError: it is not allowed, or was not approved."""
        package = next(
            (allowed for allowed in self._allowed if is_meant(allowed, action.package)),
            None,
        )
        if package is None:
            message = f"the package {action.package!r} is not among those that may be added"
            raise WorkspaceError(
                message, f"choose one of {', '.join(self._allowed)}, or do without it"
            )
        self._emit(
            ProjectPaused(
                project=self._name, epoch=self._choice.epoch, action=action.action, package=package
            )
        )
        with self._budget.paused():
            approved = await done_once(
                name_of("project.package", self._name, self._choice.epoch),
                lambda *_: self._consent.to_package(package, action.reasoning),
            )
        if not approved:
            raise WorkspaceError(f"the person did not approve of {package}", "do without it")
        packages = tuple(dict.fromkeys((*self._state.packages, package)))
        try:
            await self._install(packages)
        except RequestError as error:
            raise WorkspaceError(error.message, error.remedy) from error
        return ActionResult(text=f"{package} is there now.", changed=True)

    def _requirements(self) -> str:
        """The text of the project's requirements.txt; "" if there is none. Blocking. Raises:
        WorkspaceError: it is not text.
        """
        there = self._workspace.exists(REQUIREMENTS)
        return self._workspace.text(REQUIREMENTS) if there else ""

    async def _require(self) -> None:
        """Add the packages that the project imports to its requirements.txt. Raises:
        WorkspaceError: it is not text, or there is no room for it.
        """
        if (update := await self._step("require", self._required)) is not None:
            body, change = update
            edit = WriteFile(name=REQUIREMENTS, body=body)
            await self._step("write", lambda: apply(self._workspace, edit))
            before = self._state.before
            self._emit(change.event(self._name, before.epoch, before.backup or ""))

    def _required(self) -> tuple[str, Change] | None:
        """The new text of requirements.txt, and what it changes; None if nothing is missing."""
        project_requirements = {
            module(package): line_of(package) for package in self._state.packages
        }
        imports = imported(self._workspace.files())
        text = self._requirements()
        listed = packages_in(text)
        lines = [
            line
            for name, line in {**sandbox_requirements(), **project_requirements}.items()
            if name in imports
            if not any(is_meant(there, line.partition(" ")[0]) for there in listed)
        ]
        if not lines:
            return None
        body = "\n".join(filter(None, (text.rstrip("\n"), *lines))) + "\n"
        kind = "edited" if self._workspace.exists(REQUIREMENTS) else "created"
        diff = unified(REQUIREMENTS, text, body)
        return body, Change.model_validate({"path": REQUIREMENTS, "kind": kind, "diff": diff})

    async def _note(self, action: str, arguments: str, text: str, *, ok: bool) -> None:
        """Count a step, and record its result."""
        self._steps += 1
        self._last = shortened(text, _LAST)
        result = shortened(text.partition("\n")[0], _SENTENCE)
        noted = Activity(
            epoch=self._state.before.epoch, action=action, arguments=arguments, result=result, ok=ok
        )
        self._keep(activity=(*self._state.activity, noted))
        state = self._state
        await self._step("save", lambda: self._store.save(self._name, state), self._steps)

    def _keep(self, **changes: object) -> None:
        self._state = self._state.model_copy(update=changes)

    async def _end(self, last: Final) -> Final:
        """End the build; nothing comes after this event."""
        status: Status = (
            "finished"
            if isinstance(last, ProjectFinished)
            else "stopped"
            if isinstance(last, ProjectStopped)
            else "failed"
        )
        self._keep(status=status)
        self._store.save(self._name, self._state)
        self._emit(last)
        return last

    def _stopped(self) -> ProjectStopped:
        return ProjectStopped(project=self._name, reason=STOPPED, **self._spent())

    def _failed(self, error: AgentError) -> ProjectFailed:
        return ProjectFailed(
            project=self._name,
            **error.event_fields,
            reached=self._examination.words if self._examination else "",
            **self._spent(),
        )

    def _spent(self) -> dict[str, object]:
        return {"steps": self._steps, "usage": self._budget.usage, "seconds": self._budget.seconds}


def _brief(action: ProjectAction) -> str:
    """The arguments in one line, without the texts, which the project shows."""
    arguments = action.model_dump(
        exclude={"action", "reasoning", "body", "text", "summary"}, exclude_none=True
    )
    return " ".join(
        " ".join(value) if isinstance(value, tuple) else str(value)
        for value in arguments.values()
        if value != ()
    )
