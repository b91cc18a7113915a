"""Tools as functions that a model can call."""

from collections.abc import Sequence
from typing import Any, get_args

from selfeng.core.prompt import FunctionSchema
from selfeng.core.result import ResultFormat
from selfeng.core.server_tool import ServerTool
from selfeng.core.tool import Tool

NO_TOOL_FITS = FunctionSchema(
    name="no_tool_fits",
    description="Running none of the tools gives what the request asks for.",
    parameters={
        "type": "object",
        "properties": {"reason": {"type": "string", "description": "One short sentence."}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)

WRONG_RESULT = "earlier_result_is_wrong"
RESULT = "result"
COMPLAINT = "complaint"


def wrong_result(ids: Sequence[str]) -> FunctionSchema:
    """The function for a request that disagrees with one of these earlier results."""
    return FunctionSchema(
        name=WRONG_RESULT,
        description="The person says that an earlier result is wrong, and wants the right one.",
        parameters={
            "type": "object",
            "properties": {
                RESULT: {"type": "string", "enum": list(ids), "description": "The id of it."},
                COMPLAINT: {
                    "type": "string",
                    "description": "The fault, with the right value if the person gives it, as one "
                    "English sentence.",
                },
            },
            "required": [RESULT, COMPLAINT],
            "additionalProperties": False,
        },
    )


REFERENCE = "$result"
"""The key of an object that refers to the result of a step, or to an earlier one of the
conversation, by its id.
"""
COLUMN = "column"
"""A second key that takes one column of such a table, as a list."""
FORM = "as"
"""A further key that makes a text of the value, in a format."""

STANDALONE = "standalone_request"
"""The argument with the request in English, as it would be put without the conversation."""

CRON = "schedule_cron"
"""The argument with the times at which the request wants the call to be made again and again."""

CLAIMED = 'Tool of the server "{server}", which says: '
"""The words before the description of another server's tool, as that is not an instruction."""


def as_function(
    tool: Tool | ServerTool, results: Sequence[str] = (), *, timed: bool = False
) -> FunctionSchema:
    """The tool for function calling; null means that the request does not mention the parameter.

    Each argument may also be a reference to one of the `results`, which are their ids. `timed`: one
    of the library has one more argument, for times.
    """
    if isinstance(tool, ServerTool):
        schema, claimed = dict(tool.input_schema), CLAIMED.format(server=tool.server)
    else:
        schema, claimed = tool.signature.json_schema(), ""
    if results:
        reference = {
            "type": "object",
            "properties": {
                REFERENCE: {"enum": list(results)},
                COLUMN: {"type": "string"},
                FORM: {"enum": list(get_args(ResultFormat))},
            },
            "required": [REFERENCE],
        }
        schema["properties"] = {
            name: _either(p, reference) for name, p in schema["properties"].items()
        }
    if timed and isinstance(tool, Tool):
        properties = {**schema["properties"], CRON: {"type": ["string", "null"]}}
        required = [*schema.get("required", ()), CRON]
        schema = {**schema, "properties": properties, "required": required}
    return FunctionSchema(
        name=tool.name,
        description=claimed + tool.description,
        parameters=schema,
        repeatable=True,
    )


def with_standalone(function: FunctionSchema) -> FunctionSchema:
    """The function with one more argument, first: the request in English, standing alone."""
    schema = function.parameters
    properties = {
        STANDALONE: {"type": "string", "description": "The request, standing alone, in English."},
        **schema["properties"],
    }
    required = [STANDALONE, *schema.get("required", ())]
    return function.model_copy(
        update={"parameters": {**schema, "properties": properties, "required": required}}
    )


def _either(schema: dict[str, Any], alternative: dict[str, Any]) -> dict[str, Any]:
    """Either of the schemas, under the first one's description."""
    described = {"description": schema["description"]} if "description" in schema else {}
    plain = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [*plain.get("anyOf", [plain]), alternative], **described}
