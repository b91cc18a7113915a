"""The form of a structured reply: its strict schema for the server, and how replies are read."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, Literal

from openai import pydantic_function_tool
from pydantic import ValidationError

from selfeng.core.prompt import FunctionSchema
from selfeng.core.protocols import ReplyT
from selfeng.models.chat import ChatRequest, Message, ModelReply, with_words
from selfeng.models.json_text import find, mended
from selfeng.models.ladder import Malformed, NotFollowed, Strategy

_WRAPPED = 3
_MENDED = 4
"""How many rounds of mending: each may reveal problems one level deeper."""
_SHOWN = 5

_WORDS = ("title", "description")
"""Words about a schema that nothing is checked against."""

Place = tuple[int | str, ...]
"""Keys and indexes that lead to a part of a value."""


class ReplyForm(Generic[ReplyT]):
    """The pydantic type of a reply, as a schema and as a reader."""

    def __init__(self, reply: type[ReplyT]) -> None:
        self._reply = reply
        self.name = re.sub(r"\W+", "_", reply.__name__, flags=re.ASCII)[:64]
        # The SDK's documented way to make a schema for strict mode: all properties required, no
        # others allowed.
        self.schema: dict[str, Any] = _plain(
            pydantic_function_tool(reply)["function"]["parameters"]
        )
        self.function = FunctionSchema(
            name=self.name, description=f"Reply with one {self.name}.", parameters=self.schema
        )

    def read(self, json_values: Iterable[Any], repaired: Iterable[Any] = ()) -> ReplyT:
        """The value in one of the `json_values`: the last that fits, as it is, unwrapped, or
        mended. Values that were `repaired`, because they are not quite JSON, count if they fit as
        they are.

        Raises:
            ValueError: none fits; says in one line what is wrong with the most likely one.
        """
        objects = list(_objects_in(json_values))[::-1]
        problems = [(-1, "it holds no valid JSON object")]
        for value in chain(objects, _objects_in(repaired)):
            try:
                return self._validated(value)
            except ValidationError as error:
                problems.append((self._known_key_count(value), _problem_text(error)))
        for value in sorted(objects, key=self._known_key_count, reverse=True):
            if (mended := self._mended(value)) is not None:
                return mended
        raise ValueError(max(problems, key=lambda problem: problem[0])[1])

    def _validated(self, value: Any) -> ReplyT:
        # As JSON, because only then does a strict type turn lists into tuples and text into dates.
        return self._reply.model_validate_json(json.dumps(value))

    def _known_key_count(self, value: dict[str, Any]) -> int:
        return len(value.keys() & self.schema.get("properties", {}).keys())

    def _mended(self, value: dict[str, Any]) -> ReplyT | None:
        """The value with unknown fields removed, missing ones null and numbers as Python source
        where text is needed, if that is enough.
        """
        if not self._known_key_count(value):
            return None
        draft, added = deepcopy(value), set[Place]()
        for _ in range(_MENDED):
            try:
                return self._validated(draft)
            except ValidationError as error:
                if not all(
                    _mend(draft, detail["type"], detail["loc"], added) for detail in error.errors()
                ):
                    return None
        return None


def _plain(schema: Any) -> Any:
    """The schema without titles, which repeat names, and descriptions, which the prompt gives."""
    match schema:
        case dict():
            return {
                key: _plain(value)
                for key, value in schema.items()
                if not (key in _WORDS and isinstance(value, str))
            }
        case list():
            return [_plain(value) for value in schema]
        case _:
            return schema


def _objects_in(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The objects in the values, with and without wrappers."""
    inner = (value for outer in values for value in _unwrapped(outer))
    return (value for value in inner if isinstance(value, dict))


def _unwrapped(value: Any) -> Iterator[Any]:
    """The value, and what remains without wrappers that add nothing: a list of one, a single key, a
    written-out call.
    """
    for _ in range(_WRAPPED + 1):
        yield value
        match value:
            case [dict() as only]:
                value = only
            case {"name": str(), "arguments": dict() as inner} | {
                "name": str(),
                "parameters": dict() as inner,
            }:
                value = inner
            case dict() if len(value) == 1 and isinstance(
                inner := next(iter(value.values())), dict | list
            ):
                value = inner
            case _:
                return


def _mend(draft: Any, kind: str, place: Place, added: set[Place]) -> bool:
    """Change the one part of the draft that is wrong; `added` are the missing fields that were
    added so far, first as null.
    """
    if not place:
        return False
    *path, last = place
    for step in path:
        draft = _part(draft, step)
    value = _part(draft, last)
    match draft, kind:
        case dict(), "extra_forbidden":
            draft.pop(last, None)
        case dict(), "missing":
            draft[last] = None
            added.add(place)
        case dict(), "string_type" | "tuple_type" | "list_type" if place in added:
            if 2 * sum((*path, key) in added for key in draft) > len(draft):
                return False  # if most is missing, something else was meant
            draft[last] = "" if kind == "string_type" else []
        case _, "string_type" if _is_number(value):
            draft[last] = repr(value)
        case _:
            return False
    return True


def _part(value: Any, step: int | str) -> Any:
    """The part one step down, or None: a step may be missing, or name a branch of a union."""
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None


def _is_number(value: Any) -> bool:
    """Whether the value is a number or a boolean with a Python literal."""
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _problem_text(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_context=False)
    problems = [
        f"{'.'.join(map(str, detail['loc'])) or 'the object'}: {detail['msg']}"
        for detail in details[:_SHOWN]
    ]
    return "; ".join(problems) + (
        f"; and {len(details) - _SHOWN} more" if len(details) > _SHOWN else ""
    )


def strategies_for(reply: type[ReplyT]) -> tuple[Strategy[ReplyT], ...]:
    """The strategies for a value of the type, best first."""
    form = ReplyForm(reply)
    return (
        _Way(form, schema=True),
        # LM Studio takes no object, and earlier versions of vLLM take nothing else.
        _Way(form, choice="required", fallback=2),
        _Way(form, choice="named"),
        _Way(form, words=_in_words(form)),
    )


@dataclass(frozen=True)
class _Way(Generic[ReplyT]):
    form: ReplyForm[ReplyT]
    schema: bool = False
    choice: Literal["required", "named"] | None = None
    words: str = ""
    fallback: int = 1
    sticky: bool = True  # a server that knows these options can't reply otherwise

    def request(self, messages: Sequence[Message], repair: Sequence[Message]) -> ChatRequest:
        prompt_messages = with_words(messages, self.words) if self.words else messages
        return ChatRequest(
            messages=(*prompt_messages, *repair),
            functions=(self.form.function,) if self.choice else (),
            choice=self.choice or "auto",
            strict=bool(self.choice),
            reply=self.form.function if self.schema else None,
        )

    def read(self, reply: ModelReply) -> ReplyT:
        texts = [*(call.arguments for call in reply.calls), reply.text]
        json_values = [value for text in texts for value in find(text)]
        if not json_values and not reply.calls and not mended(reply.text):
            raise NotFollowed("it holds no JSON")
        try:
            return self.form.read(json_values, (value for text in texts for value in mended(text)))
        except ValueError as error:
            raise Malformed(str(error)) from error

    def demand(self, problem: str) -> str:
        schema = json.dumps(self.form.schema, ensure_ascii=False)
        return (
            f"That reply can't be used: {problem}.\n\nReply again in full, as one JSON object "
            f"that fits this JSON Schema:\n\n{schema}"
        )


def _in_words(form: ReplyForm[Any]) -> str:
    schema = json.dumps(form.schema, ensure_ascii=False)
    return (
        "Reply with one JSON object that fits this JSON Schema, and nothing "
        f"else:\n\n```json\n{schema}\n```"
    )
