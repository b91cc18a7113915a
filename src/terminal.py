"""A turn in a terminal: its steps on stderr, its answer on stdout."""

from typing import assert_never

from rich.console import Console
from rich.text import Text

from src.core.events import (
    AnswerToken,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    FilesMade,
    NoToolFound,
    PlanMade,
    PlanStepChanged,
    Searching,
    StageEvent,
    SuiteRepeated,
    SynthesisStep,
    TestFinished,
    ToolFound,
    ToolMismatch,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
)
from src.core.plan import PlannedStep
from src.core.verdict import Execution, Killed, Raised, Returned
from src.core.visible import visible

_STYLES = {"running": "cyan", "done": "green", "failed": "red", "stopped": "yellow"}


class Terminal:
    """Draws the events of one turn as they come."""

    def __init__(self) -> None:
        self._steps, self._answer = Console(stderr=True, highlight=False), Console(highlight=False, soft_wrap=True)
        self._said = ""
        """The last piece of the answer."""

    def show(self, event: Event) -> None:
        if isinstance(event, AnswerToken):
            self._answer.print(Text(visible(event.text, self._said)), end="")
            self._said = event.text
        elif isinstance(event, TurnFinished):
            self._answer.print()
            self._steps.print(Text(_spent(event), style="dim"))
        elif described := _line(event):
            state, words = described
            within = f"[{event.plan_step}] " if isinstance(event, StageEvent) and event.plan_step else ""
            line = Text.assemble((f"{state:8}", _STYLES[state]), (within, "dim"), visible(words))
            seconds = getattr(event, "seconds", 0.0)
            self._steps.print(line.append(f"  {seconds:.2f} s", style="dim") if seconds else line)


def _line(event: Event) -> tuple[str, str] | None:
    """State and words of an event, None for pieces and for what is shown otherwise."""
    match event:
        case TurnStarted() | AnswerToken() | TurnFinished() | SynthesisStep(state="streaming"):
            return None
        case Searching():
            return "running", "searching the library"
        case ToolFound():
            return "done", f"found {event.tool} ({event.confidence:.0%})"
        case NoToolFound():
            return "done", f"no tool fits: {event.reason}"
        case SynthesisStep():
            again = f" (attempt {event.attempt})" if event.attempt > 1 else ""
            state = {"started": "running", "finished": "done"}.get(event.state, event.state)
            return state, f"{event.step}{again}" + (f": {event.text.splitlines()[0]}" if event.text else "")
        case TestFinished(against="stub", result=result) if result.outcome != "passed":
            return "done", f"  {result.test} {result.outcome} on the stub, as it should"
        case TestFinished(result=result):
            return "done" if result.outcome == "passed" else "failed", f"  {result.test} {result.outcome}"
        case SuiteRepeated(order=order, same=same, detail=detail):
            return "done" if same else "failed", f"  again in {order} order, with another hash seed: {detail or 'same result'}"
        case PlanMade():
            return "done", "it takes these steps:" + "".join(f"\n        {_planned(step)}" for step in event.steps)
        case PlanStepChanged(state="started"):
            return "running", f"step {event.step}"
        case PlanStepChanged():
            return {"finished": "done"}.get(event.state, event.state), f"step {event.step}: {event.text}"
        case Executing():
            return "running", f"running {event.tool} with {event.arguments}"
        case ExecutionFinished(execution=execution) | ExecutionFailed(execution=execution):
            return _outcome(execution)
        case FilesMade():
            return "done", f"made {', '.join(file.name for file in event.files)}"
        case ToolMismatch():
            return "failed", f"{event.tool} can't be called: {event.problem}"
        case TurnFailed():
            return "failed", f"{event.where}: {event.message}" + (f"\n        {event.remedy}" if event.remedy else "")
        case TurnStopped():
            return "stopped", event.reason
        case _:
            assert_never(event)


def _planned(step: PlannedStep) -> str:
    return f"{step.id}: {step.request}" + (f" (needs {', '.join(step.needs)})" if step.needs else "")


def _outcome(execution: Execution) -> tuple[str, str]:
    match execution:
        case Returned():
            return "done", f"returned {execution.text[:200]}"
        case Raised():
            return "failed", f"the tool raised {execution.type_name}: {execution.message}"
        case Killed():
            return "failed", f"the sandbox ended the tool: {execution.reason}"
        case _:
            assert_never(execution)


def _spent(event: TurnFinished) -> str:
    usage = event.usage
    cost = "" if not usage.cost else f", ${usage.cost:.4f}"
    return f"{event.seconds:.2f} s, {usage.calls} model calls, {usage.input_tokens + usage.output_tokens} tokens{cost}"
