"""Examination: what a project is worth as it stands, found by validating its files and running tests and main in the sandbox."""

import fnmatch
from collections.abc import Sequence

from selfeng.core.protocols import Sandbox
from selfeng.core.value import Value
from selfeng.core.words import count
from selfeng.projects.checks import local_modules, problem
from selfeng.projects.workspace.folder import WorkspaceFile
from selfeng.projects.workspace.paths import WorkspaceLimits
from selfeng.projects.workspace.running import PYTEST, PythonRun, run

MAIN = "main.py"
_TESTS = ("test_*.py", "*_test.py")
_NOT_TEXT = "it is no text in UTF-8"


class FileReport(Value):
    """What is known of one Python file."""

    path: str
    validation_error: str | None = None
    tests: PythonRun | None = None
    """The run of pytest on it; None where it holds no tests, or nothing could be run."""


class Examination(Value):
    """What is known of a project; the result of one step that can be repeated."""

    files: tuple[FileReport, ...]
    """The Python files."""
    main: PythonRun | None = None
    """None where there is no main.py, or nothing could be run."""
    made: tuple[WorkspaceFile, ...] = ()
    """What main has made or changed in its copy of the project."""
    refused: tuple[str, ...] = ()

    @property
    def invalid(self) -> tuple[FileReport, ...]:
        return tuple(file for file in self.files if file.validation_error)

    @property
    def tested(self) -> tuple[FileReport, ...]:
        return tuple(file for file in self.files if file.tests)

    @property
    def runs(self) -> tuple[PythonRun, ...]:
        """Of the tests, then of main."""
        return tuple(filter(None, (*(file.tests for file in self.files), self.main)))

    @property
    def passing(self) -> bool:
        """Whether there are tests or a main, and all of them come to a good end."""
        return bool(self.runs) and all(run.succeeded for run in self.runs)

    @property
    def words(self) -> str:
        """One sentence on how far the project has come."""
        passed = sum(file.tests.succeeded for file in self.tested if file.tests)
        facts = [f"{count(len(self.files), 'Python file')}, {len(self.invalid)} of them invalid"]
        facts += [f"{passed} of {count(len(self.tested), 'file')} of tests pass"] if self.tested else []
        facts += [f"{MAIN} {'works' if self.main.succeeded else 'fails'}"] if self.main else []
        return "; ".join(facts) + "."


async def examine(
    sandbox: Sandbox,
    files: Sequence[WorkspaceFile],
    *,
    seconds: float,
    limits: WorkspaceLimits,
    extra: Sequence[str] = (),
    allowed: Sequence[str] = (),
) -> Examination:
    """Validate every Python file; if all are valid, run the tests of each file and main.py in the sandbox, in copies of their own.

    Raises:
        SandboxUnavailable, SandboxFailed: the sandbox is broken.
    """
    python = [file for file in files if file.path.endswith(".py")]
    local = local_modules([file.path for file in files])
    errors = {file.path: _problem(file, local, extra, allowed) for file in python}
    if any(errors.values()) or not python:
        return Examination(files=tuple(FileReport(path=path, validation_error=error) for path, error in errors.items()))
    tests = [path for path in errors if is_test(path)]
    runs: dict[str, PythonRun] = {}
    if tests:
        outcome = await run(sandbox, files, [(*PYTEST, path) for path in tests], seconds=seconds, limits=limits)
        runs = dict(zip(tests, outcome.runs, strict=True))
    reports = tuple(FileReport(path=path, tests=runs.get(path)) for path in errors)
    if MAIN not in errors:
        return Examination(files=reports)
    outcome = await run(sandbox, files, [(MAIN,)], seconds=seconds, limits=limits)
    return Examination(files=reports, main=outcome.runs[0], made=outcome.made, refused=outcome.refused)


def is_test(path: str) -> bool:
    """Whether pytest looks for tests in a file of that name."""
    name = path.rpartition("/")[2]
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _TESTS)


def _problem(file: WorkspaceFile, local: frozenset[str], extra: Sequence[str], allowed: Sequence[str]) -> str | None:
    try:
        return problem(file.content.decode(), local, extra, allowed)
    except UnicodeDecodeError:
        return _NOT_TEXT
