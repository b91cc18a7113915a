"""The terminal's output: the events of a turn, a version of a tool, and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import assert_never

from rich.console import Console
from rich.progress import Progress, TaskID
from rich.text import Text

from selfeng.autocoder.project_terminal import format_event
from selfeng.core.events import (
    FINAL,
    AnswerCorrected,
    AnswersRecomputed,
    AnswerToken,
    BudgetSpent,
    CodeRun,
    ConsentDecided,
    DelegationChanged,
    DeliveryFailed,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionProgress,
    FilesMade,
    LessonsShown,
    ModelAskedAgain,
    ModelSilent,
    NoToolFound,
    Outcome,
    PlanMade,
    PlanStepChanged,
    QuestionsAsked,
    Searching,
    StageEntered,
    SuiteRepeated,
    SynthesisStep,
    TestFinished,
    ThoughtAloud,
    ToolFound,
    ToolMismatch,
    ToolProposed,
    ToolStandingChanged,
    TurnFailed,
    TurnFinished,
    TurnQueued,
    TurnResumed,
    TurnStarted,
    TurnStopped,
    Waiting,
    Witnessed,
)
from selfeng.core.project_events import ProjectEvent
from selfeng.core.provenance import ToolVersion
from selfeng.core.stage import words_of
from selfeng.core.stage_event import StageEvent, Usage
from selfeng.core.status import PARTS
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.visible import one_line, visible
from selfeng.core.words import count, shortened
from selfeng.doors.turn_story import step_words

_SHOWN = 500
"""Characters of an output."""
_STYLES = {
    "running": "cyan",
    "done": "green",
    "failed": "red",
    "stopped": "yellow",
    "declined": "yellow",
}


class Terminal:
    """Draws the events of one turn as they come."""

    def __init__(self) -> None:
        self._steps, self._answer = (
            Console(stderr=True, highlight=False),
            Console(highlight=False, soft_wrap=True),
        )
        self._last_piece = ""
        self._thought: ThoughtAloud | None = None
        """The last piece of what the model thinks, while it does."""
        self._budget: BudgetSpent | None = None
        self._spent_shown = False

    def show(self, event: Event) -> None:
        self._show_thought(event)
        if isinstance(event, AnswerToken):
            self._answer.print(Text(visible(event.text, self._last_piece)), end="")
            self._last_piece = event.text
        elif isinstance(event, TurnFinished):
            self._answer.print()
            self._show_line(event)
        else:
            self._show_line(event)
        self._show_spent(event)

    def _show_line(self, event: Event) -> None:
        if described := line_of(event):
            state, words = described
            within = (
                f"[{event.plan_step}] " if isinstance(event, StageEvent) and event.plan_step else ""
            )
            line = Text.assemble((f"{state:7} ", _STYLES[state]), (within, "dim"), visible(words))
            seconds = getattr(event, "seconds", 0.0)
            self._steps.print(line.append(f"  {seconds:.2f} s", style="dim") if seconds else line)

    def _show_thought(self, event: Event) -> None:
        """Show what the model thinks, dim, each call's thoughts on lines of their own."""
        before, self._thought = self._thought, event if isinstance(event, ThoughtAloud) else None
        if before and (self._thought is None or self._thought.call != before.call):
            self._steps.print()
            before = None
        if self._thought:
            text = visible(self._thought.text, before.text if before else "")
            self._steps.print(Text(text, style="dim italic"), end="")

    def _show_spent(self, event: Event) -> None:
        """Show what the turn has spent, after each step with a model call and at the end."""
        if isinstance(event, BudgetSpent):
            self._budget, self._spent_shown = event, False
        elif self._budget is None:
            return
        elif isinstance(event, FINAL):
            self._print_spent(self._budget.model_copy(update={"seconds": event.seconds}))
        elif (
            isinstance(event, SynthesisStep) and event.state == "finished" and not self._spent_shown
        ):
            self._print_spent(self._budget)

    def _print_spent(self, budget: BudgetSpent) -> None:
        self._steps.print(Text(f"        {spent(budget)}", style="dim"))
        self._spent_shown = True


def line_of(event: Event) -> tuple[str, str] | None:
    """State and text of an event; None if it is shown in another way."""
    match event:
        case (
            TurnStarted()
            | BudgetSpent()
            | ThoughtAloud()
            | StageEntered()
            | QuestionsAsked()
            | AnswerToken()
        ):
            return None
        case TurnResumed():
            return "running", "begun again" if event.again else "going on after an interruption"
        case TurnFinished(outcome=Outcome.DECLINED, nearest=nearest):
            near = f": the nearest tools are {', '.join(nearest)}" if nearest else ""
            return "declined", f"this can't be done here{near}"
        case TurnFinished(outcome=Outcome.FAILED, remedy=remedy):
            return "failed", f"not done: {remedy}"
        case TurnFinished():
            return None
        case SynthesisStep(state="streaming"):
            return None
        case TurnQueued(place=0):
            return "done", "waited in the queue"
        case TurnQueued(place=place, reason=reason):
            return "running", f"number {place} in the queue" + (f": {reason}" if reason else "")
        case ModelAskedAgain(attempt=attempt):
            return "running", f"the model did not answer; asking again, attempt {attempt}"
        case ModelSilent(seconds=seconds, timeout=timeout):
            return "running", f"the model is silent for {seconds:g} of {timeout:g} s"
        case Waiting(state="started"):
            return "running", f"waiting for {PARTS[event.part]}, being set up"
        case Waiting():
            return "done", f"waited for {PARTS[event.part]}"
        case Searching():
            return "running", "searching the library"
        case ToolFound():
            return "done", f"found {event.tool} ({event.confidence:.0%})" + (
                f": {event.reason}" if event.reason else ""
            )
        case NoToolFound():
            return "done", f"no tool fits: {event.reason}"
        case LessonsShown():
            hints = "".join(f"\n          {hint.trigger}: {hint.advice}" for hint in event.lessons)
            return (
                "done",
                f"{count(len(event.lessons), 'lesson')} from earlier turns for "
                f"{words_of(event.agent)}:{hints}",
            )
        case SynthesisStep():
            again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
            return _line_state(event.state), f"{words_of(event.step)}{again}" + (
                f": {_first_line(event.text)}" if event.text else ""
            )
        case TestFinished(against="stub", result=result) if result.outcome != "passed":
            return "done", f"  {result.test} {result.outcome} on the stub, as expected"
        case TestFinished(result=result):
            return (
                "done" if result.outcome == "passed" else "failed",
                f"  {result.test} {result.outcome}",
            )
        case SuiteRepeated(order=order, same=same, detail=detail):
            return (
                "done" if same else "failed",
                f"  again in {order} order: {detail or 'same result'}",
            )
        case Witnessed() | AnswerCorrected() | AnswersRecomputed() | ToolProposed():
            return "done", _judged(event)
        case PlanMade():
            return "done", "planned these steps:" + "".join(
                f"\n        {step.id}: {step.request}"
                + (f" (needs {', '.join(step.needs)})" if step.needs else "")
                for step in event.steps
            )
        case PlanStepChanged(state="started"):
            return "running", f"step {event.step}"
        case PlanStepChanged():
            return _line_state(event.state), f"step {event.step}: {event.text or event.tool}"
        case DelegationChanged(state="started"):
            return "running", f"{event.sender} to {event.recipient}: {_first_line(event.text)}"
        case DelegationChanged():
            return _line_state(
                event.state
            ), f"{event.recipient} to {event.sender}: {_first_line(event.text)}"
        case CodeRun(state="started"):
            return "running", f"running code ({event.run}):\n{_indented(event.code)}"
        case CodeRun(execution=execution):
            output = _printed(execution) if execution else " could not be run"
            return _line_state(event.state), f"code ({event.run}){output}"
        case Executing():
            where = f" on the server {event.server}" if event.server else ""
            return (
                "running",
                f"running {event.tool}{where} with {_truncate(event.arguments, _SHOWN)}",
            )
        case ExecutionProgress():
            return "running", step_words(event) or event.tool
        case ConsentDecided(decision="no"):
            return "done", f"going on without {event.tool}"
        case ConsentDecided():
            return "done", f"{event.tool} is allowed {event.decision}"
        case ExecutionFinished(execution=execution) | ExecutionFailed(execution=execution):
            return _outcome(execution)
        case FilesMade():
            return "done", f"made {', '.join(file.name for file in event.files)}"
        case ToolStandingChanged():
            return (
                "done" if event.after == "trusted" else "failed",
                f"{event.tool} is now {event.after}: {event.reason}",
            )
        case ToolMismatch():
            return "failed", f"{event.tool} can't be called: {event.problem}"
        case ProjectEvent():
            return format_event(event)
        case TurnFailed():
            return "failed", "\n        ".join(
                filter(
                    None, (f"{words_of(event.where)}: {event.message}", event.reached, event.remedy)
                )
            )
        case DeliveryFailed():
            return "failed", f"the result was not delivered: {event.message}; {event.remedy}"
        case TurnStopped():
            return "stopped", event.reason
        case _:
            assert_never(event)


def _line_state(state: str) -> str:
    return {"started": "running", "finished": "done"}.get(state, state)


def _judged(event: Witnessed | AnswerCorrected | AnswersRecomputed | ToolProposed) -> str:
    """The verdict on a result, or on earlier ones."""
    match event:
        case Witnessed(other="", of=of):
            return f"checked by {count(of, 'other implementation')}"
        case Witnessed(other=other):
            return f"another implementation returns {other}"
        case AnswerCorrected(tool=tool, version=version):
            return f"the earlier answer was wrong; {tool} is fixed in version {version}"
        case AnswersRecomputed(computed=computed, changed=changes):
            return f"{changes} of your {count(computed, 'earlier answer')} change"
        case ToolProposed(tool=tool):
            return f"{tool} waits for you: selfeng proposals {tool}"
        case _:
            assert_never(event)


def _first_line(text: str) -> str:
    return next(iter(text.splitlines()), "")


def _indented(text: str) -> str:
    return "\n".join(f"          {line}" for line in text.strip().splitlines())


def _printed(execution: Execution) -> str:
    """The output of a run of code, and how it ended."""
    printed = (
        f":\n{_indented(shortened(execution.stdout, _SHOWN))}" if execution.stdout.strip() else ""
    )
    match execution:
        case Returned():
            return f" ended{printed}"
        case Raised():
            return f" raised {execution.type_name}: {execution.message}{printed}"
        case Killed():
            return f" was ended: {execution.reason}{printed}"
        case _:
            assert_never(execution)


def _outcome(execution: Execution) -> tuple[str, str]:
    match execution:
        case Returned(value=value):
            summary = value.shape if value and value.long else _truncate(execution.text, _SHOWN)
            return "done", f"returned {summary}"
        case Raised():
            return "failed", f"the tool raised {execution.type_name}: {execution.message}"
        case Killed():
            return "failed", f"the sandbox ended the tool: {execution.reason}"
        case _:
            assert_never(execution)


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def spent(event: BudgetSpent) -> str:
    """The time, model calls, tokens and cost that a turn has spent, next to their limits."""
    usage, limits = event.usage, event.limits
    tokens = usage.input_tokens + usage.output_tokens
    parts = [
        f"{event.seconds:.1f} of {limits.seconds:g} s",
        f"{usage.calls} of {limits.calls} model calls",
        f"{tokens:,} of {limits.tokens:,} tokens",
    ]
    if usage.cost or limits.cost is not None:
        parts.append(
            f"${usage.cost or 0:.4f}" + (f" of ${limits.cost:g}" if limits.cost is not None else "")
        )
    return " · ".join(parts)


def _used(usage: Usage) -> str:
    cost = "" if not usage.cost else f", ${usage.cost:.4f}"
    return f"{usage.calls} model calls, {usage.input_tokens + usage.output_tokens} tokens{cost}"


def version_line(version: ToolVersion) -> str:
    """`2  2026-01-02 03:04  repaired: it raised KeyError  by gpt-4  7 tests passed  3 model calls,
    900 tokens`.
    """
    provenance = version.provenance
    passed = provenance.verdict and count(
        sum(t.outcome == "passed" for t in provenance.verdict.tests), "test"
    )
    facts = (
        f"{version.version:3}",
        f"{version.created_at:%Y-%m-%d %H:%M}",
        one_line(str(provenance.origin)),
        f"by {version.model or 'hand'}",
        f"{passed} passed" if passed else "",
        _used(provenance.usage) if provenance.usage else "",
    )
    return "  ".join(filter(None, facts))


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """Progress bars on stderr; the function takes a bar's name, the number done and the total."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, current: int, of: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what)
            progress.update(tasks[what], completed=current, total=of)

        yield show
