"""The coder: writes Python and runs it in the sandbox, step by step, until the work is done."""

import time
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from selfeng.agents.agent import Function, FunctionCallingAgent, Outcome, Task
from selfeng.agents.agent_functions import common
from selfeng.core.errors import RequestError, stage
from selfeng.core.events import CodeRun, FilesMade
from selfeng.core.protocols import ModelClient
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import shortened

NAME = "coder"
MOST_STEPS = 16
"""Calls for one message."""
_SHOWN = 4_000
"""Characters of an output that the model sees."""


class RunPython(Value):
    """Run Python source in a fresh process, in the folder that holds your files, and get what it
    prints or raises.

    Variables do not outlive a run; files do.
    """

    code: str = Field(description="The whole source.", min_length=1)


class DeleteFiles(Value):
    """Delete files that are needed no more, such as where there are too many to run code."""

    names: tuple[str, ...]


def coder(model: ModelClient, most_steps: int = MOST_STEPS) -> FunctionCallingAgent:
    """The agent; its code runs in the workspace of the task."""
    does = (
        "Writes Python and runs it step by step in a sandbox, with files; for work that takes "
        "trying out or leaves files."
    )
    return FunctionCallingAgent("coder", does, model, _functions, most_steps)


def _functions(task: Task) -> Sequence[Function]:
    runs = 0

    async def run(given: RunPython) -> Outcome:
        nonlocal runs
        runs += 1
        return await _run(task, runs, given.code)

    async def delete(given: DeleteFiles) -> Outcome:
        unknown = task.workspace.delete(given.names)
        return {"files": task.workspace.names} | (
            {"error": f"there was no file {', '.join(unknown)}"} if unknown else {}
        )

    return (
        Function(RunPython, run, "run_python"),
        Function(DeleteFiles, delete, "delete_files"),
        *common(task),
    )


async def _run(task: Task, run: int, code: str) -> Outcome:
    turn, started = task.turn, time.monotonic()
    turn.emit(CodeRun(run=run, state="started", code=code))
    try:
        with stage(NAME):
            execution = await task.workspace.run(code)
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
    return _told(execution) | {"files": task.workspace.names}


def _told(execution: Execution) -> dict[str, Any]:
    """What the model is told of a run."""
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
