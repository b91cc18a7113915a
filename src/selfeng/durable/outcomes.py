"""Outcomes: what a step came to, as it is recorded, and handed out again on a repetition."""

import asyncio
import hashlib
import pickle
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, TypeVar

from selfeng.core.errors import AgentError
from selfeng.core.files import File
from selfeng.core.turn import Budget
from selfeng.core.work import current_work, steps_of

T = TypeVar("T")


@dataclass(frozen=True)
class StepOutcome:
    """A value or an error, with what it cost."""

    value: Any = None
    error: AgentError | None = None
    charges: tuple[tuple[int, int, float | None], ...] = ()
    """Input tokens, output tokens and cost of each model call."""
    seconds: float = 0.0
    """The budget's, at the end of the step."""
    cancelled: bool = False
    """The turn cancelled it before it ended, as a concurrent part of the turn had failed."""

    @staticmethod
    def loaded(text: bytes) -> "StepOutcome":
        outcome = pickle.loads(text)  # noqa: S301 - written by this program, in its own database
        assert isinstance(outcome, StepOutcome), outcome
        return outcome

    async def again(self, budget: Budget | None = None) -> Any:
        """The value or the error once more, charged to the budget. A cancelled call waits to be
        cancelled again.
        """
        if budget is not None:
            for charge in self.charges:
                budget.charge(*charge)
            budget.catch_up(self.seconds)
        if self.cancelled:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return self.value


class StepMeter(Budget):
    """Passes on to a budget what a step costs, and notes it."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget.limits, parent=budget)
        self._budget = budget
        self._charges: list[tuple[int, int, float | None]] = []

    def charge(self, input_tokens: int, output_tokens: int, cost: float | None) -> None:
        self._charges.append((input_tokens, output_tokens, cost))
        super().charge(input_tokens, output_tokens, cost)

    def outcome(
        self, value: Any = None, error: AgentError | None = None, *, cancelled: bool = False
    ) -> StepOutcome:
        """An outcome with what was spent so far."""
        return StepOutcome(value, error, tuple(self._charges), self._budget.seconds, cancelled)


def name_of(door: str, *values: Any) -> str:
    """The name of a step: its door, and a digest of what it is given."""
    text = repr([_canonical(value) for value in values])
    return f"{door} {hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:16]}"


def _canonical(value: Any) -> Any:
    match value:
        case File():
            return value.reference()
        case list() | tuple():
            return [_canonical(item) for item in value]
        case dict():
            return {name: _canonical(item) for name, item in value.items()}
        case type():
            return value.__name__
        case FunctionType() | MethodType():
            return "function"
        case _:
            return value


async def done_once(
    name: str, do: Callable[[Budget, str], Awaitable[T]], budget: Budget | None = None
) -> T:
    """Call `do` once in the work of this task and return its value; later calls return the recorded
    one. `do` gets a budget to charge and a key under which it has its effect once.
    """
    spent = budget or Budget()
    if (work := current_work.get()) is None:
        return await do(spent, "")
    step = await work.step(name)
    if isinstance(step.earlier_outcome, StepOutcome):
        return await step.earlier_outcome.again(budget)  # type: ignore[no-any-return]
    meter = StepMeter(spent)
    try:
        with steps_of(None):  # what it does belongs to this step
            value = await do(meter, step.key)
    except AgentError as error:
        await step.record(meter.outcome(error=error))
        raise
    except asyncio.CancelledError:
        if not work.stopped:
            await asyncio.shield(step.record(meter.outcome(cancelled=True)))
        raise
    await step.record(meter.outcome(value))
    return value
