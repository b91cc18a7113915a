"""The transcript of a turn: the text that a model learns from, and the outcomes of the lessons that
the turn was shown.
"""

import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence

from selfeng.core.events import (
    CodeRun,
    DelegationChanged,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    LessonsShown,
    SynthesisStep,
    TestFinished,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from selfeng.core.lesson import AgentKind
from selfeng.core.project_events import ProjectEvent
from selfeng.core.stage import StageName
from selfeng.core.value import Value
from selfeng.core.verdict import Killed, Raised
from selfeng.core.words import shortened

_LONGEST = 9_000
"""Maximum characters of a record; the limits below apply to its parts."""
_LONGEST_REQUEST = 2_000
_LONGEST_MESSAGE = 600
_LONGEST_CHANGE = 1_500


_OBJECTION = re.compile(
    r"\b(?:wrong|incorrect|mistaken?|not (?:right|correct|true|what)|isn't (?:right|correct)"
    r"|should(?:n't| not)? (?:be|have|give|say|return)|(?:i|we) (?:meant|said|asked|wanted)|rather"
    r"|falsch|stimmt nicht|nicht richtig|sondern|gemeint|sollte|faux|fausse|erreur|devrait"
    r"|incorrecto|equivocad\w+|debería|sbagliat\w+|errat\w+|dovrebbe|errad[oa]|deveria"
    r"|fout|verkeerd|klopt niet|źle|błęd\w+|powinn\w+|неверно|неправильно|должн\w+)\b"
    r"|違|错|不对",
    re.IGNORECASE,
)
"""Words by which people object to an answer, in the languages that requests come in most."""
_STATED = '"user_examples":[{'
"""In a specification without blanks: the person says what a call should give."""


class Transcript(Value):
    """One finished turn, in words."""

    request: str
    record: str
    """The request, each step with its outcome, and what repairs changed."""
    previous: str
    """The previous request and its answer, if this request may be a correction of them; else ""."""

    @property
    def digest(self) -> str:
        """Equal for turns with the same content, which teach the same."""
        return hashlib.sha256(
            f"{self.previous}\0{self.record}".encode("utf-8", "replace")
        ).hexdigest()


def transcript_of(events: Sequence[Event], before: Sequence[Event] = ()) -> Transcript | None:
    """The transcript of a turn, `before` being the events of the turn before it in the
    conversation.

    None if nothing can be learned: the turn belongs to a project; or it was stopped, or ended
    because of a limit or a broken component rather than the work itself; or nothing in it went
    wrong, was asked, or corrected the answer of a tool.
    """
    if not ended_by_itself(events) or any(
        isinstance(event, ProjectEvent) and not event.within for event in events
    ):
        return None
    request = next((event.request for event in events if isinstance(event, TurnStarted)), "")
    previous = _exchange(before) if _corrects(request, events, before) else ""
    if not previous and not any(_is_trouble(event) for event in events):
        return None
    record = "\n".join([f"request: {shortened(request, _LONGEST_REQUEST)}", *_event_lines(events)])
    return Transcript(request=request, record=shortened(record, _LONGEST), previous=previous)


def ended_by_itself(events: Sequence[Event]) -> bool:
    """Whether the end of the turn says something about the work: it finished, or the work itself
    failed.
    """
    last = events[-1] if events else None
    return isinstance(last, TurnFinished) or (isinstance(last, TurnFailed) and last.kind == "task")


def _is_trouble(event: Event) -> bool:
    """Whether something went wrong, or had to be asked. A first specification that fails and gets
    no second attempt says that no tool can do this, which is not a mistake; nor is a suite that
    gets more tests.
    """
    match event:
        case TurnFailed(where="specify"):
            return False
        case SynthesisStep(step="specify", attempt=attempt):
            return attempt > 1
        case SynthesisStep(state=state):
            return state == "failed" or any(_refuted(event))
        case TurnStarted(answers=answers):
            return bool(answers)
        case (
            ExecutionFailed()
            | TurnFailed()
            | CodeRun(state="failed")
            | DelegationChanged(state="failed")
        ):
            return True
    return False


def _refuted(step: SynthesisStep) -> Iterator[str]:
    """The faults that a comparison of candidates found: wrong tests, and values of candidates."""
    if step.step == "compare" and step.artifact:
        comparison = json.loads(step.artifact)
        yield from (
            f"most candidates refute {dropped['test']}: {dropped['message']}"
            for dropped in comparison.get("dropped", ())
        )
        for refutation in filter(
            None, (report.get("refuted") for report in comparison.get("reports", ()))
        ):
            call, value = refutation["call"], refutation["own"]
            yield f"for {call} a candidate {value}, most {refutation['others']}"


def _corrects(request: str, events: Sequence[Event], before: Sequence[Event]) -> bool:
    """Whether the person seems to object to the answer of the turn before: the request says so, it
    states a result, or the tool that gave the answer got another version.
    """
    used = {event.tool for event in before[-1:] if isinstance(event, TurnFinished)} - {None}
    finished_steps = [e for e in events if isinstance(e, SynthesisStep) and e.state == "finished"]
    stated = any(
        e.step == "specify" and _STATED in "".join(e.artifact.split()) for e in finished_steps
    )
    revised = any(e.step == "register" for e in finished_steps) and any(
        isinstance(e, Executing) and e.tool in used for e in events
    )
    return bool(used) and (stated or revised or _OBJECTION.search(request) is not None)


def _exchange(events: Sequence[Event]) -> str:
    """The request and the answer of a turn that ran a tool."""
    match events:
        case [TurnStarted(request=request), *_, TurnFinished(answer=answer, tool=str())]:
            return (
                f"request: {shortened(request, _LONGEST_REQUEST)}\nanswer: "
                f"{shortened(answer, _LONGEST_REQUEST)}"
            )
    return ""


def _event_lines(events: Sequence[Event]) -> Iterator[str]:
    artifacts: dict[str, str] = {}
    for event in events:
        match event:
            case SynthesisStep(
                step=step,
                state="finished" | "failed" as state,
                attempt=attempt,
                text=text,
                artifact=artifact,
            ):
                yield from (shortened(line, _LONGEST_MESSAGE) for line in _refuted(event))
                yield f"{step}, attempt {attempt}, {state}" + (
                    f": {shortened(text, _LONGEST_MESSAGE)}" if text else ""
                )
                if artifact and artifacts.get(step):
                    yield from _indented(
                        "changed:", shortened(_changes(artifacts[step], artifact), _LONGEST_CHANGE)
                    )
                artifacts[step] = artifact or artifacts.get(step, "")
            case TurnStarted(answers=answers):
                yield from (
                    f"asked: {shortened(given_answer.question, _LONGEST_MESSAGE)} "
                    f"answered: {shortened(given_answer.value, _LONGEST_MESSAGE)}"
                    for given_answer in answers
                )
            case TestFinished(against="implementation", result=result) if (
                result.outcome != "passed"
            ):
                yield from _indented(
                    f"{result.test} {result.outcome}:", shortened(result.message, _LONGEST_MESSAGE)
                )
            case Executing(tool=tool, arguments=arguments):
                yield f"called: {tool} with {shortened(arguments, _LONGEST_MESSAGE)}"
            case ExecutionFailed(execution=Raised(type_name=name, message=message)):
                yield f"raised: {name}: {shortened(message, _LONGEST_MESSAGE)}"
            case ExecutionFailed(execution=Killed(reason=reason)):
                yield f"ended by the sandbox: {reason}"
            case DelegationChanged(sender=sender, recipient=recipient, state=state, text=text):
                yield f"{sender} to {recipient}, {state}: {shortened(text, _LONGEST_MESSAGE)}"
            case CodeRun(run=run, state="started", code=code):
                yield from _indented(f"code {run}:", shortened(code, _LONGEST_CHANGE))
            case CodeRun(run=run, execution=Raised(type_name=name, message=message)):
                yield f"  code {run} raised {name}: {shortened(message, _LONGEST_MESSAGE)}"
            case CodeRun(run=run, execution=Killed(reason=reason)):
                yield f"  code {run} was ended by the sandbox: {reason}"
            case TurnFinished(answer=answer, outcome=outcome):
                yield f"{outcome}: {shortened(answer, _LONGEST_MESSAGE)}"
            case TurnFailed(where=where, message=message):
                yield f"gave up at {where}: {shortened(message, _LONGEST_MESSAGE)}"


def _changes(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _indented(head: str, text: str) -> Iterator[str]:
    yield f"  {head}"
    yield from (f"    {line}" for line in text.splitlines())


_STEPS: Mapping[AgentKind, tuple[StageName, ...]] = {
    "specify": ("specify",),
    "test": ("test",),
    "implement": ("implement", "verify"),
}
"""The steps that an agent's work has to pass; if the last one succeeds, it did."""


class LessonOutcome(Value):
    lesson_id: str
    helped: bool | None
    """Whether the step that was shown the lesson passed at its first attempt; None if that is
    unknown.
    """


def outcomes_of(events: Sequence[Event]) -> tuple[LessonOutcome, ...]:
    """One outcome for each lesson that was shown."""
    shown_lessons = [
        (hint.id, event.agent)
        for event in events
        if isinstance(event, LessonsShown)
        for hint in event.lessons
    ]
    is_own_end = ended_by_itself(events)
    return tuple(
        LessonOutcome(lesson_id=id, helped=_helped(agent, events) if is_own_end else None)
        for id, agent in shown_lessons
    )


def _helped(agent: AgentKind, events: Sequence[Event]) -> bool | None:
    match agent:
        case "execute":
            ends = [
                isinstance(event, ExecutionFinished)
                for event in events
                if isinstance(event, ExecutionFinished | ExecutionFailed)
            ]
            return all(ends) if ends else None
        case "coder" | "proxy":
            return _worked(agent, events)
    steps = _STEPS[agent]
    agent_steps = [
        event for event in events if isinstance(event, SynthesisStep) and event.step in steps
    ]
    if any(event.state == "failed" for event in agent_steps):
        return False
    return (
        True
        if any(event.step == steps[-1] and event.state == "finished" for event in agent_steps)
        else None
    )


def _worked(agent: AgentKind, events: Sequence[Event]) -> bool | None:
    """Whether an agent's messages all succeeded; for the coder, also all its runs of code."""
    states = [
        e.state
        for e in events
        if isinstance(e, DelegationChanged) and e.recipient == agent and e.state != "started"
    ]
    if agent == "coder":
        states += [e.state for e in events if isinstance(e, CodeRun) and e.state == "failed"]
    return "failed" not in states if states else None
