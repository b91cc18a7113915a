"""Running: files of a workspace run only in the sandbox; they are copied in before and out
afterwards.

Code and report share the container of the run, so a report proves nothing against its own project;
to judge tools, use the sandbox's `verify`. A report can't do harm either: paths, sizes and form are
checked again here.
"""

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from selfeng.core.files import File, FileLimits
from selfeng.core.package_lock import PackageLock
from selfeng.core.protocols import Sandbox
from selfeng.core.secrets import without_secrets
from selfeng.core.value import Value
from selfeng.core.verdict import Killed, Raised, Returned, SandboxJob
from selfeng.projects.inside import GIVEN, MADE, run_python
from selfeng.projects.workspace import LIMITS, WorkspaceFile, path_problem

_SOURCE = Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
_OUTPUT = 48 * 1024
"""Bytes of each stream that are kept."""
_REPORTING = 2.0
"""Seconds of processor time that are reserved for packing what was made."""
_PATIENCE = 2.8
"""How many times as long as its processor time a run may take; less than the sandbox allows."""
PYTEST = ("-m", "pytest", "-q", "--tb=short", "--color=no", "-p", "no:cacheprovider")
"""Python's arguments for a run of tests, before the names of the files."""


class PythonRun(Value):
    """The result of one run of Python."""

    arguments: tuple[str, ...]
    """As after `python` on a command line: a file and its arguments, or `-m pytest …`."""
    exit_code: int | None = Field(default=None, ge=-255, le=255)
    """Negative: the number of the signal that ended it; None: it was ended before it could finish.
    """
    ended: str = ""
    """Why it was ended, in one sentence; "" if it ended by itself."""
    stdout: str = ""
    stderr: str = ""
    seconds: float = Field(default=0.0, ge=0, le=1e6, allow_inf_nan=False)

    @property
    def succeeded(self) -> bool:
        """Exit code 0. Output on stderr, such as a warning, is not a failure."""
        return self.exit_code == 0

    @property
    def error(self) -> str:
        """Why it failed, with its error output; "" if it succeeded."""
        if self.succeeded:
            return ""
        code = self.exit_code or 0
        ending = self.ended or (
            f"It was ended by signal {-code}." if code < 0 else f"Exit code {code}."
        )
        return f"{ending}\n{self.stderr}".rstrip()


class RunOutcome(Value):
    """The result of running Python once or several times in one copy of a workspace."""

    runs: tuple[PythonRun, ...]
    made: tuple[WorkspaceFile, ...] = ()
    """The files that are new or changed."""
    refused: tuple[str, ...] = ()
    """A sentence for each file that is refused."""


async def run(
    sandbox: Sandbox,
    files: Sequence[WorkspaceFile],
    commands: Sequence[tuple[str, ...]],
    *,
    seconds: float = 30.0,
    limits: FileLimits = LIMITS,
    lock: PackageLock | None = None,
) -> RunOutcome:
    """Run Python with the arguments of each command, one after the other, in a copy of the files,
    with the further packages of the lock.

    `seconds` of processor time are what the sandbox gives a job. Cancelling ends everything inside.
    Safe to repeat: only the outcome remains.

    Raises:
        RequestError: the files are larger than the sandbox takes, see its `FileLimits`; as one
            archive they are a third larger.
        SandboxUnavailable, SandboxFailed: the sandbox is broken; never because of what the files
            do.
    """
    job = json.dumps(
        {"files": {file.path: base64.b64encode(file.content).decode() for file in files}}
    ).encode()
    run_seconds = max(seconds - _REPORTING, seconds / 2)
    arguments: dict[str, Any] = {
        "commands": [list(command) for command in commands],
        "seconds": run_seconds,
        "wall": _PATIENCE * run_seconds,
        "output": _OUTPUT,
        "count": limits.count,
        "size": limits.size,
    }
    execution = await sandbox.execute(
        SandboxJob(run_python.__name__, _SOURCE, lock=lock),
        arguments,
        [File(name=GIVEN, content=job)],
    )
    match execution:
        case Killed(reason=reason):
            return _unfinished(commands, reason)
        case Raised(type_name=name, message=message):
            return _unfinished(commands, f"The sandbox could not hold the run: {name}: {message}.")
        case Returned(files=result_files, refused_files=refused):
            report = next((file.content for file in result_files if file.name == MADE), None)
            if report is None:
                return _unfinished(
                    commands, " ".join(("The report of the run is missing.", *refused))
                )
            return _read(report, commands, limits)


class _Report(Value):
    """The report of `inside.run_python`, unless the project tampered with it."""

    model_config = ConfigDict(frozen=True, extra="forbid", val_json_bytes="base64")

    runs: tuple[dict[str, str | int | float | None], ...] = Field(max_length=1000)
    files: dict[str, bytes]
    refused: tuple[tuple[str, str], ...]


def _read(content: bytes, commands: Sequence[tuple[str, ...]], limits: FileLimits) -> RunOutcome:
    try:
        report = _Report.model_validate_json(content)
        runs = tuple(
            PythonRun.model_validate(
                {
                    "arguments": command,
                    **{name: _safe_value(value) for name, value in fields.items()},
                }
            )
            for command, fields in zip(commands, report.runs, strict=True)
        )
    except ValueError:
        return _unfinished(
            commands, "The report of the run is damaged, by the project's own processes."
        )
    files: list[WorkspaceFile] = []
    refused = [(path, reason) for path, reason in report.refused]
    bytes_left = limits.size
    for path, data in report.files.items():
        if problem := path_problem(path):
            refused.append((path, problem))
        elif len(data) > bytes_left or len(files) == limits.count:
            refused.append((path, "it is more than the workspace takes"))
        else:
            bytes_left -= len(data)
            files.append(WorkspaceFile(path=path, content=data))
    refusals = tuple(
        f"{_safe_value(path)[:200]!r}: {reason[:200]}" for path, reason in refused[: limits.count]
    )
    return RunOutcome(runs=runs, made=tuple(files), refused=refusals)


def _unfinished(commands: Sequence[tuple[str, ...]], reason: str) -> RunOutcome:
    return RunOutcome(
        runs=tuple(PythonRun(arguments=command, ended=reason) for command in commands)
    )


def _safe_value(value: Any) -> Any:
    """A value of the report: text without credentials, no longer than a run may produce."""
    return (
        without_secrets(value[: 2 * _OUTPUT].encode("utf-8", "backslashreplace").decode())
        if isinstance(value, str)
        else value
    )
