"""Replies of other servers, taken as data: their lists of tools, and the results of calls."""

import json
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
from jsonschema import SchemaError
from jsonschema.validators import validator_for

from selfeng.core.files import File, FileLimits, ending_of, name_problem, with_ending
from selfeng.core.result import LARGEST, canonical, reference_to
from selfeng.core.server_tool import LARGEST_SCHEMA, LONGEST_DESCRIPTION, ServerTool
from selfeng.core.verdict import Execution, Raised, Returned
from selfeng.core.visible import one_line, visible
from selfeng.core.words import shortened
from selfeng.servers.mcp_config import ServerConfig

_LONGEST_NAME = 128
_LONGEST_ERROR = 4_000
_LONGEST_TEXT = 20_000
"""Characters of a value that are shown."""
_LONGEST_FILE_NAME = 80
_DEEPEST = 32
_WORDS = ("description", "title", "$comment")


def tool_of(server: str, config: ServerConfig, listed: types.Tool) -> ServerTool | str:
    """The tool that a server lists, or why it can't be used. Names are refused where they are too
    long, descriptions are shortened, and characters that can't be seen are written out.
    """
    if not (name := listed.name) or len(name) > _LONGEST_NAME or one_line(name) != name:
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
        for json_schema in (schema, listed.output_schema or {}):
            validator_for(json_schema).check_schema(json_schema)
            validator_for(json_schema)(json_schema).is_valid({})  # references may go in circles
    except Exception as error:  # noqa: BLE001 - a foreign schema may break what checks it in any way
        detail = error.message if isinstance(error, SchemaError) else str(error)
        return f"the input schema of {name} is not valid: {one_line(detail)[:200]}"
    hints = listed.annotations or types.ToolAnnotations()
    return ServerTool(
        server=server,
        address=config.address,
        entry=config.digest,
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
    """The outcome of a call. Pictures, sounds and resources are files, as far as they fit the
    limits; the value is what is structured, else the text, parsed where it is JSON of an object or
    a list.
    """
    texts, files, refused = list[str](), list[File](), list[str]()
    links = [part for part in result.content if isinstance(part, types.ResourceLink)]
    names = {str(link.uri): link.title or link.name for link in links}
    for number, part in enumerate(result.content, 1):
        match part:
            case types.TextContent(text=text):
                texts.append(text)
            case types.ResourceLink(uri=uri, mime_type=kind):
                texts.append(f"{names[str(uri)]}{f' ({kind})' if kind else ''}: {uri}")
            case _:
                _add(files, refused, _file(part, number, names), limits)
    text = "\n".join(texts)
    if result.is_error:
        message = shortened(text, _LONGEST_ERROR) or "the server gives no reason"
        return Raised(type_name="ToolFailed", message=message, files=tuple(files))
    value = _value(result.structured_content, text)
    content = canonical(value)
    fits = len(content) <= LARGEST
    full_text = text or (content if result.structured_content is not None else "")
    return Returned(
        type_name=type(value).__name__,
        text=full_text[:_LONGEST_TEXT],
        data=content if fits else None,
        value=reference_to(value, content) if fits else None,
        too_large=0 if fits else len(content),
        truncated=len(full_text) > _LONGEST_TEXT,
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


def _add(
    files: list[File], refused: list[str], file_or_problem: "File | str", limits: FileLimits
) -> None:
    if isinstance(file_or_problem, str):
        refused.append(file_or_problem)
        return
    names = {file.name for file in files}
    stem, dot, ending = file_or_problem.name.rpartition(".")
    free = (f"{stem or ending}_{n}{dot}{ending if dot else ''}" for n in range(2, limits.count + 3))
    name = (
        file_or_problem.name
        if file_or_problem.name not in names
        else next(free_name for free_name in free if free_name not in names)
    )
    file = File(name=name, content=file_or_problem.content)
    if problem := limits.problem([*files, file]):
        refused.append(f"{name}: {problem}")
    else:
        files.append(file)


def _file(content: types.ContentBlock, number: int, names: Mapping[str, str]) -> File | str:
    """The file that a part of a result is, or why it is none; `names` are those of resources by
    their addresses.
    """
    try:
        match content:
            case types.ImageContent(data=data, mime_type=kind):
                return File(name=_numbered_name("image", number, kind), content=_decoded(data))
            case types.AudioContent(data=data, mime_type=kind):
                return File(name=_numbered_name("audio", number, kind), content=_decoded(data))
            case types.EmbeddedResource(resource=types.BlobResourceContents() as blob):
                name = _resource_name(blob, number, blob.mime_type or "", names)
                return File(name=name, content=_decoded(blob.blob))
            case types.EmbeddedResource(resource=types.TextResourceContents() as document):
                name = _resource_name(document, number, document.mime_type or "text/plain", names)
                return File(name=name, content=document.text.encode(errors="replace"))
            case _:
                return f"part {number}: of an unknown kind"
    except NotBase64:
        return f"part {number}: it is not valid base64"


def _decoded(data: str) -> bytes:
    return b64decode(data, validate=True)


def _numbered_name(stem: str, number: int, kind: str | None) -> str:
    return f"{stem}_{number}{ending_of(kind or '') or '.bin'}"


def _resource_name(
    resource: types.ResourceContents, number: int, kind: str, names: Mapping[str, str]
) -> str:
    """The name of a resource, or the last part of its address, with the ending of its type."""
    for name in (names.get(str(resource.uri), ""), _of_uri(str(resource.uri))):
        if len(name) <= _LONGEST_FILE_NAME and not name_problem(name):
            return with_ending(name, kind)
    return _numbered_name("resource", number, kind)


def _of_uri(uri: str) -> str:
    """The last part of an address, after the part before it if it is a number; "" if there is
    none.
    """
    try:
        split = urlsplit(uri)
    except ValueError:
        return ""
    host = "" if split.scheme in ("http", "https") else split.netloc
    parts = [unquote(part) for part in (host, *split.path.split("/")) if part]
    return "_".join(parts[-2:]) if parts[-1:] and parts[-1].isdecimal() else "".join(parts[-1:])


def tools_of(
    server: str, config: ServerConfig, listed: Iterable[types.Tool]
) -> tuple[list[ServerTool], list[str]]:
    """The tools that can be used, each name once, and why others can't."""
    tools: dict[str, ServerTool] = {}
    problems: list[str] = []
    for listed_tool in listed:
        if isinstance((tool_or_problem := tool_of(server, config, listed_tool)), str):
            problems.append(tool_or_problem)
        elif tool_or_problem.name in tools:
            problems.append(f"two tools are called {tool_or_problem.name}")
        else:
            tools[tool_or_problem.name] = tool_or_problem
    return list(tools.values()), problems
