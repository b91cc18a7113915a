"""The part of a finished turn that becomes one tool."""

from collections.abc import Sequence

from selfeng.core.errors import RequestError
from selfeng.core.events import PlanMade, PlanStepChanged, Record, TurnFinished, TurnStarted
from selfeng.core.plan import SavedPlan, SavedStep


def plan_to_tool(records: Sequence[Record]) -> SavedPlan:
    """The plan of the turn whose records these are, with the tools that its steps ran.

    Raises:
        RequestError: the turn had no plan, did not reach its end, or had a step without a tool.
    """
    events = [record.event for record in records]
    plan = next((event for event in events if isinstance(event, PlanMade)), None)
    if plan is None:
        raise RequestError(
            "the turn had no plan", "only a request with a plan can be saved as one tool"
        )
    if not any(isinstance(event, TurnFinished) for event in events):
        raise RequestError("the turn has not finished", "only a plan that succeeded can be saved")
    tools = {
        event.step: event.tool
        for event in events
        if isinstance(event, PlanStepChanged) and event.state == "finished"
    }
    steps = []
    for step in plan.steps:
        if (tool := tools.get(step.id)) is None:
            raise RequestError(
                f"the step {step.id} ran no tool",
                "a plan can be saved only if every step ran a tool",
            )
        steps.append(SavedStep(request=step.request, tool=tool))
    request = next(event.request for event in events if isinstance(event, TurnStarted))
    return SavedPlan(turn_id=records[0].turn_id, request=request, steps=tuple(steps))
