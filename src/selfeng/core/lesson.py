"""A lesson: what an earlier turn taught one kind of agent, shown to its next attempts."""

from datetime import datetime
from typing import Literal

from selfeng.core.value import Value

AgentKind = Literal["specify", "test", "implement", "execute", "coder", "proxy"]
"""The reader of a lesson: the stage that writes the specification, the suite, or the module and its
repairs; the one that chooses a tool and its arguments; the agent that works step by step in Python;
or the one that relays between the person and the other agents.
"""


class LessonHint(Value):
    """The part of a lesson that is shown to an agent."""

    id: str
    trigger: str
    """When it applies, such as `a function rounds numbers`."""
    advice: str


class Lesson(LessonHint):
    """A lesson with its record."""

    agent: AgentKind
    evidence: tuple[str, ...]
    """Ids of the turns that taught it, oldest first."""
    uses: int = 0
    """Turns in which it was shown."""
    helped: int = 0
    """Turns in which the step that saw it passed at its first attempt."""
    failed: int = 0
    """Turns in which that step failed all the same."""
    weight: float
    """0..1: its weight among others."""
    expired: bool = False
    """Whether it is no longer shown, because it did not help or was not needed."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """When it was last learnt, shown or edited; UTC."""

    def hint(self) -> LessonHint:
        return LessonHint(id=self.id, trigger=self.trigger, advice=self.advice)
