"""Examination: the state of a project. Files are validated without a run; tests and main run in the
sandbox.
"""

import ast
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from types import MappingProxyType

from selfeng.core.composition import is_copy, local_modules
from selfeng.core.files import FileLimits
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import sandbox_packages
from selfeng.core.project_events import (
    AnyProjectEvent,
    ProjectFile,
    ProjectRan,
    ProjectReasoned,
    ProjectTested,
)
from selfeng.core.protocols import Sandbox
from selfeng.core.value import Value
from selfeng.core.words import count
from selfeng.projects.running import PYTEST, PythonRun, RunOutcome, run
from selfeng.projects.workspace import WorkspaceFile

_TESTING = frozenset({"pytest", "_pytest"})
_ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


def problem(
    source: str, local: Collection[str], extra: Collection[str] = (), allowed: Collection[str] = ()
) -> str | None:
    """The problem of the source; None if there is none.

    `local` are the project's own modules, `extra` the packages that were added for it, `allowed`
    those that may be requested.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except SyntaxError as error:
        source_line = f": {error.text.strip()}" if error.text else ""
        where = f" in line {error.lineno}" if error.lineno else ""
        return f"{type(error).__name__}{where}: {error.msg}{source_line}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it is not Python source: {error}"
    known_modules = (
        frozenset(sys.stdlib_module_names)
        | frozenset(sandbox_packages())
        | _TESTING
        | frozenset(local)
        | frozenset(extra)
    )
    for line, module in () if is_copy(source) else sorted(set(_imports(tree.body))):
        if module not in known_modules:
            ask = "; add_package asks for it" if module in allowed else ""
            return (
                f"line {line} imports {module}, which is not a module of this project, the "
                "standard library or the sandbox "
                f"({', '.join(sandbox_packages())}){ask}"
            )
    return None


def imported(files: Sequence[WorkspaceFile]) -> frozenset[str]:
    """The top-level modules that the files import, all of which are valid."""
    with warnings.catch_warnings(action="ignore"):
        trees = [ast.parse(file.content) for file in files if file.path.endswith(".py")]
    return frozenset(module for tree in trees for _, module in _imports(tree.body))


def _imports(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Line and top-level name of each import, except those that the source can do without."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]
            case ast.Try(handlers=handlers) if any(_excuses(handler) for handler in handlers):
                continue
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from _imports(
                        [part for part in getattr(node, block, ()) if isinstance(part, ast.stmt)]
                    )
                for handler in getattr(node, "handlers", ()):
                    yield from _imports(handler.body)


def _excuses(handler: ast.ExceptHandler) -> bool:
    names = (
        []
        if handler.type is None
        else [n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)]
    )
    return handler.type is None or any(name in _ABSENT for name in names)


MAIN = "main.py"
_TESTS = ("test_*.py", "*_test.py")
_NOT_TEXT = "it is not UTF-8 text"


class FileReport(Value):
    """The validation and the test run of one Python file."""

    path: str
    validation_error: str | None = None
    tests: PythonRun | None = None
    """The run of pytest on it; None if it has no tests, or nothing could be run."""


class Examination(Value):
    """The checks of a project's files and the run of its main.py; the result of one step that can
    be repeated.
    """

    files: tuple[FileReport, ...]
    """The Python files."""
    main: PythonRun | None = None
    """None if there is no main.py, or nothing could be run."""
    made: tuple[WorkspaceFile, ...] = ()
    """The files that main.py made or changed in its copy of the project."""
    refused: tuple[str, ...] = ()

    @property
    def invalid(self) -> tuple[FileReport, ...]:
        return tuple(file for file in self.files if file.validation_error)

    @property
    def tested(self) -> tuple[FileReport, ...]:
        return tuple(file for file in self.files if file.tests)

    @property
    def runs(self) -> tuple[PythonRun, ...]:
        """The runs of the tests, then of main."""
        return tuple(filter(None, (*(file.tests for file in self.files), self.main)))

    @property
    def passing(self) -> bool:
        """Whether there are tests or a main, and all of them succeed."""
        return bool(self.runs) and all(run.succeeded for run in self.runs)

    @property
    def words(self) -> str:
        """One sentence on how far the project is."""
        passed = sum(file.tests.succeeded for file in self.tested if file.tests)
        facts = [f"{count(len(self.files), 'Python file')}, {len(self.invalid)} of them invalid"]
        facts += (
            [f"{passed} of {count(len(self.tested), 'file')} of tests pass"] if self.tested else []
        )
        facts += [f"{MAIN} {'works' if self.main.succeeded else 'fails'}"] if self.main else []
        return "; ".join(facts) + "."


async def examine(
    sandbox: Sandbox,
    files: Sequence[WorkspaceFile],
    *,
    seconds: float,
    limits: FileLimits,
    extra: Sequence[str] = (),
    allowed: Sequence[str] = (),
    lock: PackageLock | None = None,
    problems: Mapping[str, str] = MappingProxyType({}),
) -> Examination:
    """Validate every Python file; if all are valid, run the tests of each file and main.py in the
    sandbox, each in its own copy. `problems` are those of their imports of tools, by path.

    Raises:
        SandboxUnavailable, SandboxFailed: the sandbox is broken.
    """
    python = [file for file in files if file.path.endswith(".py")]
    local = local_modules([file.path for file in files])
    errors = {
        file.path: problems.get(file.path) or _problem(file, local, extra, allowed)
        for file in python
    }
    if any(errors.values()) or not python:
        return Examination(
            files=tuple(
                FileReport(path=path, validation_error=error) for path, error in errors.items()
            )
        )
    tests = test_files(files)
    runs: dict[str, PythonRun] = {}
    if tests:
        outcome = await run(
            sandbox,
            files,
            [(*PYTEST, path) for path in tests],
            seconds=seconds,
            limits=limits,
            lock=lock,
        )
        runs = dict(zip(tests, outcome.runs, strict=True))
    reports = tuple(FileReport(path=path, tests=runs.get(path)) for path in errors)
    if MAIN not in errors:
        return Examination(files=reports)
    outcome = await run(sandbox, files, [(MAIN,)], seconds=seconds, limits=limits, lock=lock)
    return Examination(
        files=reports, main=outcome.runs[0], made=outcome.made, refused=outcome.refused
    )


def test_files(files: Sequence[WorkspaceFile]) -> list[str]:
    """The paths of the files in which pytest looks for tests; copies of tools have none."""
    return [
        file.path
        for file in files
        if any(fnmatchcase(PurePosixPath(file.path).name, pattern) for pattern in _TESTS)
        if not is_copy(file.content.decode(errors="replace"))
    ]


def _problem(
    file: WorkspaceFile, local: frozenset[str], extra: Sequence[str], allowed: Sequence[str]
) -> str | None:
    try:
        return problem(file.content.decode(), local, extra, allowed)
    except UnicodeDecodeError:
        return _NOT_TEXT


Emit = Callable[[AnyProjectEvent], object]


def emit_examination(
    emit: Emit, project: str, epoch: int, examination: Examination, file_count: int
) -> None:
    """Emit an event for each run of an examination, and one for its result."""
    for file in examination.tested:
        if file.tests:
            emit_tests(emit, project, epoch, file.path, file.tests)
    if examination.main:
        emit_run(
            emit,
            project,
            epoch,
            examination.main,
            RunOutcome(
                runs=(examination.main,), made=examination.made, refused=examination.refused
            ),
        )
    passed = sum(file.tests.succeeded for file in examination.tested if file.tests)
    emit(
        ProjectReasoned(
            project=project,
            epoch=epoch,
            file_count=file_count,
            python_files=len(examination.files),
            invalid=tuple(f"{file.path}: {file.validation_error}" for file in examination.invalid),
            tests_passed=passed,
            tests_failed=len(examination.tested) - passed,
            main_success=examination.main.succeeded if examination.main else None,
            seconds=sum(run.seconds for run in examination.runs),
        )
    )


def emit_run(emit: Emit, project: str, epoch: int, ran: PythonRun, outcome: RunOutcome) -> None:
    """Emit an event for the run of a Python file."""
    path, *arguments = ran.arguments
    how = ran.model_dump(include={"exit_code", "ended", "stdout", "stderr", "seconds"})
    files = tuple(ProjectFile.of(file.path, file.content) for file in outcome.made)
    fields = {
        "arguments": tuple(arguments),
        "success": ran.succeeded,
        "made": files,
        "refused": outcome.refused,
    }
    emit(ProjectRan(project=project, epoch=epoch, path=path, **fields, **how))


def emit_tests(emit: Emit, project: str, epoch: int, path: str, ran: PythonRun) -> None:
    """Emit an event for the run of a file of tests."""
    output = f"{ran.ended}\n{ran.stdout}{ran.stderr}".strip()
    emit(
        ProjectTested(
            project=project,
            epoch=epoch,
            path=path,
            success=ran.succeeded,
            output=output,
            seconds=ran.seconds,
        )
    )


def format_run(ran: PythonRun) -> str:
    """A run as a terminal shows it."""
    end = ran.ended or f"exit code {ran.exit_code}"
    return "\n".join(
        filter(
            None,
            (
                f"$ python {' '.join(ran.arguments)}",
                ran.stdout.rstrip(),
                ran.stderr.rstrip(),
                f"({end})",
            ),
        )
    )
