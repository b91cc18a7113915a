"""Call results: what a turn, a call or an error is for an agent of another program."""

import json
from base64 import b64encode
from collections.abc import Iterable
from typing import Any, assert_never
from urllib.parse import quote

import mcp_types as types

from selfeng.core.errors import AgentError, NotConsented
from selfeng.core.events import Event, Witnessed
from selfeng.core.files import File
from selfeng.core.pictures import PICTURES
from selfeng.core.tool import Tool
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.stages.execution.programs import Program


def described(tool: Tool) -> dict[str, Any]:
    """`{name, description, input_schema}` of a tool, and `hosts` if it sends requests."""
    hosts = {"hosts": sorted({access.host for access in tool.network})} if tool.network else {}
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.signature.input_schema(),
        **hosts,
    }


def text_result(
    text: str,
    structured: dict[str, Any] | None = None,
    files: Iterable[File] = (),
    *,
    failed: bool = False,
) -> types.CallToolResult:
    """A result with a text and, after it, files: pictures as images, others as resources."""
    return types.CallToolResult(
        content=[types.TextContent(text=text), *map(_content, files)],
        structured_content=structured,
        is_error=failed,
    )


def refused(error: AgentError) -> types.CallToolResult:
    """The error and its remedy as a result; `{error: {message, remedy}}` says the same, with
    `cause` and `needs` where a person's consent is missing.
    """
    problem: dict[str, Any] = {"message": error.message, "remedy": error.remedy}
    text = "\n".join(filter(None, problem.values()))
    if isinstance(error, NotConsented):
        needs = [need.model_dump(mode="json") for need in error.needs]
        problem |= {"cause": error.cause, "needs": needs}
    return text_result(text, {"error": problem}, failed=True)


def executed(execution: Execution, events: Iterable[Event] = ()) -> types.CallToolResult:
    """`{value}` of a call that returned, if it is JSON, with a note if a witness among its events
    returned another one; a call that raised, or that the sandbox ended, is an error.
    """
    match execution:
        case Returned(files=files, refused_files=kept_back):
            result = execution.result
            value = {"value": json.loads(result.content)} if result else None
            notes = [f"The sandbox does not hand out {name}." for name in kept_back]
            doubts = [e for e in events if isinstance(e, Witnessed) and e.other]
            notes += [f"Another implementation returns {doubt.other}." for doubt in doubts]
            return text_result("\n".join([execution.text, *notes]), value, files)
        case Raised(type_name=kind, message=message, files=files, lacks=access):
            needs = [access.model_dump(mode="json")] if access else []
            problem = {"message": message, "cause": "consent", "needs": needs} if access else None
            text = ": ".join(filter(None, (kind, message)))
            return text_result(text, problem and {"error": problem}, files, failed=True)
        case Killed(reason=reason):
            return text_result(f"The sandbox ended the tool. {reason}", failed=True)
        case _:
            assert_never(execution)


def program_result(
    program: Program, execution: Execution, events: Iterable[Event]
) -> types.CallToolResult:
    """As `executed`, with the `tools` that the program is pinned to, notes about them, and the
    lines that an exception came from.
    """
    result = executed(execution)
    lines = [execution.traceback] if isinstance(execution, Raised) else []
    notes = [types.TextContent(text=line) for line in (*lines, *program.notes(events)) if line]
    tools = {"tools": [pin.model_dump() for pin in program.requires]}
    structured = {**(result.structured_content or {}), **tools}
    content = [*result.content, *notes]
    return result.model_copy(update={"content": content, "structured_content": structured})


def _content(file: File) -> types.ImageContent | types.EmbeddedResource:
    kind, data = file.reference().media_type, b64encode(file.content).decode()
    if kind in PICTURES:
        return types.ImageContent(data=data, mime_type=kind)
    address = f"file:///{quote(file.name)}"
    return types.EmbeddedResource(
        resource=types.BlobResourceContents(uri=address, mime_type=kind, blob=data)
    )
