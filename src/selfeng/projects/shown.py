"""What a terminal shows of a build's events."""

from typing import Literal, assert_never

from selfeng.core.project_events import (
    AnyProjectEvent,
    ProjectActChosen,
    ProjectChanged,
    ProjectFailed,
    ProjectFinished,
    ProjectPaused,
    ProjectRan,
    ProjectReasoned,
    ProjectStarted,
    ProjectStopped,
    ProjectTested,
)
from selfeng.core.words import count

State = Literal["running", "done", "failed", "stopped"]


def line(event: AnyProjectEvent) -> tuple[State, str]:
    """State and words of an event."""
    match event:
        case ProjectStarted():
            again = "going on with" if event.resumed else "building"
            return "running", f"{again} {event.project} in {event.path}: {event.goal}"
        case ProjectReasoned():
            return _passed(not event.invalid and not event.tests_failed and event.main_success is not False), _reasoned(event)
        case ProjectActChosen():
            why = f": {event.reasoning}" if event.reasoning else ""
            return "running", f"step {event.epoch}: {event.action}{why}"
        case ProjectPaused():
            return "stopped", f"{' '.join(filter(None, (event.action, event.package)))} waits for your word"
        case ProjectChanged():
            return "done", f"  {event.path} {event.change}"
        case ProjectRan():
            end = event.ended or f"exit code {event.exit_code}"
            made = f", made {', '.join(file.path for file in event.made)}" if event.made else ""
            return _passed(event.success), f"  python {' '.join((event.path, *event.arguments))}: {end}{made}"
        case ProjectTested():
            return _passed(event.success), f"  {event.path}: {(event.output.strip().splitlines() or ['no output'])[-1]}"
        case ProjectFinished():
            return "done", f"{event.project} is finished after {count(event.steps, 'step')}. {event.summary}"
        case ProjectFailed():
            return "failed", "\n        ".join(filter(None, (event.message, event.reached, event.remedy)))
        case ProjectStopped():
            return "stopped", event.reason
        case _:
            assert_never(event)


def detail(event: AnyProjectEvent) -> str:
    """What `debug` shows below the line."""
    match event:
        case ProjectActChosen():
            return event.arguments
        case ProjectChanged():
            return event.diff
        case ProjectRan():
            return f"{event.stdout}{event.stderr}"
        case ProjectTested():
            return event.output
        case _:
            return ""


def _passed(success: bool) -> State:
    return "done" if success else "failed"


def _reasoned(event: ProjectReasoned) -> str:
    facts = [f"{count(event.file_count, 'file')}, {event.python_files} of Python"]
    facts += list(event.invalid)
    if event.tests_passed or event.tests_failed:
        facts.append(f"{event.tests_passed} of {count(event.tests_passed + event.tests_failed, 'file')} of tests pass")
    if event.main_success is not None:
        facts.append(f"main.py {'works' if event.main_success else 'fails'}")
    return "; ".join(facts)
