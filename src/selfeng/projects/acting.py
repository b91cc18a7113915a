"""Acting: performs the chosen action, which may be a function of the program that builds. The
result is text for the next prompt, and events.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, assert_never

from pydantic import Field, create_model

from selfeng.core.errors import RequestError, WorkspaceError
from selfeng.core.package_lock import PackageLock
from selfeng.core.project_events import ProjectActChosen
from selfeng.core.protocols import Sandbox
from selfeng.core.value import Value
from selfeng.core.words import count
from selfeng.projects.actions import (
    PROJECT_ACTIONS,
    Action,
    ActionSet,
    CreateFile,
    DeleteFile,
    ExecutePyFile,
    InsertLines,
    ProjectAction,
    ReadRun,
    RemoveLines,
    ReplaceLines,
    RunTests,
    WorkAction,
    WriteFile,
)
from selfeng.projects.edits import apply, differences
from selfeng.projects.examining import Emit, emit_run, emit_tests, format_run, test_files
from selfeng.projects.project_context import Context
from selfeng.projects.running import PYTEST, RunOutcome, run
from selfeng.projects.state import ProjectState
from selfeng.projects.workspace import Workspace


class ActionResult(Value):
    """The result of an action."""

    text: str
    """For the model."""
    log: str = ""
    """The output of a run."""
    changed: bool = False
    """Whether the project's files have changed."""


@dataclass(frozen=True)
class ActionContext:
    """Where actions are performed."""

    project: str
    epoch: int
    workspace: Workspace
    sandbox: Sandbox
    lock: PackageLock | None
    """The packages of the project."""
    seconds: float
    backup: str
    emit: Emit


def choice_of(action: Any, project: str, epoch: int, prompt: str = "") -> ProjectActChosen:
    """The choice of an action as an event; `prompt` is the name of the one behind it."""
    return ProjectActChosen(
        project=project,
        epoch=epoch,
        action=action.action,
        arguments=action.model_dump_json(exclude={"action", "reasoning"}),
        reasoning=action.reasoning,
        prompt=prompt,
    )


async def act(context: ActionContext, action: WorkAction, state: ProjectState) -> ActionResult:
    """Perform the action.

    Raises:
        WorkspaceError: it can't be done; nothing was changed.
        SandboxUnavailable, SandboxFailed: the sandbox is broken.
    """
    match action:
        case (
            CreateFile()
            | WriteFile()
            | ReplaceLines()
            | InsertLines()
            | RemoveLines()
            | DeleteFile()
        ):
            change = await asyncio.to_thread(apply, context.workspace, action)
            context.emit(change.event(context.project, context.epoch, context.backup))
            return ActionResult(
                text=f"{change.path} is {change.kind}.\n{change.diff}".rstrip(),
                changed=change.kind != "unchanged",
            )
        case ExecutePyFile():
            return await _execute(context, action)
        case RunTests():
            return await _test(context, action)
        case ReadRun(what="log"):
            return ActionResult(
                text=_last(state.log, action.last) or "No run has printed anything so far."
            )
        case ReadRun():
            lines = "\n".join(map(str, state.activity))
            return ActionResult(text=_last(lines, action.last) or "No action was taken so far.")
        case _:
            assert_never(action)


async def _execute(context: ActionContext, action: ExecutePyFile) -> ActionResult:
    if not action.name.endswith(".py") or not context.workspace.exists(action.name):
        raise WorkspaceError(
            f"there is no Python file {action.name}", "create it first, or name another one"
        )
    outcome = await _run(context, [(action.name, *action.arguments)])
    ran = outcome.runs[0]
    kept_paths = await asyncio.to_thread(context.workspace.keep, outcome.made)
    emit_run(context.emit, context.project, context.epoch, ran, outcome)
    made_note = f"\nIt made {', '.join(kept_paths)}." if kept_paths else ""
    refused = "".join(f"\nNot kept: {problem}." for problem in outcome.refused)
    return ActionResult(
        text=f"{format_run(ran)}{made_note}{refused}", log=format_run(ran), changed=bool(kept_paths)
    )


async def _test(context: ActionContext, action: RunTests) -> ActionResult:
    paths = test_files(await asyncio.to_thread(context.workspace.files))
    if action.name is not None and action.name not in paths:
        raise WorkspaceError(
            f"there is no file of tests {action.name}", f"there are: {', '.join(paths) or 'none'}"
        )
    test_paths = [action.name] if action.name else paths
    if not test_paths:
        raise WorkspaceError("there are no tests", "create a file such as test_main.py")
    outcome = await _run(context, [(*PYTEST, path) for path in test_paths])
    for path, ran in zip(test_paths, outcome.runs, strict=True):
        emit_tests(context.emit, context.project, context.epoch, path, ran)
    passed = sum(ran.succeeded for ran in outcome.runs)
    log = "\n".join(format_run(ran) for ran in outcome.runs)
    return ActionResult(
        text=f"{passed} of {count(len(test_paths), 'file')} of tests pass.\n{log}", log=log
    )


async def _run(context: ActionContext, commands: list[tuple[str, ...]]) -> RunOutcome:
    files = await asyncio.to_thread(context.workspace.files)
    return await run(
        context.sandbox,
        files,
        commands,
        seconds=context.seconds,
        limits=context.workspace.limits,
        lock=context.lock,
    )


def _last(text: str, lines: int) -> str:
    return "\n".join(text.splitlines()[-lines:])


ProgramFunction = Callable[..., Any]
"""`function(context, ...)`, async or not. The model reads its docstring and its annotated
parameters; the model gets its return value as text.
"""


class ProgramActions:
    """The actions of a build: its own, and those of the program. These run in the program itself,
    not in the sandbox.
    """

    def __init__(self, functions: Sequence[ProgramFunction]) -> None:
        """Raises: RequestError: a function can't be an action."""
        self._functions = {function.__name__: function for function in functions}
        kinds = (ProjectAction, *map(_kind, functions))
        self.all: ActionSet[Any] = ActionSet(
            Annotated[Union[kinds], Field(discriminator="action")]  # noqa: UP007  they are known when it runs
        )

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    async def act(self, scene: ActionContext, action: Any, context: Context) -> ActionResult:
        """Call the program's function, in a thread if it is not async. Raises: WorkspaceError: it
        raised an error.
        """
        function, workspace = self._functions[action.action], scene.workspace
        before = await asyncio.to_thread(workspace.files)
        arguments = {name: getattr(action, name) for name in _parameters(function)}
        try:
            result = await asyncio.to_thread(function, context, **arguments)
            result = await result if inspect.isawaitable(result) else result
        except Exception as error:
            raise WorkspaceError(
                f"{action.action} raised {type(error).__name__}: {error}", "choose another action"
            ) from error
        for change in differences(before, await asyncio.to_thread(workspace.files)):
            scene.emit(change.event(scene.project, scene.epoch, scene.backup))
        return ActionResult(text="It is done." if result is None else str(result), changed=True)


def _parameters(function: ProgramFunction) -> dict[str, inspect.Parameter]:
    """Those besides the context."""
    return dict(list(inspect.signature(function, eval_str=True).parameters.items())[1:])


def _kind(function: ProgramFunction) -> type[Action]:
    name, doc = function.__name__, inspect.getdoc(function)
    parameters = _parameters(function)
    if not doc or name in PROJECT_ACTIONS.names or {"action", "reasoning"} & parameters.keys():
        raise RequestError(
            f"the function {name!r} can't be an action",
            "give it a docstring and a name that no action has, and no parameter `action` or "
            "`reasoning`",
        )
    fields: dict[str, Any] = {"action": (Literal[name], name)}
    fields |= {
        key: (
            Any if parameter.annotation is parameter.empty else parameter.annotation,
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for key, parameter in parameters.items()
    }
    return create_model(name, __base__=Action, __doc__=doc, **fields)
