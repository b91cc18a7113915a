"""The project builder: what builds share, how one starts, and the actions of a person. The loop
itself is in `loop`.
"""

import asyncio
from collections.abc import Sequence

from selfeng.core.composition import FreeTools
from selfeng.core.errors import RequestError, WorkspaceError
from selfeng.core.protocols import ModelClient, Sandbox
from selfeng.core.turn import Budget
from selfeng.durable.outcomes import done_once, name_of
from selfeng.projects.acting import (
    ActionContext,
    ActionResult,
    ProgramActions,
    ProgramFunction,
    act,
    choice_of,
)
from selfeng.projects.actions import WorkAction
from selfeng.projects.consent import AutoApprove, Consent
from selfeng.projects.loop import Build, BuildDeps, Final, OnContext, OnEvent
from selfeng.projects.options import ProjectOptions
from selfeng.projects.running import RunOutcome, run
from selfeng.projects.state import ProjectState, ProjectStore, Restored, back_up
from selfeng.projects.workspace import Workspace, WorkspaceFile


class ProjectBuilder:
    """Builds any number of projects at once, on one event loop."""

    def __init__(
        self,
        model: ModelClient,
        sandbox: Sandbox,
        *,
        seconds: float = 30.0,
        tools: FreeTools | None = None,
    ) -> None:
        """`seconds` is what the sandbox gives a job; without `tools` no project imports any."""
        self._deps = BuildDeps(model, sandbox, seconds, tools)

    async def build(
        self,
        options: ProjectOptions,
        emit: OnEvent,
        consent: Consent | None = None,
        *,
        parent: Budget | None = None,
        actions: Sequence[ProgramFunction] = (),
        on_context: OnContext = lambda context: None,
    ) -> Final:
        """Build a project, or continue it; also returns the last event. `parent` is a budget that
        the build draws on, `actions` are functions that the model may choose too, and `on_context`
        gets what is known before each choice.

        Cancelling stops the build and everything that it runs, after its last event.

        Raises:
            RequestError: a new project has no goal, its kept state is damaged, it is being built
                already, or a function can't be an action.
        """
        store, program_actions = ProjectStore(options.project_dir), ProgramActions(actions)
        name = options.project_name
        state = await done_once(
            name_of("project.load", name), lambda *_: asyncio.to_thread(store.load, name)
        )
        goal = options.goal.strip() or (state.goal if state else "")
        if not goal:
            raise RequestError(
                f"the project {options.project_name!r} has no goal",
                "describe it with the option `goal`",
            )
        resumed = state is not None and state.before.epoch > 0
        state = (state or ProjectState(goal=goal)).model_copy(
            update={"goal": goal, "status": "building"}
        )
        with store.claimed(options.project_name):
            return await Build(
                self._deps,
                options,
                store,
                state,
                emit=emit,
                consent=consent or AutoApprove(),
                parent=parent,
                actions=program_actions,
                on_context=on_context,
            ).run(resumed)

    async def act(
        self, store: ProjectStore, name: str, action: WorkAction, emit: OnEvent
    ) -> ActionResult:
        """Perform one action on a project, after a backup.

        Raises:
            WorkspaceError: it can't be done; nothing was changed.
            ResourceNotFound: there is no such project.
            ResourceBusy: it is being built.
            SandboxUnavailable, SandboxFailed: the sandbox is broken.
        """
        state = await asyncio.to_thread(store.existing, name)
        deps, workspace, epoch = self._deps, store.workspace(name), state.before.epoch
        with store.claimed(name):
            emit(choice_of(action, name, epoch))
            backup = str(await asyncio.to_thread(back_up, workspace, store.backups(name)))
            result = await act(
                ActionContext(
                    name, epoch, workspace, deps.sandbox, state.lock, deps.seconds, backup, emit
                ),
                action,
                state,
            )
            if result.log:
                await asyncio.to_thread(
                    store.save, name, state.model_copy(update={"log": result.log})
                )
        return result

    async def restore(self, store: ProjectStore, name: str, number: int, emit: OnEvent) -> Restored:
        """Restore a backup of a project, with an event for each file that changes. Raises: as
        `ProjectStore.restore`.
        """
        state = await asyncio.to_thread(store.existing, name)
        restored = await asyncio.to_thread(store.restore, name, number)
        for change in restored.changes:
            emit(change.event(name, state.before.epoch, str(restored.kept)))
        return restored

    async def run_file(
        self,
        workspace: Workspace,
        path: str,
        arguments: tuple[str, ...] = (),
        beside: Sequence[WorkspaceFile] = (),
    ) -> RunOutcome:
        """Run one file of a workspace in the sandbox, and keep the files that it makes or changes.
        It finds those `beside`, whose paths the workspace does not have, and which stay out of it.

        Raises:
            WorkspaceError: there is no such file, or what it makes is too much.
            SandboxUnavailable, SandboxFailed: the sandbox is broken.
        """
        if not workspace.exists(path):
            raise WorkspaceError(f"there is no file {path}", "name a file of the workspace")
        files = (*await asyncio.to_thread(workspace.files), *beside)
        deps = self._deps
        outcome = await run(
            deps.sandbox, files, [(path, *arguments)], seconds=deps.seconds, limits=workspace.limits
        )
        await asyncio.to_thread(workspace.keep, outcome.made)
        return outcome
