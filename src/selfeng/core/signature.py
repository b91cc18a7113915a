"""A tool's signature, read from its source with `ast`; the source is never imported, compiled or
run.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.core.value import Value

_JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "None": "null",
}
_ARRAYS = {
    "list",
    "List",
    "tuple",
    "Tuple",
    "set",
    "Set",
    "frozenset",
    "Sequence",
    "Iterable",
    "Collection",
}
_OBJECTS = {"dict", "Dict", "Mapping", "MutableMapping"}
_PLAIN: dict[str, dict[str, Any]] = {
    **{name: {"type": json_type} for name, json_type in _JSON_TYPES.items()},
    **{name: {"type": "array", "items": {}} for name in _ARRAYS},
    **{name: {"type": "object"} for name in _OBJECTS},
}
DEEPEST = 16
"""Annotations are read down to this depth; anything deeper is accepted as it is."""
UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
"""The errors that Python raises for source that it can't read."""


class SignatureError(ValueError):
    """The source does not define the function in a form that can be called with named arguments."""


class Parameter(Value):
    """One parameter; annotations and defaults are kept as Python source."""

    name: str
    annotation: str = "Any"
    default: str | None = None
    """None: the parameter is required."""
    description: str = ""

    @property
    def required(self) -> bool:
        return self.default is None


class Signature(Value):
    """Name, parameters and return annotation of a function."""

    function: str
    parameters: tuple[Parameter, ...] = ()
    returns: str = "Any"

    def __str__(self) -> str:
        def parameter_text(p: Parameter) -> str:
            return f"{p.name}: {p.annotation}" + ("" if p.default is None else f" = {p.default}")

        return (
            f"{self.function}({', '.join(map(parameter_text, self.parameters))}) -> {self.returns}"
        )

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of an object that holds the arguments; null is allowed everywhere and means
        "not given".
        """
        properties = {}
        for p in self.parameters:
            schema = _schema(p.annotation)
            note = p.description + (f" (default {p.default})" if p.default is not None else "")
            properties[p.name] = {
                **_nullable(schema),
                **({"description": note.strip()} if note.strip() else {}),
            }
        return {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in self.parameters],
            "additionalProperties": False,
        }

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of an object that holds the arguments, for other programs: what has a default
        may be left out, and the default is a value where it is plain JSON, else a note.
        """
        properties = {}
        for p in self.parameters:
            schema = _schema(p.annotation)
            default = {} if p.default is None else _plain_default(p.default, schema)
            note = p.description
            if p.default is not None and not default:
                note = f"{note} (default {p.default})".strip()
            properties[p.name] = {**schema, **default, **({"description": note} if note else {})}
        return {
            "type": "object",
            "properties": properties,
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }


def parse_signature(
    source: str, function: str, descriptions: Mapping[str, str] | None = None
) -> Signature:
    """Read the signature of the top-level `function`.

    Raises:
        SignatureError: the source has no such function at top level, has a syntax error, or the
            function takes positional-only or variadic parameters or is async, and so can't be
            called with named plain arguments.
    """
    try:
        return _signature(_defined(source, function), descriptions or {})
    except SignatureError:
        raise
    except UNREADABLE as error:
        raise SignatureError(f"the code of {function} is not valid Python: {error}") from error


def literal_values(items: Sequence[ast.expr]) -> list[Any] | None:
    """The values of a `Literal[...]`, each once; None if there are none, or if one is not plain
    JSON.
    """
    try:
        values = {
            json.dumps(v, allow_nan=False, ensure_ascii=False).encode(): v
            for v in map(ast.literal_eval, items)
        }
    except UNREADABLE:
        return None
    return (
        list(values.values())
        if values and all(isinstance(v, str | int | float | None) for v in values.values())
        else None
    )


def alternatives(node: ast.expr) -> list[ast.expr]:
    """The parts of `a | b | ...`, or the node alone."""
    parts = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts.append(node.right)
        node = node.left
    return [node, *reversed(parts)]


def subscripts(inner: ast.expr) -> list[ast.expr]:
    """The expressions between the brackets of a generic type."""
    return list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]


def last_name(node: ast.expr) -> str:
    """`Optional` of `typing.Optional`; "" if the node is not a name."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def _defined(source: str, function: str) -> ast.FunctionDef:
    definitions = [
        n
        for n in ast.parse(source).body
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == function
    ]
    if not definitions:
        raise SignatureError(f"the code defines no function {function} at top level")
    if isinstance((node := definitions[-1]), ast.AsyncFunctionDef):
        raise SignatureError(f"{function} is async; a tool is an ordinary function")
    if node.args.posonlyargs or node.args.vararg or node.args.kwarg:
        raise SignatureError(
            f"{function} takes positional-only, * or ** parameters; a tool takes named ones"
        )
    return node


def _signature(node: ast.FunctionDef, descriptions: Mapping[str, str]) -> Signature:
    arguments = node.args
    required = len(arguments.args) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [
        *([None] * required),
        *arguments.defaults,
        *arguments.kw_defaults,
    ]
    return Signature(
        function=node.name,
        parameters=tuple(
            Parameter(
                name=a.arg,
                annotation=ast.unparse(a.annotation) if a.annotation else "Any",
                default=ast.unparse(d) if d is not None else None,
                description=descriptions.get(a.arg, ""),
            )
            for a, d in zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True)
        ),
        returns=ast.unparse(node.returns) if node.returns else "Any",
    )


def _schema(annotation: str, depth: int = 0) -> dict[str, Any]:
    try:
        return _node_schema(ast.parse(annotation, mode="eval").body, depth)
    except UNREADABLE:
        return {}


def _node_schema(node: ast.expr, depth: int) -> dict[str, Any]:
    if depth > DEEPEST:
        return {}
    match node:
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(forward)):
            return _schema(forward, depth + 1)
        case ast.BinOp(op=ast.BitOr()):
            return _any_of([_node_schema(n, depth + 1) for n in alternatives(node)])
        case ast.Subscript(value=value, slice=inner):
            return _generic_schema(last_name(value), subscripts(inner), depth + 1)
        case _:
            return _PLAIN.get(last_name(node), {})


def _generic_schema(name: str, items: list[ast.expr], depth: int) -> dict[str, Any]:
    if name == "Optional":
        return _any_of([_node_schema(items[0], depth), {"type": "null"}]) if items else {}
    if name == "Union":
        return _any_of([_node_schema(i, depth) for i in items])
    if name == "Literal":
        values = literal_values(items)
        return {} if values is None else {"enum": values}
    if name in _ARRAYS:
        members = [
            _node_schema(i, depth)
            for i in items
            if not (isinstance(i, ast.Constant) and i.value is ...)
        ]
        return {"type": "array", "items": _any_of(members)}
    if name in _OBJECTS:
        return {
            "type": "object",
            "additionalProperties": _node_schema(items[-1], depth) if items else {},
        }
    return {}


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Either of the schemas; anything if there are none."""
    flat: list[dict[str, Any]] = []
    for schema in schemas:
        for option in schema.get("anyOf", [schema]):
            if option not in flat:
                flat.append(option)
    if {} in flat or not flat:
        return {}
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def _plain_default(source: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The default as a member of the schema; nothing if it is not plain JSON, or null where the
    schema takes none.
    """
    try:
        value = json.loads(json.dumps(ast.literal_eval(source), allow_nan=False))
    except UNREADABLE:
        return {}
    return {} if value is None and _nullable(schema) != schema else {"default": value}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if not schema:
        return {}
    if "enum" in schema:
        return {"enum": [*schema["enum"], *([] if None in schema["enum"] else [None])]}
    return _any_of([schema, {"type": "null"}])
