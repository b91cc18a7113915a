"""The actions on a workspace and of a build: frozen values, told apart by `action`; agents, command
line and page use only these.
"""

import json
from collections.abc import Collection, Iterable
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from selfeng.core.errors import WorkspaceError
from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.core.value import Value
from selfeng.core.words import shortened
from selfeng.projects.workspace import WorkspacePath

_SHOWN = 80

Line = Annotated[int, Field(ge=1, description="Number of a line, from 1.")]


class Action(Value):
    """Base of all actions; the docstring of each is what the model reads of it."""

    reasoning: str = Field(
        "", description="One or two sentences: what is wrong or lacking, and why this comes next."
    )


class WholeFile(Action):
    """A text file."""

    name: WorkspacePath = Field(
        description="Path below the project's folder, such as `main.py` or `tests/test_main.py`."
    )
    body: str = Field(description="The whole text of the file.")


class CreateFile(WholeFile):
    """Create a file that is not there yet."""

    action: Literal["create_file"] = "create_file"


class WriteFile(WholeFile):
    """Write a whole file, in the place of the one that is there. For small changes prefer the
    actions on lines.
    """

    action: Literal["write_file"] = "write_file"


class ReplaceLines(Action):
    """Replace the lines from `first` to `last`, both inclusive, by `text`. All other lines stay as
    they are.
    """

    action: Literal["replace_lines"] = "replace_lines"
    name: WorkspacePath
    first: Line
    last: Line
    text: str = Field(description="The new lines, with their indentation and without line numbers.")


class InsertLines(Action):
    """Insert `text` in front of a line; the number after the last line adds it at the end."""

    action: Literal["insert_lines"] = "insert_lines"
    name: WorkspacePath
    line: Line
    text: str = Field(description="The new lines, with their indentation and without line numbers.")


class RemoveLines(Action):
    """Remove the lines from `first` to `last`, both inclusive."""

    action: Literal["remove_lines"] = "remove_lines"
    name: WorkspacePath
    first: Line
    last: Line


class DeleteFile(Action):
    """Delete a file."""

    action: Literal["delete_file"] = "delete_file"
    name: WorkspacePath


class ExecutePyFile(Action):
    """Run a Python file in the sandbox; its output, or the error, is shown with the next step.
    Files that it makes are kept.
    """

    action: Literal["execute_py_file"] = "execute_py_file"
    name: WorkspacePath
    arguments: tuple[str, ...] = Field((), max_length=50, description="Command-line arguments.")


class RunTests(Action):
    """Run the tests with pytest in the sandbox."""

    action: Literal["run_tests"] = "run_tests"
    name: WorkspacePath | None = Field(None, description="One file of tests; null for all of them.")


class ReadRun(Action):
    """Read more of what has happened so far: the list of actions, or the output of the last
    runs.
    """

    action: Literal["read_run"] = "read_run"
    what: Literal["activity", "log"]
    last: int = Field(40, ge=1, le=400, description="How many lines, counted from the end.")


Edit = CreateFile | WriteFile | ReplaceLines | InsertLines | RemoveLines | DeleteFile
"""The actions that change a file."""
WorkAction = Edit | ExecutePyFile | RunTests | ReadRun
"""Those that a person may choose too."""

ActionT = TypeVar("ActionT", bound=Action)


class ActionSet(Generic[ActionT]):
    """Some actions as functions that a model can call; also reads its calls."""

    def __init__(self, union: Any) -> None:
        """`union` is an annotated union of kinds of actions."""
        self._adapter: TypeAdapter[ActionT] = TypeAdapter(union)
        kinds: tuple[type[Action], ...] = get_args(get_args(union)[0])
        self._kinds = {kind.model_fields["action"].default: kind for kind in kinds}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._kinds)

    def functions(self, without: Collection[str] = ()) -> tuple[FunctionSchema, ...]:
        """A function for each action, except those in `without`."""
        return tuple(
            _function(name, kind) for name, kind in self._kinds.items() if name not in without
        )

    def read(self, call: FunctionCall) -> ActionT:
        """The action of a call; its arguments are checked and never evaluated.

        Raises:
            WorkspaceError: names each argument that can't be used, its value and what is allowed.
        """
        if call.name not in self._kinds:
            raise WorkspaceError(
                f"unknown action {call.name!r}", f"choose one of {', '.join(self._kinds)}"
            )
        arguments = {name: value for name, value in call.arguments.items() if name != "action"}
        try:
            return self._adapter.validate_json(json.dumps({"action": call.name, **arguments}))
        except (ValidationError, ValueError, RecursionError) as error:
            problems = _problems(error) if isinstance(error, ValidationError) else [str(error)]
            raise WorkspaceError(
                f"{call.name} can't be done: {'; '.join(problems)}",
                "correct the arguments and call it again",
            ) from error


WORKSPACE_ACTIONS: ActionSet[Any] = ActionSet(Annotated[WorkAction, Field(discriminator="action")])


def _function(name: str, kind: type[Action]) -> FunctionSchema:
    schema = kind.model_json_schema()
    fields: dict[str, Any] = {
        field: _plain(s) for field, s in schema["properties"].items() if field != "action"
    }
    parameters = {
        "type": "object",
        "properties": fields,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
    return FunctionSchema(
        name=name, description=(kind.__doc__ or "").strip(), parameters=parameters
    )


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("title", "default")}


def _problems(error: ValidationError) -> Iterable[str]:
    for detail in error.errors(include_url=False):
        place = ".".join(str(part) for part in detail["loc"][1:]) or "arguments"
        value = (
            "" if detail["type"] == "missing" else f"={shortened(repr(detail['input']), _SHOWN)}"
        )
        yield f"{place}{value}: {detail['msg'].removeprefix('Value error, ')}"


class AddPackage(Action):
    """Ask for a Python package that the sandbox does not have. A person has to approve it."""

    action: Literal["add_package"] = "add_package"
    package: str = Field(
        description="Name of the package as it is imported or installed.", max_length=100
    )


class Finish(Action):
    """Say that the goal is met: everything that it asks for is there, tested, and works."""

    action: Literal["finish"] = "finish"
    summary: str = Field(
        description="What was built and how to use it, in two or three sentences for the person.",
        max_length=4000,
    )


class GiveUp(Action):
    """Say that the goal can't be met, whatever the steps: it needs what is not there, or
    contradicts itself.
    """

    action: Literal["give_up"] = "give_up"
    reason: str = Field(
        description="What stands in the way, in one or two sentences for the person.",
        max_length=4000,
    )


ProjectAction = WorkAction | AddPackage | Finish | GiveUp
PROJECT_ACTIONS: ActionSet[ProjectAction] = ActionSet(
    Annotated[ProjectAction, Field(discriminator="action")]
)
