"""Telling: what came of runs in the sandbox, as events and in words."""

from collections.abc import Callable

from selfeng.core.project_events import AnyProjectEvent, ProjectFile, ProjectRan, ProjectReasoned, ProjectTested
from selfeng.projects.examining import Examination
from selfeng.projects.workspace.running import PythonRun, RunOutcome

Emit = Callable[[AnyProjectEvent], object]


def tell_examination(emit: Emit, project: str, epoch: int, found: Examination, file_count: int) -> None:
    """Tell of each run of an examination, and of what it found in all."""
    for file in found.tested:
        if file.tests:
            tell_tests(emit, project, epoch, file.path, file.tests)
    if found.main:
        tell_run(emit, project, epoch, found.main, RunOutcome(runs=(found.main,), made=found.made, refused=found.refused))
    passed = sum(file.tests.succeeded for file in found.tested if file.tests)
    emit(
        ProjectReasoned(
            project=project,
            epoch=epoch,
            file_count=file_count,
            python_files=len(found.files),
            invalid=tuple(f"{file.path}: {file.validation_error}" for file in found.invalid),
            tests_passed=passed,
            tests_failed=len(found.tested) - passed,
            main_success=found.main.succeeded if found.main else None,
            seconds=sum(run.seconds for run in found.runs),
        )
    )


def tell_run(emit: Emit, project: str, epoch: int, ran: PythonRun, outcome: RunOutcome) -> None:
    """Tell of the run of a Python file."""
    path, *arguments = ran.arguments
    how = ran.model_dump(include={"exit_code", "ended", "stdout", "stderr", "seconds"})
    made = tuple(ProjectFile.of(file.path, file.content) for file in outcome.made)
    told = {"arguments": tuple(arguments), "success": ran.succeeded, "made": made, "refused": outcome.refused}
    emit(ProjectRan(project=project, epoch=epoch, path=path, **told, **how))


def tell_tests(emit: Emit, project: str, epoch: int, path: str, ran: PythonRun) -> None:
    """Tell of the run of a file of tests."""
    output = f"{ran.ended}\n{ran.stdout}{ran.stderr}".strip()
    emit(ProjectTested(project=project, epoch=epoch, path=path, success=ran.succeeded, output=output, seconds=ran.seconds))


def shown(ran: PythonRun) -> str:
    """A run as a terminal would have it."""
    end = ran.ended or f"exit code {ran.exit_code}"
    return "\n".join(filter(None, (f"$ python {' '.join(ran.arguments)}", ran.stdout.rstrip(), ran.stderr.rstrip(), f"({end})")))
