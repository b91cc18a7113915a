"""Actions that a program adds to a build: functions of its own, which the model may choose."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, Union

from pydantic import Field, create_model

from selfeng.core.errors import RequestError, WorkspaceError
from selfeng.projects.acting import ActionContext, ActionResult
from selfeng.projects.actions import PROJECT_ACTIONS, Action, ActionSet, ProjectAction
from selfeng.projects.edits import differences
from selfeng.projects.project_context import Context

ProgramFunction = Callable[..., Any]
"""`function(context, ...)`, async or not. The model reads its docstring and its annotated
parameters; what it returns is told to the model as text.
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
