"""The ladder for the choice of a function: a required call, an optional call, then a call written
as JSON.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.models.chat import ChatRequest, Message, ModelReply, with_native_calls, with_words
from selfeng.models.json_text import find, mended, parse
from selfeng.models.ladder import Malformed, NotFollowed, Strategy

_MARKS = r"(?:\s|\[\w+\]|<[^<>{}]*>|>|```\w*|json|:\d*|\()*"
"""Between a name and its arguments, such as `[ARGS]` or `<|constrain|>json<|message|>`."""
_FIELD = re.compile(
    r"<(?:parameter=|arg_key>)([^<>]+?)(?:>|</arg_key>\s*<arg_value>)(.*?)</(?:parameter|arg_value)>",
    re.DOTALL,
)
_TOKEN = re.compile(r"<\|\w+\|>")
_BLOCK = re.compile(r"```(?:\w+\n)?(.*?)```", re.DOTALL)
_PREFIX = "functions."
"""Models that know how OpenAI describes functions sometimes write it."""

_MOST = 20
"""Calls of one function in a reply."""


def strategies_for(functions: Sequence[FunctionSchema]) -> tuple[Strategy[FunctionCall], ...]:
    """The strategies for one call of one of the functions, best first."""
    names = {function.name: function.repeatable for function in functions}
    return (
        _Native(names, tuple(functions), "required", fallback=2),
        _Native(names, tuple(functions), "auto"),
        _Written(names, _in_words(functions)),
    )


@dataclass(frozen=True)
class _Native:
    """Tool calling. A model that replies in text once may well call the next time."""

    names: Mapping[str, bool]
    """Whether one reply may call the function several times, by its name."""
    functions: tuple[FunctionSchema, ...]
    choice: Literal["required", "auto"]
    fallback: int = 1
    sticky: bool = False

    def request(self, messages: Sequence[Message], repair: Sequence[Message]) -> ChatRequest:
        return ChatRequest(
            messages=(*with_native_calls(messages, self.names), *repair),
            functions=self.functions,
            choice=self.choice,
        )

    def read(self, reply: ModelReply) -> FunctionCall:
        if not reply.calls:
            return _written_call(reply.text, self.names)
        calls: list[FunctionCall] = []
        for call in reply.calls:
            if (parsed_call := _called(call.name, call.arguments, self.names)) not in calls:
                calls.append(parsed_call)
        return _together(calls, self.names)

    def demand(self, problem: str) -> str:
        return (
            f"That call can't be used: {problem}. Call exactly one of these functions: "
            f"{', '.join(self.names)}."
        )


@dataclass(frozen=True)
class _Written:
    """A call in words, for servers and models without tool calling."""

    names: Mapping[str, bool]
    """Whether one reply may call the function several times, by its name."""
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


def _written_call(text: str, names: Mapping[str, bool]) -> FunctionCall:
    """The one call that the text contains as JSON, in one of the shapes that models write."""
    json_values = find(text)
    calls, values = [*_shaped(json_values, names)], json_values
    if not calls:
        values = mended(text)
        calls = [*_shaped(values, names)] or [*_marked(text, names)]
    if not calls:
        raise (NotFollowed if not json_values else Malformed)("it calls no function")
    last = _called(*calls[-1], names)
    if all(call == calls[-1] for call in calls):
        return last
    if values and len([*_shaped(values[-1], names)]) < len(calls):
        raise Malformed(f"it holds {len(calls)} different calls instead of one")
    return _together([_called(*call, names) for call in calls], names)


def _shaped(value: Any, names: Mapping[str, bool]) -> Iterator[tuple[str, Any]]:
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
            | {"tool_name": str(name), **rest}
            | {"action": str(name), **rest}
        ):
            yield (
                name,
                next(
                    (
                        rest[key]
                        for key in ("arguments", "parameters", "args", "input", "action_input")
                        if key in rest
                    ),
                    {},
                ),
            )
        case dict() if len(value) == 1 and next(iter(value)) in names:
            yield next(iter(value.items()))


def _called(name: str, arguments: Any, names: Mapping[str, bool]) -> FunctionCall:
    return FunctionCall(name=_checked_name(name, names), arguments=_arguments(arguments))


def _together(calls: Sequence[FunctionCall], names: Mapping[str, bool]) -> FunctionCall:
    """One call, with the arguments of further ones of the same function if that is repeatable."""
    name = calls[0].name
    if len(calls) > 1 and not (names[name] and all(call.name == name for call in calls)):
        called = ", ".join(call.name for call in calls)
        raise Malformed(f"it calls {len(calls)} functions ({called}) instead of one")
    if len(calls) > _MOST:
        raise Malformed(f"it calls {name} {len(calls)} times; {_MOST} times is the most")
    further = tuple(call.arguments for call in calls[1:])
    return calls[0].model_copy(update={"further": further})


def _marked(text: str, names: Mapping[str, bool]) -> Iterator[tuple[str, Any]]:
    """Calls in the words of models whose server leaves them in the text: the name, some marks, and
    the arguments as JSON.
    """
    name_pattern = "|".join(map(re.escape, names))
    for match in re.finditer(rf"(?<!\w)({name_pattern})(?!\w){_MARKS}(?={{)", text):
        if arguments := find(text[match.end() :])[:1]:
            yield match[1], arguments[0]
    tagged = rf"<(?:function=|tool_call>)\s*({name_pattern})\b(.*?)</(?:function|tool_call)>"
    for name, body in re.findall(tagged, text, re.DOTALL):
        if (fields := _FIELD.findall(body)) or not body.strip(" \n>"):
            yield name, {field.strip(): _field(value.strip()) for field, value in fields}
    yield from _in_python(text, names)


def _field(text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return text


def _in_python(text: str, names: Mapping[str, bool]) -> Iterator[tuple[str, Any]]:
    """Calls with literals where the whole text, or a block of code in it, is one, or a list of
    them.
    """
    block = _BLOCK.search(text)
    try:
        tree = ast.parse(_TOKEN.sub("", block[1] if block else text).strip(), mode="eval")
        for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
            arguments = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            if (name := ast.unparse(call.func)) in names and not call.args:
                yield name, arguments
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return


def _checked_name(name: str, names: Mapping[str, bool]) -> str:
    if (plain := name.strip().removeprefix(_PREFIX)) not in names:
        raise Malformed(f"unknown function {name!r}")
    return plain


def _arguments(arguments: Any) -> dict[str, Any]:
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    try:
        value = parse(arguments) if isinstance(arguments, str) else arguments
    except ValueError as error:
        if repaired := mended(arguments):
            return _arguments(repaired[0])
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
