"""Plans as a prompt shows them: the results that a step can use, and the steps that one tool is to be made of."""

import json
from typing import Any

from selfeng.core.turn import Turn
from selfeng.core.words import shortened

_SHOWN = 2000
"""Characters of a result; a reference passes all of it."""


def shown(turn: Turn) -> dict[str, Any]:
    """What a specification is told: whether it may be a plan or work for agents, what it can use, and which plan is kept."""
    return {"may_plan": not (turn.plan_step or turn.kept or turn.delegated), "results": results(turn), "kept": kept(turn)}


def results(turn: Turn) -> str:
    """One line of JSON for each result of a step that this one needs; "" if there is none."""
    return _lines([_result(r.id, r.request, r.text) | ({} if r.data is not None else {"reference": False}) for r in turn.results])


def all_results(turn: Turn) -> str:
    """The same for the answer, which can't refer to them."""
    return _lines([_result(r.id, r.request, r.text) for r in turn.results])


def kept(turn: Turn) -> str:
    """One line of JSON for each step of the plan that is kept as one tool; "" if none is."""
    return _lines([{"request": step.request, "tool": step.tool} for step in turn.kept])


def _result(id: str, request: str, text: str) -> dict[str, Any]:
    return {"id": id, "request": request, "value": shortened(text, _SHOWN)}


def _lines(lines: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(line, ensure_ascii=False).replace("<", "\\u003c") for line in lines)
