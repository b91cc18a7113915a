"""The events of a project's build; part of the union in `events`."""

from typing import Literal

from selfeng.core.files import media_type
from selfeng.core.stage_event import FailureEvent, FinalEvent, StageEvent
from selfeng.core.value import Value


class ProjectFile(Value):
    """A file that a run of a project made."""

    path: str
    """Relative to the project's folder."""
    size: int
    """Bytes."""
    media_type: str

    @classmethod
    def of(cls, path: str, content: bytes) -> "ProjectFile":
        return cls(path=path, size=len(content), media_type=media_type(path, content))


class ProjectEvent(StageEvent):
    """An event of a build."""

    project: str


class ProjectStep(ProjectEvent):
    """An event of a build that has examined the project."""

    epoch: int
    """How many times, from 1."""


class ProjectStarted(ProjectEvent):
    """A build began."""

    type: Literal["project_started"] = "project_started"
    goal: str
    path: str
    """The project's folder on the server."""
    file_count: int
    resumed: bool
    """Whether it continues an earlier build."""


class ProjectReasoned(ProjectStep):
    """The build examined the project: every Python file validated, tests and main run."""

    type: Literal["project_reasoned"] = "project_reasoned"
    file_count: int
    python_files: int
    invalid: tuple[str, ...]
    """A sentence for each file that failed validation."""
    tests_passed: int
    """Files of tests."""
    tests_failed: int
    main_success: bool | None
    """None if there is no main.py."""
    seconds: float = 0.0


class ProjectActChosen(ProjectStep):
    """The model chose the next action."""

    type: Literal["project_act_chosen"] = "project_act_chosen"
    action: str
    arguments: str
    """As JSON text of an object."""
    reasoning: str
    """Why, in the model's words."""
    prompt: str = ""
    """Name of the prompt behind the choice."""


class ProjectPaused(ProjectStep):
    """The chosen action waits for approval: every action in step mode, a package always."""

    type: Literal["project_paused"] = "project_paused"
    action: str
    package: str = ""
    """The package to approve; "" in step mode."""


class ProjectChanged(ProjectStep):
    """An action changed a file."""

    type: Literal["project_changed"] = "project_changed"
    path: str
    change: Literal["created", "edited", "deleted", "unchanged"]
    diff: str
    """Unified."""
    backup: str
    """The zip of the project before the change."""


class ProjectRan(ProjectStep):
    """A run of a Python file ended in the sandbox."""

    type: Literal["project_ran"] = "project_ran"
    path: str
    arguments: tuple[str, ...] = ()
    success: bool
    exit_code: int | None
    ended: str
    """Why the sandbox ended it; "" if it did not."""
    stdout: str
    stderr: str
    made: tuple[ProjectFile, ...] = ()
    """The files that it made or changed, now in the project's folder."""
    refused: tuple[str, ...] = ()
    """A sentence for each file that was refused."""
    seconds: float = 0.0


class ProjectTested(ProjectStep):
    """The tests of a file ended in the sandbox."""

    type: Literal["project_tested"] = "project_tested"
    path: str
    success: bool
    output: str
    seconds: float = 0.0


class ProjectFinished(ProjectEvent, FinalEvent):
    """Everything passes, and the model judges the goal met."""

    type: Literal["project_finished"] = "project_finished"
    summary: str
    steps: int
    """Number of actions of this build."""


class ProjectFailed(ProjectEvent, FailureEvent, FinalEvent):
    """The build gave up."""

    type: Literal["project_failed"] = "project_failed"
    reached: str = ""
    """How far the project got, in one sentence."""
    steps: int = 0


class ProjectStopped(ProjectEvent, FinalEvent):
    """The build was stopped on request; another build can continue it."""

    type: Literal["project_stopped"] = "project_stopped"
    reason: str
    steps: int = 0


PROJECT_FINAL = (ProjectFinished, ProjectFailed, ProjectStopped)
"""Exactly one of these ends every build."""
AnyProjectEvent = (
    ProjectStarted
    | ProjectReasoned
    | ProjectActChosen
    | ProjectPaused
    | ProjectChanged
    | ProjectRan
    | ProjectTested
    | ProjectFinished
    | ProjectFailed
    | ProjectStopped
)
