"""A plan: the steps of a request that no single tool serves, and their results."""

import json
import re
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from selfeng.core.result import IN_SHORT, in_line
from selfeng.core.value import Value

LEAST, MOST = 2, 6
"""Steps of a plan."""
_ID = re.compile(r"[a-z][a-z0-9_]{0,29}")


class PlannedStep(Value):
    id: str
    """Short, such as `reversed`; unique in the plan."""
    request: str
    """The task of this step, worded as a request of its own; it refers to the results of other
    steps by their ids.
    """
    needs: tuple[str, ...]
    """Ids of the steps that it takes results from."""


class Plan(Value):
    steps: tuple[PlannedStep, ...]


class StepResult(Value):
    """The result of a step of a plan."""

    id: str
    request: str
    tool: str | None
    """None if the model answered without a tool."""
    text: str
    """The value for people."""
    data: str | None
    """The value as JSON text; None if it is not plain JSON, or too large."""
    summary: str = ""
    """The summary of a long value for a model; "" if the model gets the text."""

    @property
    def shown(self) -> str:
        """The value for people; of a long one its shape."""
        shape = self.summary.partition(f", {IN_SHORT}")[0]
        return shape or (self.text if self.data is None else in_line(json.loads(self.data)))


class SavedStep(Value):
    """A step of a plan that is to become one tool."""

    request: str
    tool: str


class SavedPlan(Value):
    kind: Literal["plan"] = "plan"
    turn_id: str
    """Of the turn that ran the plan; "" if it has not run."""
    request: str
    steps: tuple[SavedStep, ...]


def in_order(plan: Plan) -> tuple[PlannedStep, ...]:
    """The steps, each after the ones that it needs."""
    by_id = {step.id: step for step in plan.steps}
    return tuple(
        by_id[id]
        for id in TopologicalSorter({step.id: step.needs for step in plan.steps}).static_order()
    )


def plan_problem(steps: Sequence[PlannedStep]) -> str:
    """Why these steps are not a plan, in words that the model can act on; "" if they are."""
    ids = [step.id for step in steps]
    if not LEAST <= len(steps) <= MOST:
        return f"a plan has {LEAST} to {MOST} steps, not {len(steps)}"
    if odd := [i for i in ids if not _ID.fullmatch(i)]:
        return f"{odd[0]!r} can't be the id of a step; use a short word in lower case"
    if twice := [i for i in ids if ids.count(i) > 1]:
        return f"two steps have the id {twice[0]}"
    for step in steps:
        if not step.request.strip():
            return f"the step {step.id} has no request"
        if unknown := [need for need in step.needs if need not in ids]:
            return f"the step {step.id} needs {unknown[0]}, which is not a step"
    try:
        TopologicalSorter({step.id: step.needs for step in steps}).prepare()
    except CycleError as error:
        return f"these steps wait for each other: {', '.join(error.args[1])}"
    return ""
