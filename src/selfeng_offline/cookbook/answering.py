"""Answers: the result of a call in a sentence, Markdown."""

import ast
import re
from collections.abc import Mapping
from typing import Any

from selfeng.core.result import IN_SHORT
from selfeng.core.words import for_people, is_in_currency
from selfeng_offline.completion import Completion
from selfeng_offline.cookbook.matching import is_german
from selfeng_offline.cookbook.read_prompt import ReadPrompt
from selfeng_offline.cookbook.recipe import Recipe, recipe_for_tool

_FILES = re.compile(
    r"\n(?:made the file [^\n]*, which the person sees below|left a file that can't be handed "
    r"out, ([^\n]*))"
)
_EMPTY = "(an empty text)"
_RAISED = re.compile(r"raised (?P<type>\w+)(?:: (?P<message>.*))?", re.DOTALL)
_ENDED = re.compile(r"was ended: (?P<reason>.*)", re.DOTALL)
_LONG = re.compile(rf"(?P<shape>a[^\n]*), {re.escape(IN_SHORT)}\n.*", re.DOTALL)
_LONGEST_INLINE = 120
"""Longer values get their own block."""
_MOST_ROWS = 30


def answer(prompt: ReadPrompt) -> Completion:
    """The result of a call in words, from what `response_synthesizer.describe` says of it."""
    result = prompt.sections["result"]
    name, arguments = _call(prompt.sections["call"])
    refused = [
        f" A file could not be handed out: {reason}" for reason in _FILES.findall(result) if reason
    ]
    result, rounded = _FILES.sub("", result), prompt.sections.get("rounded", "")
    text = (
        _german_text(result, rounded)
        if is_german(prompt.sections.get("request", ""))
        else _result_text(name, arguments, result, rounded)
    )
    return Completion(content="".join([text, *refused]))


def answer_plan(prompt: ReadPrompt) -> Completion:
    """The results of a plan's steps."""
    return Completion(
        content="\n".join(
            f"- {line['request']}: {_inline_or_block(line['value'])}"
            for line in prompt.lines("results")
        )
    )


def _inline_or_block(text: str) -> str:
    if long := _LONG.fullmatch(text):
        return long["shape"]
    if isinstance(number := _literal(text), float):
        return for_people(number)
    return _code(text) or (f"\n\n{_block(text)}\n" if text else "an empty text")


def _result_text(name: str, arguments: Mapping[str, Any], result: str, rounded: str) -> str:
    recipe = recipe_for_tool(name)
    if raised := _RAISED.fullmatch(result):
        return _explained(raised["message"] or raised["type"], recipe)
    if ending := _ENDED.fullmatch(result):
        return f"The calculation was ended before it had a result. {ending['reason']}"
    if result == _EMPTY:
        return "The result is an empty text."
    if long := _LONG.fullmatch(result):
        return f"The result is {long['shape']}. Here it is."
    return (recipe and _phrased(recipe, arguments, result, rounded)) or (
        f"The result is {rounded}."
        if rounded
        else _plain(result, is_text=_returns_text(recipe, result))
    )


def _german_text(result: str, rounded: str) -> str:
    """The result in German, in a sentence that holds for every recipe."""
    if error := _RAISED.fullmatch(result):
        return f"Mit dieser Eingabe geht es nicht: {error['message'] or error['type']}"
    if ending := _ENDED.fullmatch(result):
        return f"Die Rechnung wurde vor ihrem Ergebnis beendet. {ending['reason']}"
    if result == _EMPTY or _LONG.fullmatch(result):
        return "Das Ergebnis ist ein leerer Text." if result == _EMPTY else "Hier ist das Ergebnis."
    short = rounded or {"True": "ja", "False": "nein"}.get(result) or _value(result)
    return f"Das Ergebnis: {short}" if short else f"Hier ist das Ergebnis:\n\n{_block(result)}"


def _call(source: str) -> tuple[str, dict[str, Any]]:
    try:
        match ast.parse(source.strip(), mode="eval").body:
            case ast.Call(func=ast.Name(id=name), keywords=keywords):
                return name, {k.arg: ast.literal_eval(k.value) for k in keywords if k.arg}
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        pass  # a value that is not a literal, such as nan: the answer omits the arguments
    return source.partition("(")[0].strip(), {}


def _explained(message: str, recipe: Recipe | None) -> str:
    reason = message.strip().rstrip(".")
    example = f" Something like this works: {_code(recipe.requests[0])}" if recipe else ""
    return f"That is not possible with this input: {reason}.{example}"


def _phrased(recipe: Recipe, arguments: Mapping[str, Any], result: str, rounded: str) -> str | None:
    """The recipe's own sentence; None if it has none or the values are too long for it."""
    says = recipe.says
    if isinstance(says, tuple):
        says = {"True": says[0], "False": says[1]}.get(result, "")
    values = {
        p.name: p.default and ast.literal_eval(p.default) for p in recipe.signature.parameters
    } | dict(arguments)
    rendered = {name: _inline(value) for name, value in values.items()}
    rendered["result"] = rounded or (
        _code(result) if _returns_text(recipe, result) else _value(result)
    )
    used = set(re.findall(r"\{(\w+)\}", says))
    if not says or any(rendered[name] is None for name in used):
        return None
    if result == "1":
        says = re.sub(r"(\{result\} \w+)s\b", r"\1", says)
    sentence = says.format_map(rendered)
    return sentence[:1].upper() + sentence[1:]


def _returns_text(recipe: Recipe | None, result: str) -> bool:
    """Whether the result is text as it is and not the notation of another value."""
    if recipe is not None and recipe.signature.returns != "Any":
        return recipe.signature.returns == "str"
    return _literal(result) is _NOT_PYTHON


def _plain(result: str, is_text: bool) -> str:
    value = _NOT_PYTHON if is_text else _literal(result)
    if value is None:
        return "There is no value: the result is `None`."
    if (
        isinstance(value, dict)
        and 0 < len(value) <= _MOST_ROWS
        and all(_is_scalar(v) for v in value.values())
    ):
        return "\n".join(
            [
                "Here is the result:",
                "",
                "| | |",
                "|---|---|",
                *(f"| {_cell(k)} | {_cell(v, str(k))} |" for k, v in value.items()),
            ]
        )
    inline = _code(result)
    return f"The result is {inline}." if inline else f"Here is the result:\n\n{_block(result)}"


_NOT_PYTHON = object()


def _literal(source: str) -> Any:
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return _NOT_PYTHON


def _is_scalar(value: object) -> bool:
    return (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and "\n" not in value and len(value) < 80)
    )


def _cell(value: object, name: str = "") -> str:
    content = (
        for_people(value, money=is_in_currency(name), digits=6)
        if isinstance(value, float)
        else value
    )
    return (
        str(content if isinstance(content, str) else repr(content))
        .replace("\\", "\\\\")
        .replace("|", "\\|")
        .replace("`", "\\`")
        .replace("<", "&lt;")
    )


def _value(result: str) -> str | None:
    """A number as it is, anything else as code."""
    return result if re.fullmatch(r"-?[\d.]+(?:e[-+]?\d+)?", result) else _code(result)


def _inline(value: object) -> str | None:
    """An argument; a whole number that the executor made a float is shown as in the request."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return _code(value) if value else "the empty text"
    return _value(repr(value))


def _code(text: str | None) -> str | None:
    """The text as inline code; None if it is too long for that, has line breaks, or is empty."""
    if not text or len(text) > _LONGEST_INLINE or "\n" in text or not text.strip():
        return None
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"


def _block(text: str) -> str:
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`{3,}", text))])
    return f"{fence}\n{text}\n{fence}"
