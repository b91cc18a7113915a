"""Plans as a prompt shows them: the results that a step can use, and the steps that one tool is to be made of."""

from typing import Any

from selfeng.core.turn import Turn
from selfeng.core.words import shortened
from selfeng.prompts import json_lines

_SHOWN = 2000
"""Characters of a result; a reference passes all of it."""


def shown(turn: Turn) -> dict[str, Any]:
    """What a specification is told: whether it may be a plan or work for agents, what it can use, and which plan is kept."""
    return {"may_plan": not (turn.plan_step or turn.kept or turn.delegated), "results": results(turn), "kept": kept(turn)}


def results(turn: Turn) -> str:
    """One line of JSON for each result of a step that this one needs; "" if there is none."""
    return json_lines([_result(r.id, r.request, r.text) | ({} if r.data is not None else {"reference": False}) for r in turn.results])


def all_results(turn: Turn) -> str:
    """The same for the answer, which can't refer to them."""
    return json_lines([_result(r.id, r.request, r.text) for r in turn.results])


def kept(turn: Turn) -> str:
    """One line of JSON for each step of the plan that is kept as one tool; "" if none is."""
    return json_lines([{"request": step.request, "tool": step.tool} for step in turn.kept])


def _result(id: str, request: str, text: str) -> dict[str, Any]:
    return {"id": id, "request": request, "value": shortened(text, _SHOWN)}
