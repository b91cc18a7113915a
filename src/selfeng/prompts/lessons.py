"""The lessons for an agent as its prompt shows them: a few short lines of data."""

from selfeng.core.events import LessonsShown
from selfeng.core.lesson import AgentKind
from selfeng.core.turn import Turn
from selfeng.core.visible import one_line

_LONGEST = 400
"""Characters of a trigger, and of an advice, that are shown."""


async def learnt(turn: Turn, agent: AgentKind, about: str) -> str:
    """One line for each lesson that bears on what the agent is to do, "" if there is none; an event tells which."""
    lessons = await turn.recall(agent, about)
    untold = tuple(hint for hint in lessons if hint.id not in turn.taught)
    if untold:
        turn.taught.update(hint.id for hint in untold)
        turn.emit(LessonsShown(agent=agent, lessons=untold))
    return "\n".join(f"- {one_line(hint.trigger)[:_LONGEST]}: {one_line(hint.advice)[:_LONGEST]}" for hint in lessons)
