"""A lesson: what an earlier turn taught one kind of agent, kept to be shown to the next attempt of
that kind.
"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator

from selfeng.core.stage import as_now
from selfeng.core.value import Value

AgentKind = Annotated[
    Literal["specify", "test", "implement", "execute", "coder", "proxy"], BeforeValidator(as_now)
]
"""Who a lesson is for: the stage that writes the specification, the suite, or the module and its
repairs; the one that chooses a tool and its arguments; the agent that works step by step in Python;
or the one that relays between the person and the others.
"""


class LessonHint(Value):
    """What of a lesson is shown to an agent."""

    id: str
    trigger: str
    """When it applies, such as `a function rounds numbers`."""
    advice: str


class Lesson(LessonHint):
    """A lesson with what became of it."""

    agent: AgentKind
    evidence: tuple[str, ...]
    """Ids of the turns that taught it, the oldest first."""
    uses: int = 0
    """Turns in which it was shown."""
    helped: int = 0
    """Turns in which the step that it was shown to passed at its first attempt."""
    failed: int = 0
    """Turns in which that step failed nevertheless."""
    weight: float
    """0..1: how much it counts beside others."""
    expired: bool = False
    """Whether it is shown no more, as it did not help or nobody needed it."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """When it was last learnt, shown or edited; UTC."""

    def hint(self) -> LessonHint:
        return LessonHint(id=self.id, trigger=self.trigger, advice=self.advice)
