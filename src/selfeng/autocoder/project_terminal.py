"""A build at the terminal: its events as lines on stderr, and its questions to the person."""

import sys
from typing import Literal, assert_never

from rich.console import Console
from rich.text import Text

from selfeng.core.daemon_threads import unwaited
from selfeng.core.events import BudgetSpent
from selfeng.core.project_events import (
    PROJECT_FINAL,
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
from selfeng.core.visible import visible
from selfeng.core.words import count
from selfeng.projects.consent import Decision
from selfeng.projects.options import LogLevel

_STYLES = {"running": "cyan", "done": "green", "failed": "red", "stopped": "yellow"}
_SHOWN = 4000
State = Literal["running", "done", "failed", "stopped"]


class ProjectTerminal:
    """Draws the events of one build as they come."""

    def __init__(self, level: LogLevel) -> None:
        self._level, self._console = level, Console(stderr=True, highlight=False)

    def show(self, event: AnyProjectEvent | BudgetSpent) -> None:
        if self._level == "quiet" or isinstance(event, BudgetSpent):
            return
        state, words = format_event(event)
        self._console.print(Text.assemble((f"{state:8}", _STYLES[state]), visible(words)))
        if self._level == "debug" and (more := format_detail(event).rstrip()):
            self._console.print(Text(visible(more[:_SHOWN]), style="dim"))
        if isinstance(event, PROJECT_FINAL):
            usage = event.usage
            tokens = usage.input_tokens + usage.output_tokens
            self._console.print(
                Text(
                    f"        {event.seconds:.1f} s · {usage.calls} model calls · {tokens:,} "
                    "tokens",
                    style="dim",
                )
            )


class TerminalConsent:
    """Asks the person at the terminal; the end of input means no."""

    pausing = False

    async def to_act(self, act: ProjectActChosen) -> Decision:
        question = (
            f"{act.action} {act.arguments}\nDo it? [Enter] yes, [c] yes, and all that "
            "follows, [s] stop: "
        )
        match (await _ask(question)).strip().lower():
            case "" | "y" | "yes":
                return "act"
            case "c":
                return "act_on"
            case _:
                return "stop"

    async def to_package(self, package: str, reasoning: str) -> bool:
        why = f" ({reasoning})" if reasoning else ""
        return (
            await _ask(
                f"The project asks for the package {package}{why}. Install it for its sandbox? "
                "[y/N] "
            )
        ).strip().lower() in {
            "y",
            "yes",
        }


async def _ask(question: str) -> str:
    """The line that the person enters; "no" at the end of input. Stopping the build ends the wait
    at once.
    """
    sys.stderr.write(visible(question))
    sys.stderr.flush()
    return await unwaited(lambda: sys.stdin.readline() or "no")


def format_event(event: AnyProjectEvent) -> tuple[State, str]:
    """State and words of an event."""
    match event:
        case ProjectStarted():
            again = "continuing" if event.resumed else "building"
            return "running", f"{again} {event.project} in {event.path}: {event.goal}"
        case ProjectReasoned():
            return _passed(
                not event.invalid and not event.tests_failed and event.main_success is not False
            ), _reasoned(event)
        case ProjectActChosen():
            why = f": {event.reasoning}" if event.reasoning else ""
            return "running", f"step {event.epoch}: {event.action}{why}"
        case ProjectPaused():
            return (
                "stopped",
                f"{' '.join(filter(None, (event.action, event.package)))} waits for your reply",
            )
        case ProjectChanged():
            return "done", f"  {event.path} {event.change}"
        case ProjectRan():
            end = event.ended or f"exit code {event.exit_code}"
            files_text = (
                f", made {', '.join(file.path for file in event.made)}" if event.made else ""
            )
            return _passed(
                event.success
            ), f"  python {' '.join((event.path, *event.arguments))}: {end}{files_text}"
        case ProjectTested():
            return _passed(
                event.success
            ), f"  {event.path}: {(event.output.strip().splitlines() or ['no output'])[-1]}"
        case ProjectFinished():
            return (
                "done",
                f"{event.project} is finished after {count(event.steps, 'step')}. {event.summary}",
            )
        case ProjectFailed():
            return "failed", "\n        ".join(
                filter(None, (event.message, event.reached, event.remedy))
            )
        case ProjectStopped():
            return "stopped", event.reason
        case _:
            assert_never(event)


def format_detail(event: AnyProjectEvent) -> str:
    """The text that `debug` shows below the line; "" if there is none."""
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
        facts.append(
            f"{event.tests_passed} of {count(event.tests_passed + event.tests_failed, 'file')} of "
            "tests pass"
        )
    if event.main_success is not None:
        facts.append(f"main.py {'works' if event.main_success else 'fails'}")
    return "; ".join(facts)
