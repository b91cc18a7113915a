"""Arguments from a model, checked against a signature and converted to its types."""

import ast
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from selfeng.core.errors import RequestError
from selfeng.core.functions import COLUMN, FORM, REFERENCE
from selfeng.core.plan import StepResult
from selfeng.core.question import AnswerKind, Question
from selfeng.core.result import ResultFormat, as_text, main_table
from selfeng.core.signature import (
    DEEPEST,
    UNREADABLE,
    Parameter,
    Signature,
    alternatives,
    last_name,
    literal_values,
    subscripts,
)

_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": list,
    "set": list,
}
_ALIASES = {
    "List": "list",
    "Sequence": "list",
    "Iterable": "list",
    "Tuple": "tuple",
    "Dict": "dict",
    "Mapping": "dict",
    "Set": "set",
}


class ArgumentsInvalid(ValueError):
    """The arguments don't fit; `problem` says it in words, `missing` names required parameters
    without a value.
    """

    def __init__(self, problem: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.problem, self.missing = problem, missing


def bind(signature: Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for the call; null means "not given", so the default applies where there is
    one.

    Values are converted where nothing is lost (`"15"` for an int, 15 for a float, 3 for a str).

    Raises:
        ArgumentsInvalid: a name the signature doesn't have, a required parameter without a value, a
            value of another type.
    """
    if unknown := sorted(set(values) - {p.name for p in signature.parameters}):
        takes = ", ".join(p.name for p in signature.parameters) or "no parameters"
        raise ArgumentsInvalid(
            f"{signature.function} has no parameter {', '.join(unknown)}; it takes {takes}"
        )
    missing = tuple(
        p.name
        for p in signature.parameters
        if p.required and values.get(p.name) is None and not _takes_none(p)
    )
    if missing:
        raise ArgumentsInvalid(f"{signature.function} needs {', '.join(missing)}", missing)
    return {
        p.name: _converted(p, values.get(p.name))
        for p in signature.parameters
        if p.required or values.get(p.name) is not None
    }


def bind_by_hand(signature: Signature, values: Mapping[str, Any]) -> dict[str, Any]:
    """As `bind`, for values of a person or a program.

    Raises:
        RequestError: as ArgumentsInvalid there.
    """
    try:
        return bind(signature, values)
    except ArgumentsInvalid as error:
        raise RequestError(error.problem, f"its signature is {signature}") from error


def with_forms(
    signature: Signature, values: Mapping[str, Any], profiles: Sequence[str]
) -> dict[str, Any]:
    """The values, and for the parameters `decimal`, `thousands` and `day_first` that have none, how
    all files are written whose `profiles` these are, at least one.
    """
    forms = [_forms(json.loads(profile)) for profile in profiles]
    agreed = {n: v for n, v in forms[0].items() if all(f.get(n) == v for f in forms)}
    lacking = [p for p in signature.parameters if values.get(p.name) is None and p.name in agreed]
    return {**values} | {
        p.name: agreed[p.name]
        for p in lacking
        if p.default != repr(agreed[p.name])
        and _accepts(python_type(p.annotation), agreed[p.name], strict=True)
    }


def _forms(profile: Mapping[str, Any]) -> dict[str, str | bool]:
    """How the numbers and dates of a file are written, by the names of parameters."""
    (table,) = profile.get("tables", ()) if len(profile.get("tables", ())) == 1 else ({},)
    facts = {**table, **profile}
    forms = {name: facts[name] for name in ("decimal", "thousands") if name in facts}
    if (order := facts.get("dates")) in ("day first", "month first"):
        forms["day_first"] = order == "day first"
    return forms


def from_texts(signature: Signature, texts: Mapping[str, str]) -> dict[str, Any]:
    """Arguments that a command line gives as text: read as JSON, unless the parameter takes the
    text itself or it is not JSON.
    """
    types_by_name = {p.name: python_type(p.annotation) for p in signature.parameters}

    def read(name: str, text: str) -> Any:
        if types_by_name.get(name, Any) is not Any and _accepts(
            types_by_name[name], text, strict=True
        ):
            return text
        try:
            return json.loads(text)
        except ValueError:
            return text

    return {name: read(name, text) for name, text in texts.items()}


def _takes_none(parameter: Parameter) -> bool:
    expected_type = python_type(parameter.annotation)
    return expected_type is not Any and _accepts(expected_type, None)


def _accepts(expected_type: Any, value: object, *, strict: bool = False) -> bool:
    try:
        TypeAdapter(expected_type).validate_python(value, strict=strict)
    except ValidationError:
        return False
    return True


@lru_cache(1000)
def _adapter(annotation: str) -> TypeAdapter[Any]:
    """Making one takes longer than a call's other checks."""
    return TypeAdapter(python_type(annotation), config={"coerce_numbers_to_str": True})


def _converted(parameter: Parameter, value: Any) -> Any:
    try:
        return _adapter(parameter.annotation).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        message = f"{parameter.name}={value!r} is not {parameter.annotation}: {reason}"
        raise ArgumentsInvalid(message) from error


def python_type(annotation: str, depth: int = 0) -> Any:
    """The type that an annotation names, built from its syntax tree and never evaluated; Any unless
    it is a plain type.

    Sets and tuples become lists, because arguments travel as JSON; the tool gets a list.
    """
    try:
        return _of(ast.parse(annotation, mode="eval").body, depth)
    except UNREADABLE:
        return Any


def _of(node: ast.expr, depth: int) -> Any:
    if depth > DEEPEST:
        return Any
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(forward)):
            return python_type(forward, depth + 1)
        case ast.BinOp(op=ast.BitOr()):
            return _either([_of(n, depth + 1) for n in alternatives(node)])
        case ast.Subscript(value=value, slice=inner):
            return _generic(_name(value), subscripts(inner), depth + 1)
        case _:
            return _TYPES.get(_name(node), Any)


def _generic(name: str, items: list[ast.expr], depth: int) -> Any:
    types = [] if name == "Literal" else [_of(i, depth) for i in items] or [Any]
    match name:
        case "Optional":
            return _either([types[0], None])
        case "Union":
            return _either(types)
        case "Literal":
            values = literal_values(items)
            return Any if values is None else Literal[tuple(values)]
        case "list" | "set":
            return list[types[0]]  # type: ignore[valid-type]
        case "dict":
            return dict[str, types[-1]]  # type: ignore[valid-type]
        case _:
            return _TYPES.get(name, Any)


def _either(types: list[Any]) -> Any:
    return Any if Any in types else Union[tuple(types)]  # noqa: UP007 - the members are only known now


def _name(node: ast.expr) -> str:
    name = last_name(node)
    return _ALIASES.get(name, name)


def resolved(arguments: Mapping[str, Any], results: Sequence[StepResult]) -> dict[str, Any]:
    """The arguments with every reference, at any depth, replaced by its value.

    Raises:
        ArgumentsInvalid: there is no such result, or its value is not plain JSON.
    """
    values = {result.id: result.data for result in results}
    return {name: _resolved(value, values) for name, value in arguments.items()}


def _resolved(value: Any, values: Mapping[str, str | None]) -> Any:
    match value:
        case {"$result": id, **part} if values and part.keys() <= {COLUMN, FORM}:
            data = values.get(id) if isinstance(id, str) else None
            if data is None:
                passable = (
                    ", ".join(name for name, text in values.items() if text is not None) or "none"
                )
                raise ArgumentsInvalid(
                    f'{{"{REFERENCE}": {id!r}}} names no result that can be passed; these can: '
                    f"{passable}"
                )
            return _part(id, json.loads(data), part.get(COLUMN), part.get(FORM))
        case dict():
            return {key: _resolved(item, values) for key, item in value.items()}
        case list():
            return [_resolved(item, values) for item in value]
        case _:
            return value


def _part(id: object, value: Any, column: Any, form: Any) -> Any:
    """A value, or one column of a table, and as text where a format is given.

    Raises:
        ArgumentsInvalid: there is no such column or format.
    """
    if column is not None:
        if (table := main_table(value)) is None or column not in table.columns:
            column_names = ", ".join(table.columns) if table else "none, as it is no table"
            raise ArgumentsInvalid(f"{id} has no column {column!r}; it has {column_names}")
        value = [row[table.columns.index(column)] for row in table.rows]
    if form is None:
        return value
    if form not in get_args(ResultFormat):
        raise ArgumentsInvalid(f"{FORM} is {form!r}, not {', '.join(get_args(ResultFormat))}")
    return as_text(value, form)


def question_for(parameter: Parameter) -> Question:
    """The question for a parameter's value; its id is the parameter's name."""
    expected_type = python_type(parameter.annotation)
    values = (
        tuple(map(str, get_args(expected_type))) if get_origin(expected_type) is Literal else ()
    )
    options = values if len(values) > 1 else ()
    question_text = (
        parameter.description.rstrip(".?") or f"{parameter.name} ({parameter.annotation})"
    )
    return Question(
        id=parameter.name,
        question=f"{question_text[:1].upper()}{question_text[1:]}?",
        answer=_kind(expected_type, options),
        options=options,
    )


def _kind(expected_type: object, options: tuple[str, ...]) -> AnswerKind:
    if options:
        return "choice"
    return (
        "yes_no" if expected_type is bool else "number" if expected_type in (int, float) else "text"
    )
