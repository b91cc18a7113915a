"""Tools as functions that a model can call."""

from src.core.prompt import FunctionSchema
from src.core.tool import Tool

NO_TOOL_FITS = FunctionSchema(
    name="no_tool_fits",
    description="None of the tools does what the request asks for.",
    parameters={
        "type": "object",
        "properties": {"reason": {"type": "string", "description": "One short sentence."}},
        "required": ["reason"],
        "additionalProperties": False,
    },
)


def as_function(tool: Tool) -> FunctionSchema:
    """The tool for function calling; null stands for a parameter that the request does not mention."""
    return FunctionSchema(name=tool.name, description=tool.description, parameters=tool.signature.json_schema())
