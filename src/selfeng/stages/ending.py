"""The ending of a turn: its outcome, by what happened rather than by what was written about it."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from selfeng.agents import AgentReply
from selfeng.core.consent_question import ConsentAsked
from selfeng.core.events import (
    CodeRun,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFailed,
    FilesMade,
    NoToolFound,
    Outcome,
    QuestionsAsked,
    SynthesisStep,
    TestFinished,
    ToolFound,
    ToolStandingChanged,
    TurnFailed,
    TurnFinished,
    TurnStopped,
    Witnessed,
)
from selfeng.core.value import Coded
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.visible import one_line
from selfeng.core.words import count
from selfeng.stages.execution.contract import OF_SERVICES
from selfeng.stages.execution.outcome import own_failure
from selfeng.stages.stages import End, Executed, PlanExecuted
from selfeng.synthesis_engine import DirectAnswer

_USER = "user"
_NEAREST = 3
_NEAR = 0.05
"""The confidence from which on a tool is named to a person whose request is declined; the model has
said by then that it does not fit.
"""


class Ending(Coded):
    """See `TurnFinished`."""

    outcome: Outcome = Outcome.ANSWERED
    nearest: tuple[str, ...] = ()
    remedy: str = ""
    reused: tuple[str, ...] = ()


def ending(end: End, events: Sequence[Event]) -> Ending:
    """How a turn with these events ended, apart from the words of its answer."""
    match end:
        case ConsentAsked():
            return Ending(outcome=Outcome.ASKED)
        case DirectAnswer(declined=True):
            return Ending(
                outcome=Outcome.DECLINED,
                nearest=_nearest(events),
                code=end.code,
                values=end.values,
            )
        case DirectAnswer(questions=questions) | AgentReply(questions=questions) if questions:
            return Ending(outcome=Outcome.ASKED)
        case AgentReply() if _in_vain(events):
            return Ending(
                outcome=Outcome.FAILED, remedy="say it in other words, or in smaller parts"
            )
        case Executed(execution=execution):
            return _called([execution], events)
        case PlanExecuted(executions=executions):
            return _called(executions, events)
        case DirectAnswer() | AgentReply():
            coded = {"code": end.code, "values": end.values}
            return _called((), events).model_copy(update=coded)
        case _:
            assert_never(end)


def _nearest(events: Sequence[Event]) -> tuple[str, ...]:
    """The tools that may help with a request that is declined, the best first."""
    searches = [e for e in events if isinstance(e, ToolFound | NoToolFound)]
    return tuple(
        name
        for search in searches[-1:]
        for name, confidence in zip(search.considered, search.confidences, strict=True)
        if confidence >= _NEAR
    )[:_NEAREST]


def _called(executions: Sequence[Execution], events: Sequence[Event]) -> Ending:
    """Of calls of one tool: the first that did not do what was asked for decides."""
    if remedy := next(filter(None, map(_remedy, executions)), ""):
        return Ending(outcome=Outcome.FAILED, remedy=remedy)
    tools = {e.tool for e in events if isinstance(e, Executing) and not e.server}
    built = any(isinstance(e, SynthesisStep) and e.step == "register" for e in events)
    return Ending(reused=() if built else tuple(sorted(tools)))


def _remedy(execution: Execution) -> str:
    """The remedy after a call that did not do its task; "" if it did."""
    match execution:
        case Returned(refused_files=refused, files=files):
            return "ask for a smaller file, or for another kind" if refused and not files else ""
        case Raised(type_name=name) if name in OF_SERVICES:
            return "look at the hosts on the tool's page, or try again later"
        case Raised() if own_failure(execution) is None:
            return "change the input, or say how such input is to be treated"
        case Raised():
            return "say it in other words, or try another input"
        case Killed():
            return "try again, with less at once"
        case _:
            assert_never(execution)


def _in_vain(events: Sequence[Event]) -> bool:
    """Whether nothing that agents tried succeeded: no message to another agent, or no run."""
    sent = [e.state for e in events if isinstance(e, DelegationChanged) and e.sender != _USER]
    runs = [e.state for e in events if isinstance(e, CodeRun)]
    has_files = any(isinstance(e, FilesMade) for e in events)
    return any(
        "failed" in states and "finished" not in states
        for states in (sent, [] if has_files else runs)
    )


def what_was_reached(events: Sequence[Event]) -> str:
    """The progress of a turn when a limit ended it: one sentence for people; "" if none."""
    progress = registered = ""
    passed: dict[
        int, list[bool]
    ] = {}  # attempt at an implementation → whether each of its tests passed
    for event in events:
        match event:
            case SynthesisStep(step="specify", state="finished") if event.artifact:
                progress = "The specification is written"
            case SynthesisStep(step="test", state="finished"):
                progress = "Specification and tests are written"
            case SynthesisStep(step="register", state="finished", text=text):
                registered = text.rstrip(".")
            case TestFinished(against="implementation", attempt=attempt, result=result):
                passed.setdefault(attempt, []).append(result.outcome == "passed")
    best = max(passed.values(), key=sum, default=[])
    tested = (
        f", and the best implementation passes {sum(best)} of {count(len(best), 'test')}"
        if best
        else ""
    )
    summary = registered or progress + tested
    return f"{summary}." if summary else ""


def problem_of(events: Iterable[Event]) -> str:
    """Why a run needs its owner, one line: it failed, a service drifted, a witness disagrees, it
    waits for consent or was stopped; "" if it does not.
    """
    problems = [one_line(problem) for event in events if (problem := _problem(event))]
    return problems[0] if problems else ""


def _problem(event: Event) -> str:
    match event:
        case ExecutionFailed(execution=Killed(reason=reason)):
            return reason
        case ExecutionFailed(execution=execution):
            raised = execution.model_dump(include={"type_name", "message"})
            return ": ".join(filter(None, raised.values()))
        case Witnessed(tool=tool, other=value) if value:
            return f"another implementation of {tool} returns {value}"
        case QuestionsAsked(questions=(question, *_)):
            return f"it waits for an answer: {question.question}"
        case ToolStandingChanged(after="suspect" | "retired", reason=reason):
            return reason
        case TurnFinished(answer=answer, outcome=outcome) if outcome != Outcome.ANSWERED:
            return answer
        case TurnFailed(message=message):
            return message
        case TurnStopped(reason=reason):
            return reason
    return ""
