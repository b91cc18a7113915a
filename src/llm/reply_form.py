"""The form of a structured reply: its strict schema for the server, and the reading of what came back."""

import json
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any, Generic

from openai import pydantic_function_tool
from pydantic import ValidationError

from src.core.protocols import ReplyT

_WRAPPED = 3
"""How many wrappers are taken off."""
_MENDED = 4
"""How many rounds of mending: each may bring up problems one level deeper."""
_SHOWN = 5
"""How many problems are named."""


class ReplyForm(Generic[ReplyT]):
    """The pydantic type of a reply, as schema and as reader."""

    def __init__(self, reply: type[ReplyT]) -> None:
        self._reply = reply
        self.name = re.sub(r"\W+", "_", reply.__name__, flags=re.ASCII)[:64]
        # The SDK's documented way to a schema that strict mode takes: all properties required, no others allowed.
        self.tool: dict[str, Any] = dict(pydantic_function_tool(reply, name=self.name, description=f"Reply with one {self.name}."))
        self.schema: dict[str, Any] = self.tool["function"]["parameters"]

    def read(self, found: Iterable[Any]) -> ReplyT:
        """The value that one of the JSON values `found` holds: the last that fits, as it is, out of a wrapper, or mended.

        Raises:
            ValueError: none fits; says in one line what is wrong with the most likely one.
        """
        values = [value for outer in found for value in _unwrapped(outer)]
        objects = [value for value in values if isinstance(value, dict)]
        if not objects:
            raise ValueError("it holds no valid JSON object")
        problems: list[tuple[int, str]] = []
        for value in reversed(objects):
            try:
                return self._validated(value)
            except ValidationError as error:
                problems.append((self._known(value), _told(error)))
        for value in reversed(objects):
            mended = self._mended(value)
            if mended is not None:
                return mended
        raise ValueError(max(problems, key=lambda problem: problem[0])[1])

    def _validated(self, value: Any) -> ReplyT:
        # As JSON, because lists become tuples and text becomes dates only there where the type is strict.
        return self._reply.model_validate_json(json.dumps(value))

    def _known(self, value: dict[str, Any]) -> int:
        return len(value.keys() & self.schema.get("properties", {}).keys())

    def _mended(self, value: dict[str, Any]) -> ReplyT | None:
        """The value without unknown fields and with null for missing ones that may be null, if that is all it takes."""
        if not self._known(value):
            return None
        draft = deepcopy(value)
        for _ in range(_MENDED):
            try:
                return self._validated(draft)
            except ValidationError as error:
                if not all(_mend(draft, detail["type"], detail["loc"]) for detail in error.errors()):
                    return None
        return None


def _unwrapped(value: Any) -> Iterator[Any]:
    """The value, and what is left of it without wrappers that add nothing: a list of one, an only key, a written-out call."""
    for _ in range(_WRAPPED + 1):
        yield value
        match value:
            case [dict() as only]:
                value = only
            case {"name": str(), "arguments": dict() as inner} | {"name": str(), "parameters": dict() as inner}:
                value = inner
            case dict() if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict | list):
                value = inner
            case _:
                return


def _mend(draft: Any, kind: str, place: tuple[int | str, ...]) -> bool:
    if not place:
        return False
    *path, last = place
    for step in path:
        try:
            draft = draft[step]
        except (KeyError, IndexError, TypeError):
            return False  # the place names a branch of a union, not a key
    if not isinstance(draft, dict):
        return False
    if kind == "extra_forbidden":
        draft.pop(last, None)
        return True
    if kind == "missing":
        draft[last] = None
        return True
    return False


def _told(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_context=False)
    told = [f"{'.'.join(map(str, detail['loc'])) or 'the object'}: {detail['msg']}" for detail in details[:_SHOWN]]
    return "; ".join(told) + (f"; and {len(details) - _SHOWN} more" if len(details) > _SHOWN else "")
