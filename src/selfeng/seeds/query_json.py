"""One value out of a JSON text."""

import json
import re
from typing import Any

_STEP = re.compile(r"""\.?(?P<key>[^.\[\]"']+)|\[(?P<index>-?\d+)\]|\[(?P<quote>["'])(?P<name>.*?)(?P=quote)\]""")


def query_json(json_text: str, path: str) -> Any:
    """Get the value at a path such as `users[0].name` out of a JSON text.

    Returns:
        The value: text, a number, a boolean, null, a list or an object.

    Raises:
        ValueError: the text is not JSON, the path is malformed, or it leads nowhere.
    """
    try:
        value = json.loads(json_text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the text is not valid JSON: {error}") from error
    walked = "$"
    for step in _steps(path):
        value = _descend(value, step, walked)
        walked += f"[{step!r}]"
    return value


def _steps(path: str) -> list[str | int]:
    rest = path.strip().removeprefix("$")
    steps: list[str | int] = []
    while rest and rest != ".":
        match = _STEP.match(rest)
        if match is None:
            raise ValueError(f"the path {path!r} can't be understood at {rest!r}; write it like users[0].name")
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["name"] if match["key"] is None else match["key"])
        rest = rest[match.end() :]
    return steps


def _descend(value: Any, step: str | int, walked: str) -> Any:
    if isinstance(value, list):
        index = step if isinstance(step, int) else int(step) if re.fullmatch(r"-?\d+", step) else None
        if index is None or not -len(value) <= index < len(value):
            raise ValueError(f"{walked} is a list of {len(value)} items and has no item {step!r}")
        return value[index]
    if isinstance(value, dict):
        key = str(step)
        if key not in value:
            raise ValueError(f"{walked} has no key {key!r}; its keys are {', '.join(map(repr, value))}")
        return value[key]
    raise ValueError(f"{walked} is {json.dumps(value)} and has nothing inside, so {step!r} can't be found in it")
