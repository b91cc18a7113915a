"""The project builder: what builds share, and how one begins. The loop itself is in `loop`."""

import asyncio

from src.core.errors import RequestError, WorkspaceError
from src.core.protocols import ModelClient, Sandbox
from src.projects.consent import Consent, Given
from src.projects.loop import Build, Emit, Final, Means, Packages
from src.projects.options import ProjectOptions
from src.projects.store import ProjectState, ProjectStore
from src.workspace.folder import Workspace
from src.workspace.running import RunOutcome, run


class ProjectBuilder:
    """Builds any number of projects at once, on one event loop."""

    def __init__(self, model: ModelClient, sandbox: Sandbox, *, seconds: float = 30.0, packages: Packages | None = None) -> None:
        """`seconds` is what the sandbox gives a job."""
        self._means = Means(model, sandbox, seconds, packages)

    async def build(self, options: ProjectOptions, emit: Emit, consent: Consent | None = None) -> Final:
        """Build a project, or go on with it; the last event is also returned.

        Cancelling stops the build after its last event, with everything that it runs.

        Raises:
            RequestError: a new project has no goal, its kept state is damaged, or it is being built already.
        """
        store = ProjectStore(options.project_dir)
        state = await asyncio.to_thread(store.load, options.project_name)
        goal = options.goal.strip() or (state.goal if state else "")
        if not goal:
            raise RequestError(f"the project {options.project_name!r} has no goal", "say what it is to do, by the option `goal`")
        resumed = state is not None
        state = (state or ProjectState(goal=goal)).model_copy(update={"goal": goal, "status": "building"})
        with store.claimed(options.project_name):
            return await Build(self._means, options, store, state, emit=emit, consent=consent or Given()).run(resumed)

    async def run_file(self, workspace: Workspace, path: str, arguments: tuple[str, ...] = ()) -> RunOutcome:
        """Run one file of a workspace in the sandbox, and keep the files that it makes.

        Raises:
            WorkspaceError: there is no such file, or what it makes is too much.
            SandboxUnavailable, SandboxFailed: the sandbox is broken.
        """
        if not workspace.exists(path):
            raise WorkspaceError(f"there is no file {path}", "name a file of the workspace")
        files = await asyncio.to_thread(workspace.files)
        means = self._means
        outcome = await run(means.sandbox, files, [(path, *arguments)], seconds=means.seconds, limits=workspace.limits)
        await asyncio.to_thread(workspace.keep, outcome.made)
        return outcome
