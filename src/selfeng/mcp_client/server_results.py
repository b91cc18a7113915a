"""What other servers say, taken as data: their lists of tools, and the results of calls."""

import json
import mimetypes
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from jsonschema import SchemaError
from jsonschema.validators import validator_for

from selfeng.core.files import File, FileLimits, name_problem, shown_name
from selfeng.core.result import LARGEST, canonical, reference_to
from selfeng.core.server_tool import LARGEST_SCHEMA, LONGEST_DESCRIPTION, ServerTool
from selfeng.core.verdict import Execution, Raised, Returned
from selfeng.core.visible import one_line, visible
from selfeng.core.words import shortened

_LONGEST_NAME = 128
_LONGEST_ERROR = 4_000
_LONGEST_TEXT = 20_000
"""Characters of a value that are shown."""
_DEEPEST = 32
_WORDS = ("description", "title", "$comment")


def tool_of(server: str, address: str, listed: types.Tool) -> ServerTool | str:
    """The tool that a server lists, or why it can't be used. Names are refused where they are too
    long, descriptions are shortened, and characters that can't be seen are written out.
    """
    name = listed.name
    if not name or len(name) > _LONGEST_NAME or one_line(name) != name:
        return f"“{one_line(name)[:_LONGEST_NAME]}” can't be the name of a tool"
    try:
        schema = _limited(listed.input_schema)
    except RecursionError:
        return f"the input schema of {name} is nested too deeply"
    properties = schema.setdefault("properties", {})
    if schema.setdefault("type", "object") != "object" or not isinstance(properties, dict):
        return f"the input schema of {name} is not that of an object"
    if len(json.dumps(schema)) > LARGEST_SCHEMA:
        return f"the input schema of {name} has more than {LARGEST_SCHEMA} characters"
    if not isinstance(schema.get("$schema", ""), str):
        del schema["$schema"]
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError as error:
        return f"the input schema of {name} is not valid: {one_line(error.message)[:200]}"
    hints = listed.annotations or types.ToolAnnotations()
    return ServerTool(
        server=server,
        address=address,
        tool=name,
        description=_words(listed.description or listed.title or ""),
        input_schema=schema,
        read_only=hints.read_only_hint is True,
        repeatable=hints.read_only_hint is True or hints.idempotent_hint is True,
    )


def _limited(value: Any, depth: int = 0) -> Any:
    """A schema whose words are short and visible. Raises: RecursionError."""
    if depth > _DEEPEST:
        raise RecursionError
    match value:
        case dict():
            return {
                visible(name): _words(item)
                if name in _WORDS and isinstance(item, str)
                else _limited(item, depth + 1)
                for name, item in value.items()
            }
        case list():
            return [_limited(item, depth + 1) for item in value]
        case str():
            return visible(value)
        case _:
            return value


def _words(text: str) -> str:
    return visible(text.strip()[:LONGEST_DESCRIPTION])


def execution_of(result: types.CallToolResult, limits: FileLimits) -> Execution:
    """What a call came to. Pictures, sounds and resources are files, as far as they fit the
    limits; the value is what is structured, else the text, parsed where it is JSON of an object or
    a list.
    """
    texts, files, refused = list[str](), list[File](), list[str]()
    for number, part in enumerate(result.content, 1):
        match part:
            case types.TextContent(text=text):
                texts.append(text)
            case types.ResourceLink(uri=uri, name=name):
                texts.append(f"{name}: {uri}")
            case _:
                _add(files, refused, _file(part, number), limits)
    text = "\n".join(texts)
    if result.is_error:
        message = shortened(text, _LONGEST_ERROR) or "the server gives no reason"
        return Raised(type_name="ToolFailed", message=message, files=tuple(files))
    value = _value(result.structured_content, text)
    content = canonical(value)
    whole = len(content) <= LARGEST
    shown = text or (content if result.structured_content is not None else "")
    return Returned(
        type_name=type(value).__name__,
        text=shown[:_LONGEST_TEXT],
        data=content if whole else None,
        value=reference_to(value, content) if whole else None,
        too_large=0 if whole else len(content),
        truncated=len(shown) > _LONGEST_TEXT,
        files=tuple(files),
        refused_files=tuple(refused),
    )


def _value(structured: Mapping[str, Any] | None, text: str) -> Any:
    match structured:
        case None:
            return _parsed(text)
        case {"result": value} if len(structured) == 1:  # how SDKs wrap what is no object
            return value
        case _:
            return dict(structured)


def _parsed(text: str) -> Any:
    if text[:1] in ("{", "[") and len(text) <= LARGEST:
        try:
            return json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError):
            pass
    return text


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _add(files: list[File], refused: list[str], found: "File | str", limits: FileLimits) -> None:
    if isinstance(found, str):
        refused.append(found)
        return
    names = {file.name for file in files}
    stem, dot, ending = found.name.rpartition(".")
    free = (f"{stem or ending}_{n}{dot}{ending if dot else ''}" for n in range(2, limits.count + 3))
    name = found.name if found.name not in names else next(one for one in free if one not in names)
    file = File(name=name, content=found.content)
    if problem := limits.problem([*files, file]):
        refused.append(f"{name}: {problem}")
    else:
        files.append(file)


def _file(content: types.ContentBlock, number: int) -> File | str:
    """The file that a part of a result is, or why it is none."""
    try:
        match content:
            case types.ImageContent(data=data, mime_type=kind):
                return File(name=_named("image", number, kind), content=_decoded(data))
            case types.AudioContent(data=data, mime_type=kind):
                return File(name=_named("audio", number, kind), content=_decoded(data))
            case types.EmbeddedResource(resource=types.BlobResourceContents() as one):
                name = _of_uri(one.uri) or _named("resource", number, one.mime_type)
                return File(name=name, content=_decoded(one.blob))
            case types.EmbeddedResource(resource=types.TextResourceContents() as one):
                name = _of_uri(one.uri) or _named("resource", number, one.mime_type or "text/plain")
                return File(name=name, content=one.text.encode(errors="replace"))
            case _:
                return f"part {number}: of an unknown kind"
    except NotBase64:
        return f"part {number}: it is not valid base64"


def _decoded(data: str) -> bytes:
    return b64decode(data, validate=True)


def _named(stem: str, number: int, kind: str | None) -> str:
    return f"{stem}_{number}{mimetypes.guess_extension(kind or '') or '.bin'}"


def _of_uri(uri: object) -> str:
    """The last part of an address, if it can be a file's name."""
    name = unquote(urlsplit(str(uri)).path).rpartition("/")[2]
    return "" if name_problem(name) else shown_name(name) if len(name) <= 80 else ""


def tools_of(
    server: str, address: str, listed: Iterable[types.Tool]
) -> tuple[list[ServerTool], list[str]]:
    """The tools that can be used, each name once, and why others can't."""
    tools: dict[str, ServerTool] = {}
    problems: list[str] = []
    for one in listed:
        found = tool_of(server, address, one)
        if isinstance(found, str):
            problems.append(found)
        elif found.name in tools:
            problems.append(f"two tools are called {found.name}")
        else:
            tools[found.name] = found
    return list(tools.values()), problems
