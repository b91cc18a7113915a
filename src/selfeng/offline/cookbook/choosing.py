"""Choosing: which of the tools on the wire serves a request, and with which arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.core.functions import NO_TOOL_FITS, REFERENCE, STANDALONE
from selfeng.core.value import Value
from selfeng.offline.completion import Completion
from selfeng.offline.cookbook.literals import Unreadable, read_bracketed, read_number, unquoted
from selfeng.offline.cookbook.matching import Match, completed, matches
from selfeng.offline.cookbook.read_prompt import ReadPrompt
from selfeng.offline.cookbook.recipe import recipe_for_tool
from selfeng.offline.cookbook.small_talk import reply_to

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


def choose(asked: ReadPrompt) -> Completion:
    """The call of the tool that does what a matching recipe does, or that has the same subject as
    the request.
    """
    answers = {answer["id"]: answer["answer"] for answer in asked.lines("answers")}
    found = (
        completed((*asked.earlier, asked.request), answers)
        or completed(asked.earlier, answers)
        or matches(asked.request, asked.earlier)
    )
    wanted = tuple(match.with_file(asked.files) for match in found)
    chosen = _chosen(asked, wanted)
    if not any(STANDALONE in tool["parameters"].get("properties", {}) for tool in asked.tools):
        return chosen
    alone = asked.request if matches(asked.request) or not wanted else wanted[0].told
    arguments = {STANDALONE: alone, **(chosen.arguments or {})}
    return chosen.model_copy(update={"arguments": arguments})


def _chosen(asked: ReadPrompt, wanted: Sequence[Match]) -> Completion:
    tools = [
        OfferedTool.from_wire(tool) for tool in asked.tools if tool["name"] != NO_TOOL_FITS.name
    ]
    for match in wanted:
        for tool in tools:
            if (
                recipe_for_tool(tool.name) is match.recipe
                and (arguments := _filled(tool, match)) is not None
            ):
                results = {result["id"] for result in asked.lines("results")}
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
        if (arguments := _filled_by_literals(asked.request, tool)) is not None
    ]
    if len(fitting) != 1 and not wanted and not reply_to(asked.request):
        lacking = [
            (tool.name, arguments)
            for tool in tools
            if (arguments := _filled_in_part(asked.request, tool)) is not None
        ]
        fitting = lacking[:1]  # the likeliest
    return (
        _called(*fitting[0])
        if len(fitting) == 1
        else _called(NO_TOOL_FITS.name, {"reason": _why_none(asked.request, wanted)})
    )


def _called(name: str, arguments: dict[str, Any]) -> Completion:
    return Completion(function=name, arguments=arguments, finish_reason="tool_calls")


def _why_none(request: str, wanted: Sequence[Match]) -> str:
    if wanted:
        does = wanted[0].recipe.specification.description.rstrip(".")
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
    given = {name: value for name, value in match.arguments.items() if value is not None}
    if not set(given) <= set(tool.properties):
        wanted = [p.name for p in match.recipe.signature.parameters if p.required]
        if len(wanted) != len(tool.required) or not set(given) <= set(wanted):
            return None
        given = {
            theirs: given[ours]
            for theirs, ours in zip(tool.required, wanted, strict=True)
            if ours in given
        }
    if not all(_accepts(tool.properties[name], value) for name, value in given.items()):
        return None
    return {name: given.get(name) for name in tool.properties}


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
        named = [
            n
            for n in open_ones
            if re.search(
                rf"\b{'[ _]'.join(map(re.escape, n.split('_')))}(?: is| of| =|:|=)?\s*$",
                before,
                re.IGNORECASE,
            )
        ]
        chosen = named or open_ones
        if len(chosen) != 1:
            return None
        arguments[chosen[0]] = value
    return arguments


def _filled_in_part(request: str, tool: OfferedTool) -> dict[str, Any] | None:
    """The arguments for a tool that the request names but lacks a value for; null for what it
    lacks. Every word must be one of the tool's, and one of them of its name.
    """
    words = _words(_LITERAL.sub(" ", request))
    name = _words(tool.name.replace("_", " "))
    known = [*name, *_words(tool.description), *_words(" ".join(tool.properties))]
    named = any(_akin(word, other) for word in words for other in name)
    if not named or not all(any(_akin(word, other) for other in known) for word in words):
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


def _akin(word: str, other: str) -> bool:
    """Whether the words have the same stem, such as percent and percentage."""
    return word == other or (len(word) >= 5 and other.startswith(word))


def _read(found: re.Match[str]) -> Any:
    if found["quoted"]:
        return unquoted(found["quoted"]) or ""
    try:
        return read_bracketed(found["list"]) if found["list"] else read_number(found["number"])
    except Unreadable:
        return found[0]


def _same_subject(wording: str, tool: OfferedTool) -> bool:
    """Whether the request has every word of the tool's name in that order, and hardly any word that
    the tool does not have.
    """
    asked = _words(wording)
    name = _words(tool.name.replace("_", " "))
    known = {
        *name,
        *_words(tool.description),
        *(w for p in tool.properties for w in _words(p.replace("_", " "))),
    }
    unsaid = [word for word in asked if word not in known]
    return bool(name) and _in_order(name, asked) and len(unsaid) * 5 <= len(asked)


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)


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
