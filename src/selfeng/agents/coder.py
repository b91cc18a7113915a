"""The coder: writes Python and runs it in the sandbox, step by step, until the work is done."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from selfeng.agents.agent import (
    Function,
    FunctionArguments,
    FunctionCallingAgent,
    Outcome,
    Task,
)
from selfeng.agents.agent_functions import common
from selfeng.core.composition import FreeTools
from selfeng.core.errors import RequestError, stage
from selfeng.core.events import CodeRun, FilesMade
from selfeng.core.files import File, FileName
from selfeng.core.protocols import ModelClient
from selfeng.core.value import StrictlyOptional
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened

NAME = "coder"
MOST_STEPS = 16
"""Calls for one message."""
_SHOWN = 4_000
"""Characters of an output that the model sees."""


_SOURCE = 20_000
"""Characters of a file that the event of its run shows."""
_AS_SCRIPT = """\
import runpy
import sys

sys.argv = {argv!r}
runpy.run_path({name!r}, run_name="__main__")
"""


class RunPython(FunctionArguments):
    """Run Python source in a fresh process, in the folder that holds your files, and get what it
    prints or raises.

    Variables do not outlive a run; files do.
    """

    function = "run_python"
    code: str = Field(description="The whole source.", min_length=1)


class CreateTextFile(FunctionArguments):
    """Write a text file, or replace it."""

    function = "create_file"
    name: FileName = Field(description="Without a folder, such as `main.py`.")
    content: str = Field(description="The whole text.")


class RunFile(FunctionArguments):
    """Run one of your Python files in a fresh process, as a person would from the command line."""

    function = "run_file"
    name: str
    arguments: StrictlyOptional[tuple[str, ...]] = Field(
        default=(), description="What follows its name on the command line."
    )


class DeleteFiles(FunctionArguments):
    """Delete files that are needed no more, such as where there are too many to run code."""

    function = "delete_files"
    names: tuple[str, ...]


class FindTools(FunctionArguments):
    """Find tested tools that your code may import, each by the line that comes with it."""

    function = "find_tools"
    request: str = Field(description="What the tool should do.", min_length=1)


def coder(
    model: ModelClient, most_steps: int = MOST_STEPS, *, tools: FreeTools | None = None
) -> FunctionCallingAgent:
    """The agent; its code runs in the workspace of the task, and may import the `tools`."""
    return FunctionCallingAgent(
        "coder",
        "Writes Python and runs it step by step in a sandbox, with files; for work that takes "
        "trying out or leaves files.",
        model,
        partial(_functions, tools),
        most_steps,
    )


def _functions(tools: FreeTools | None, task: Task) -> Sequence[Function]:
    runs = 0

    async def run(call: RunPython) -> Outcome:
        nonlocal runs
        runs += 1
        modules = await tools.modules(call.code) if tools else {}
        return await _run(task, runs, call.code, modules)

    async def find(call: FindTools) -> Outcome:
        found_tools = await tools.find(call.request) if tools else ()
        return {
            "tools": [
                {"import": f"from {tool.name} import {tool.name}", "signature": str(tool.signature)}
                | {"description": tool.description}
                for tool in found_tools
            ]
        }

    async def create(call: CreateTextFile) -> Outcome:
        file = File(name=call.name, content=call.content.encode(errors="replace"))
        task.workspace.put([file])
        task.turn.emit(FilesMade(tool=NAME, files=(file.reference(),), contents=(file,)))
        return {"files": task.workspace.names}

    async def run_file(call: RunFile) -> Outcome:
        if call.name not in task.workspace.names:
            return {"error": f"there is no file {call.name}", "files": task.workspace.names}
        nonlocal runs
        runs += 1
        file = next(f for f in task.workspace.files if f.name == call.name)
        source, argv = file.in_memory().content, [call.name, *call.arguments]
        code = _AS_SCRIPT.format(argv=argv, name=call.name)
        listing = f"# {' '.join(argv)}\n{source.decode(errors='replace')}"
        modules = await tools.modules(source.decode(errors="replace")) if tools else {}
        return await _run(task, runs, code, modules, shortened(listing, _SOURCE))

    async def delete(call: DeleteFiles) -> Outcome:
        unknown = task.workspace.delete(call.names)
        return {"files": task.workspace.names} | (
            {"error": f"there was no file {', '.join(unknown)}"} if unknown else {}
        )

    return (
        Function(RunPython, run),
        Function(CreateTextFile, create),
        Function(RunFile, run_file),
        Function(DeleteFiles, delete),
        *((Function(FindTools, find),) if tools else ()),
        *common(task),
    )


async def _run(
    task: Task, run: int, code: str, modules: Mapping[str, str], display_code: str = ""
) -> Outcome:
    """Run the code; its event shows `display_code`, if given, instead of the code."""
    turn, started = task.turn, time.monotonic()
    turn.emit(CodeRun(run=run, state="started", code=display_code or code))
    try:
        with stage(NAME):
            execution = await task.workspace.run(code, modules)
    except RequestError as error:
        turn.emit(CodeRun(run=run, state="failed", seconds=time.monotonic() - started))
        return {
            "error": error.message,
            "remedy": "call delete_files for those you no longer need",
        }
    state = "finished" if isinstance(execution, Returned) else "failed"
    turn.emit(
        CodeRun(run=run, state=state, execution=execution, seconds=time.monotonic() - started)
    )
    if not isinstance(execution, Killed) and execution.files:
        turn.emit(
            FilesMade(
                tool=NAME,
                files=tuple(f.reference() for f in execution.files),
                contents=execution.files,
            )
        )
    return _run_outcome(execution) | {"files": task.workspace.names}


def _run_outcome(execution: Execution) -> dict[str, Any]:
    """The outcome of a run, as JSON for the model."""
    printed = {"printed": shortened(execution.stdout, _SHOWN)}
    match execution:
        case Returned():
            return {"outcome": "ended", **printed} | _refused(execution)
        case Raised():
            raised = f"{execution.type_name}: {execution.message}"
            trace = {"traceback": shortened(execution.traceback, _SHOWN)}
            return {"outcome": "raised", "error": raised, **trace, **printed} | _refused(execution)
        case Killed():
            return {"outcome": "killed", "error": execution.reason, **printed}


def _refused(execution: Returned | Raised) -> dict[str, Any]:
    return {"lost_files": execution.refused_files} if execution.refused_files else {}
