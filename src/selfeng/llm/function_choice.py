"""The ladder for the choice of a function: a required call, an optional call, then a call written
as JSON.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.llm.chat import ChatRequest, Message, ModelReply, with_words
from selfeng.llm.json_text import find, parse
from selfeng.llm.ladder import Malformed, NotFollowed, Strategy

_PREFIX = "functions."
"""Models that know how OpenAI describes functions sometimes write it."""


def strategies_for(functions: Sequence[FunctionSchema]) -> tuple[Strategy[FunctionCall], ...]:
    """The strategies for one call of one of the functions, best first."""
    names = tuple(function.name for function in functions)
    tools = [{"type": "function", "function": function.model_dump()} for function in functions]
    return (
        _Native(names, {"tools": tools, "tool_choice": "required"}, fallback=2),
        _Native(names, {"tools": tools, "tool_choice": "auto"}),
        _Written(names, _in_words(functions)),
    )


@dataclass(frozen=True)
class _Native:
    """Tool calling. A model that replies in text once may well call the next time."""

    names: tuple[str, ...]
    options: Mapping[str, Any]
    fallback: int = 1
    sticky: bool = False

    def request(self, messages: Sequence[Message], repair: Sequence[Message]) -> ChatRequest:
        return ChatRequest(messages=(*messages, *repair), options=self.options)

    def read(self, reply: ModelReply) -> FunctionCall:
        if not reply.calls:
            return _written_call(reply.text, self.names)
        calls: list[FunctionCall] = []
        for call in reply.calls:
            chosen = FunctionCall(
                name=_known(call.name, self.names), arguments=_arguments(call.arguments)
            )
            if chosen not in calls:
                calls.append(chosen)
        if len(calls) > 1:
            raise Malformed(
                f"it calls {len(calls)} functions ({', '.join(call.name for call in calls)}) "
                "instead of one"
            )
        return calls[0]

    def demand(self, problem: str) -> str:
        return (
            f"That call can't be used: {problem}. Call exactly one of these functions: "
            f"{', '.join(self.names)}."
        )


@dataclass(frozen=True)
class _Written:
    """A call in words, for servers and models without tool calling."""

    names: tuple[str, ...]
    words: str
    fallback: int = 0
    sticky: bool = False

    def request(self, messages: Sequence[Message], repair: Sequence[Message]) -> ChatRequest:
        return ChatRequest(messages=(*with_words(messages, self.words), *repair))

    def read(self, reply: ModelReply) -> FunctionCall:
        return _written_call(reply.text, self.names)

    def demand(self, problem: str) -> str:
        names = ", ".join(self.names)
        return (
            f'That reply can\'t be used: {problem}. Reply with {{"name": …, "arguments": '
            f"{{…}}}} and nothing else; name is one of {names}."
        )


def _written_call(text: str, names: Sequence[str]) -> FunctionCall:
    """The one call that the text contains as JSON, in one of the shapes that models write."""
    found = find(text)
    calls = [call for value in found for call in _shaped(value, names)]
    if not calls:
        raise (NotFollowed if not found else Malformed)("it calls no function")
    name, arguments = calls[-1]
    if any(call != calls[-1] for call in calls):
        raise Malformed(f"it holds {len(calls)} different calls instead of one")
    return FunctionCall(name=_known(name, names), arguments=_arguments(arguments))


def _shaped(value: Any, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    match value:
        case list():
            for item in value:
                yield from _shaped(item, names)
        case (
            {"function": dict() as inner}
            | {"tool_call": dict() as inner}
            | {"tool_calls": list() as inner}
        ):
            yield from _shaped(inner, names)
        case (
            {"name": str(name), **rest}
            | {"function": str(name), **rest}
            | {"tool": str(name), **rest}
        ):
            yield (
                name,
                next(
                    (
                        rest[key]
                        for key in ("arguments", "parameters", "args", "input")
                        if key in rest
                    ),
                    {},
                ),
            )
        case dict() if len(value) == 1 and next(iter(value)) in names:
            yield next(iter(value.items()))


def _known(name: str, names: Sequence[str]) -> str:
    plain = name.strip().removeprefix(_PREFIX)
    if plain not in names:
        raise Malformed(f"unknown function {name!r}")
    return plain


def _arguments(arguments: Any) -> dict[str, Any]:
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    try:
        value = parse(arguments) if isinstance(arguments, str) else arguments
    except ValueError as error:
        raise Malformed(f"its arguments are not valid JSON ({error})") from error
    if not isinstance(value, dict):
        raise Malformed("its arguments are not a JSON object")
    return value


def _in_words(functions: Sequence[FunctionSchema]) -> str:
    described = "\n".join(
        json.dumps(function.model_dump(), ensure_ascii=False) for function in functions
    )
    return (
        f"The functions, one a line:\n\n{described}\n\n"
        'Call exactly one: reply with one JSON object {"name": "<name of the function>", '
        '"arguments": {…}} and nothing else.'
    )
