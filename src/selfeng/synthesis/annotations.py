"""The annotations that a specification may use: their values can be sent as JSON and checked as
arguments.
"""

import ast

from selfeng.core.signature import (
    DEEPEST,
    UNREADABLE,
    alternatives,
    last_name,
    literal_values,
    subscripts,
)

ALLOWED = (
    "str, int, float, bool, list[...], dict[str, ...], ... | None and Literal[...] of plain values"
)
"""The types in the analyst's prompt; other common spellings of the same types are accepted."""
_NAMES = {
    "str",
    "int",
    "float",
    "bool",
    "Any",
    "list",
    "List",
    "dict",
    "Dict",
    "tuple",
    "Tuple",
    "set",
    "Set",
}
_LONGEST = 100


def annotation_problem(annotation: str, whose: str) -> str | None:
    """Why the annotation can't be checked or shown to a model, None if it can."""
    subject = f"the annotation {annotation[:_LONGEST]!a} of {whose}"
    try:
        node = ast.parse(annotation, mode="eval").body
    except UNREADABLE:
        return f"{subject} is not a Python expression"
    return (
        None
        if _is_allowed(node, 0)
        else f"{subject} is not one that tools may have; it must be made of {ALLOWED}"
    )


def _is_allowed(node: ast.expr, depth: int) -> bool:
    if depth > DEEPEST:
        return False
    match node:
        case ast.Constant(value=value):
            return value is None
        case ast.BinOp(op=ast.BitOr()):
            return all(_is_allowed(n, depth + 1) for n in alternatives(node))
        case ast.Subscript(value=value, slice=inner) if _is_name(value):
            return _is_allowed_generic(last_name(value), subscripts(inner), depth + 1)
        case _:
            return _is_name(node) and last_name(node) in _NAMES


def _is_allowed_generic(name: str, items: list[ast.expr], depth: int) -> bool:
    match name:
        case "Literal":
            return literal_values(items) is not None
        case "Optional" | "list" | "List" | "set" | "Set":
            return len(items) == 1 and _is_allowed(items[0], depth)
        case "Union":
            return bool(items) and all(_is_allowed(i, depth) for i in items)
        case "tuple" | "Tuple":
            members = (
                items[:-1]
                if items and isinstance(items[-1], ast.Constant) and items[-1].value is ...
                else items
            )
            return bool(members) and all(_is_allowed(i, depth) for i in members)
        case "dict" | "Dict":
            return len(items) == 2 and last_name(items[0]) == "str" and _is_allowed(items[1], depth)
        case _:
            return False


def _is_name(node: ast.expr) -> bool:
    """Whether it is a plain name or one from the module `typing`."""
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "typing"
    )
