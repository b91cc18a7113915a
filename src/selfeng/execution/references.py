"""References in arguments: `{"$result": "<id>"}` stands for what a step of the plan gave, as it is and without retyping."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.core.functions import REFERENCE
from selfeng.core.plan import StepResult
from selfeng.execution.arguments import ArgumentsInvalid


def resolved(arguments: Mapping[str, Any], results: Sequence[StepResult]) -> dict[str, Any]:
    """The arguments with every reference, at whatever depth, replaced by the value.

    Raises:
        ArgumentsInvalid: there is no such result, or its value is not plain JSON.
    """
    values = {result.id: result.data for result in results}
    return {name: _resolved(value, values) for name, value in arguments.items()}


def _resolved(value: Any, values: Mapping[str, str | None]) -> Any:
    match value:
        case {"$result": id} if len(value) == 1 and values:
            data = values.get(id) if isinstance(id, str) else None
            if data is None:
                known = ", ".join(name for name, known in values.items() if known is not None) or "none"
                raise ArgumentsInvalid(f'{{"{REFERENCE}": {id!r}}} names no result that can be passed; these can: {known}')
            return json.loads(data)
        case dict():
            return {key: _resolved(item, values) for key, item in value.items()}
        case list():
            return [_resolved(item, values) for item in value]
        case _:
            return value
