"""Arguments from a model, checked against the JSON Schema of another server's tool."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import ValidationError
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from selfeng.core.question import AnswerKind, Question
from selfeng.core.server_tool import ServerTool
from selfeng.core.visible import one_line
from selfeng.stages.execution.arguments import ArgumentsInvalid

_KINDS: Mapping[str, AnswerKind] = {"number": "number", "integer": "number", "boolean": "yes_no"}
_MOST_OPTIONS = 12
_SHOWN = 200


def bind_schema(tool: ServerTool, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for the call; null means "not given" where the schema allows no null.

    Raises:
        ArgumentsInvalid: a required parameter has no value, or one does not fit its schema.
    """
    schema = tool.input_schema
    # A foreign schema must not reach for addresses, nor hold us up with a regular expression.
    kind = extend(validator_for(schema), {"pattern": None, "patternProperties": None})
    validator = kind(schema, registry=Registry())
    try:
        arguments = {
            name: value
            for name, value in values.items()
            if value is not None or _takes_null(validator, schema["properties"].get(name))
        }
        if missing := tuple(name for name in tool.required if name not in arguments):
            raise ArgumentsInvalid(f"{tool.name} needs {', '.join(missing)}", missing)
        error = next(iter(validator.iter_errors(arguments)), None)
    except (Unresolvable, RecursionError) as problem:
        raise ArgumentsInvalid(f"the schema of {tool.name} can't be used: {problem}") from problem
    if error is not None:
        raise ArgumentsInvalid(_problem(error))
    return arguments


def question_for_property(tool: ServerTool, name: str) -> Question:
    """The question for a parameter's value; its id is the parameter's name."""
    schema = tool.input_schema["properties"].get(name)
    schema = schema if isinstance(schema, dict) else {}
    options = tuple(map(str, schema["enum"])) if isinstance(schema.get("enum"), list) else ()
    question_text = one_line(str(schema.get("description") or name)).rstrip(".?")[:_SHOWN]
    choice = 1 < len(options) <= _MOST_OPTIONS
    return Question(
        id=name,
        question=f"{question_text[:1].upper()}{question_text[1:]}?",
        answer="choice" if choice else _KINDS.get(str(schema.get("type")), "text"),
        options=options if choice else (),
    )


def _takes_null(validator: Any, schema: Any) -> bool:
    return schema is not None and validator.evolve(schema=schema).is_valid(None)


def _problem(error: ValidationError) -> str:
    place = ".".join(map(str, error.absolute_path)) or "the arguments"
    value = json.dumps(error.instance, default=str)[:_SHOWN]
    return one_line(f"{place}={value}: {error.message[:_SHOWN]}")
