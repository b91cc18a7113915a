"""What became of the lessons that a turn was shown."""

from collections.abc import Sequence

from selfeng.core.events import CodeRun, DelegationChanged, Event, ExecutionFailed, ExecutionFinished, LessonsShown, SynthesisStep
from selfeng.core.lesson import AgentKind
from selfeng.core.value import Value
from selfeng.lessons.account import ended_by_itself

_STEPS: dict[AgentKind, tuple[str, ...]] = {
    "specification": ("specification",),
    "tests": ("tests",),
    "implementation": ("implementation", "verification"),
}
"""What an agent's work has to pass; the last of them says that it did."""


class Outcome(Value):
    lesson_id: str
    helped: bool | None
    """Whether what it was shown to passed at its first attempt; None if the turn does not tell."""


def outcomes_of(events: Sequence[Event]) -> tuple[Outcome, ...]:
    """One for each lesson that was shown."""
    shown = [(hint.id, event.agent) for event in events if isinstance(event, LessonsShown) for hint in event.lessons]
    told = ended_by_itself(events)
    return tuple(Outcome(lesson_id=id, helped=_helped(agent, events) if told else None) for id, agent in shown)


def _helped(agent: AgentKind, events: Sequence[Event]) -> bool | None:
    match agent:
        case "execution":
            ends = [isinstance(event, ExecutionFinished) for event in events if isinstance(event, ExecutionFinished | ExecutionFailed)]
            return all(ends) if ends else None
        case "coder" | "proxy":
            return _worked(agent, events)
    steps = _STEPS[agent]
    mine = [event for event in events if isinstance(event, SynthesisStep) and event.step in steps]
    if any(event.state == "failed" for event in mine):
        return False
    return True if any(event.step == steps[-1] and event.state == "finished" for event in mine) else None


def _worked(agent: AgentKind, events: Sequence[Event]) -> bool | None:
    """Whether an agent's messages came to a good end, the coder's without code that failed on the way."""
    mine = [e.state for e in events if isinstance(e, DelegationChanged) and e.recipient == agent and e.state != "started"]
    if agent == "coder":
        mine += [e.state for e in events if isinstance(e, CodeRun) and e.state == "failed"]
    return "failed" not in mine if mine else None
