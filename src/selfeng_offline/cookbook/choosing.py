"""Choosing: which of the tools on the wire serves a request, and with which arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.core.functions import CRON, NO_TOOL_FITS, REFERENCE, STANDALONE
from selfeng.core.value import Value
from selfeng_offline.completion import Completion
from selfeng_offline.cookbook.literals import (
    Unreadable,
    read_bracketed,
    read_number,
    unquoted,
)
from selfeng_offline.cookbook.matching import Match, completed, in_english, is_german, matches
from selfeng_offline.cookbook.read_prompt import ReadPrompt, once
from selfeng_offline.cookbook.recipe import recipe_for_tool
from selfeng_offline.cookbook.small_talk import reply_to

_LITERAL = re.compile(
    r"""(?P<quoted>"[^"]*"|“[^”]*”|`[^`]*`|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w))|(?P<list>\[[^\[\]]*\])|(?P<number>(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w))"""
)
_SILENT = frozenset(
    re.findall(
        r"\w+",
        "a an the of to in on at for from with and or is are be was it its this that these those "
        "by as me my you i we please can could "
        "would what which who how many much do does did give show tell find get make calculate "
        "compute determine number numbers text "
        "string value values list word result return returns given using one whether if into "
        "between each two",
    )
)


class OfferedTool(Value):
    """A tool that the model may call, as it is on the wire."""

    name: str
    description: str = ""
    properties: Mapping[str, Any] = {}

    @classmethod
    def from_wire(cls, function: Mapping[str, Any]) -> "OfferedTool":
        properties = dict((function.get("parameters") or {}).get("properties") or {})
        properties.pop(STANDALONE, None)
        properties.pop(CRON, None)
        return cls(
            name=function["name"],
            description=function.get("description") or "",
            properties=properties,
        )

    @property
    def required(self) -> tuple[str, ...]:
        """Parameters without a default; the schema requires all of them and names defaults in the
        descriptions.
        """
        return tuple(
            name
            for name, schema in self.properties.items()
            if "(default " not in schema.get("description", "")
        )


def choose(prompt: ReadPrompt) -> Completion:
    """The call of the tool that does what a matching recipe does, or that has the same subject as
    the request.
    """
    prompt, cron = once(prompt)
    answers = {answer["id"]: answer["answer"] for answer in prompt.lines("answers")}
    candidates = (
        completed((*prompt.earlier, prompt.request), answers)
        or completed(prompt.earlier, answers)
        or matches(prompt.request, prompt.earlier)
    )
    recipe_matches = tuple(match.with_file(prompt.files) for match in candidates)
    completion = _choose_tool(prompt, recipe_matches)
    if cron and completion.function != NO_TOOL_FITS.name:
        arguments = {**(completion.arguments or {}), CRON: cron}
        completion = completion.model_copy(update={"arguments": arguments})
    if not any(STANDALONE in tool["parameters"].get("properties", {}) for tool in prompt.tools):
        return completion
    alone = (
        in_english(prompt.request)
        if matches(prompt.request) or not recipe_matches
        else recipe_matches[0].told
    )
    arguments = {STANDALONE: alone, **(completion.arguments or {})}
    return completion.model_copy(update={"arguments": arguments})


def _choose_tool(prompt: ReadPrompt, recipe_matches: Sequence[Match]) -> Completion:
    tools = [
        OfferedTool.from_wire(tool) for tool in prompt.tools if tool["name"] != NO_TOOL_FITS.name
    ]
    for match in recipe_matches:
        for tool in tools:
            if (
                recipe_for_tool(tool.name) is match.recipe
                and (arguments := _filled(tool, match)) is not None
            ):
                results = {result["id"] for result in prompt.lines("results")}
                return _called(
                    tool.name,
                    {
                        n: {REFERENCE: v} if isinstance(v, str) and v in results else v
                        for n, v in arguments.items()
                    },
                )
    foreign = [tool for tool in tools if recipe_for_tool(tool.name) is None]
    fitting = [
        (tool.name, arguments)
        for tool in foreign
        if (arguments := _filled_by_literals(prompt.request, tool)) is not None
    ]
    if len(fitting) != 1 and not recipe_matches and not reply_to(prompt.request):
        lacking = [
            (tool.name, arguments)
            for tool in tools
            if (arguments := _filled_in_part(prompt.request, tool)) is not None
        ]
        fitting = lacking[:1]  # the likeliest
    return (
        _called(*fitting[0])
        if len(fitting) == 1
        else _called(NO_TOOL_FITS.name, {"reason": _why_none(prompt.request, recipe_matches)})
    )


def _called(name: str, arguments: dict[str, Any]) -> Completion:
    return Completion(function=name, arguments=arguments, finish_reason="tool_calls")


def _why_none(request: str, recipe_matches: Sequence[Match]) -> str:
    if is_german(request):
        return "Keines dieser Werkzeuge kann das."
    if recipe_matches:
        does = recipe_matches[0].recipe.specification.description.rstrip(".")
        return f"None of these tools does this: {does[:1].lower()}{does[1:]}."
    if reply_to(request):
        return "No computation needed."
    return "The offline model recognises none of these tools as one for this request."


def _filled(tool: OfferedTool, match: Match) -> dict[str, Any] | None:
    """The arguments of the match for this tool, null for what the request does not say; None if
    they don't fit.

    A tool for the same job with other parameter names takes the required ones by position, if their
    types are right.
    """
    values = {name: value for name, value in match.arguments.items() if value is not None}
    if not set(values) <= set(tool.properties):
        required_names = [p.name for p in match.recipe.signature.parameters if p.required]
        if len(required_names) != len(tool.required) or not set(values) <= set(required_names):
            return None
        values = {
            theirs: values[ours]
            for theirs, ours in zip(tool.required, required_names, strict=True)
            if ours in values
        }
    if not all(_accepts(tool.properties[name], value) for name, value in values.items()):
        return None
    return {name: values.get(name) for name in tool.properties}


def _filled_by_literals(request: str, tool: OfferedTool) -> dict[str, Any] | None:
    """The arguments for a tool that the cookbook did not write, if request and tool have the same
    subject and nothing is open.

    Each literal must belong to exactly one required parameter: because the parameter's name
    precedes it, or by its type.
    """
    literals = [(request[: m.start()], _read(m)) for m in _LITERAL.finditer(request)]
    if (
        not literals
        or len(literals) != len(tool.required)
        or not _same_subject(_LITERAL.sub(" ", request), tool)
    ):
        return None
    arguments: dict[str, Any] = dict.fromkeys(tool.properties)
    for before, value in literals:
        open_ones = [
            n for n in tool.required if arguments[n] is None and _accepts(tool.properties[n], value)
        ]
        name_matches = [
            n
            for n in open_ones
            if re.search(
                rf"\b{'[ _]'.join(map(re.escape, n.split('_')))}(?: is| of| =|:|=)?\s*$",
                before,
                re.IGNORECASE,
            )
        ]
        candidates = name_matches or open_ones
        if len(candidates) != 1:
            return None
        arguments[candidates[0]] = value
    return arguments


def _filled_in_part(request: str, tool: OfferedTool) -> dict[str, Any] | None:
    """The arguments for a tool that the request names but lacks a value for; null for what it
    lacks. Every word must be one of the tool's, and one of them of its name.
    """
    words = _words(_LITERAL.sub(" ", request))
    name = _words(tool.name.replace("_", " "))
    known_words = [*name, *_words(tool.description), *_words(" ".join(tool.properties))]
    is_named = any(_akin(word, tool_word) for word in words for tool_word in name)
    if not is_named or not all(
        any(_akin(word, tool_word) for tool_word in known_words) for word in words
    ):
        return None
    open_ones = list(tool.required)
    arguments: dict[str, Any] = dict.fromkeys(tool.properties)
    for literal in _LITERAL.finditer(request):
        value = _read(literal)
        place = next((n for n in open_ones if _accepts(tool.properties[n], value)), None)
        if place is None:
            return None
        open_ones.remove(place)
        arguments[place] = value
    return arguments if open_ones else None


def _akin(word: str, other_word: str) -> bool:
    """Whether the words have the same stem, such as percent and percentage."""
    return word == other_word or (len(word) >= 5 and other_word.startswith(word))


def _read(literal: re.Match[str]) -> Any:
    if literal["quoted"]:
        return unquoted(literal["quoted"]) or ""
    try:
        return (
            read_bracketed(literal["list"]) if literal["list"] else read_number(literal["number"])
        )
    except Unreadable:
        return literal[0]


def _same_subject(wording: str, tool: OfferedTool) -> bool:
    """Whether the request has every word of the tool's name in that order, and hardly any word that
    the tool does not have.
    """
    request_words = _words(wording)
    name = _words(tool.name.replace("_", " "))
    known_words = {
        *name,
        *_words(tool.description),
        *(w for p in tool.properties for w in _words(p.replace("_", " "))),
    }
    unsaid = [word for word in request_words if word not in known_words]
    return bool(name) and _in_order(name, request_words) and len(unsaid) * 5 <= len(request_words)


def _in_order(expected_words: Sequence[str], words: Sequence[str]) -> bool:
    remaining = iter(words)
    return all(word in remaining for word in expected_words)


def _words(text: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d+", text.lower())
    return [_stem(word) for word in words if word not in _SILENT]


def _stem(word: str) -> str:
    endings = (e for e in ("ing", "ed", "es", "s", "e") if word.endswith(e))
    return next((word.removesuffix(e) for e in endings if len(word) - len(e) >= 3), word)


_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (),
}


def _accepts(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a value that is not null fits the schema, as far as types go."""
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema:
        return any(_accepts(option, value) for option in schema["anyOf"])
    if "type" not in schema:
        return True
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool) and "boolean" not in kinds:
        return False
    if isinstance(value, list) and "array" in kinds:
        return all(_accepts(schema.get("items") or {}, item) for item in value)
    return any(isinstance(value, _JSON_TYPES.get(kind, ())) for kind in kinds)
