"""ToolExport: tools of the library as files for other programs and libraries.

Other programs get a tool as one Python file, with PEP 723 metadata, the tools that it imports, and
a command line that takes JSON and prints JSON; or as an Agent Skill
(https://agentskills.io/specification), with instructions for agents, the script, and its tests.
"""

import ast
import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal

from selfeng.core.composition import imported_names, packages_of
from selfeng.core.errors import RequestError
from selfeng.core.files import File, zipped
from selfeng.core.packages import with_reader
from selfeng.core.protocols import ToolLibrary
from selfeng.core.signature import Parameter
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.visible import plain_line_problem
from selfeng.core.words import count
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_bundle import (
    INDEX,
    IndexedTool,
    ToolIndex,
    read_index,
    write_bundle,
)

_PYTHON = ">=3.11"
_METADATA = """\
# /// script
# requires-python = "{python}"
# dependencies = {packages}
# ///
"""
_LOADER = '''\
def {loader}():
    """Load the tools that this one imports."""
    import sys
    import types

    sources = {{
{sources}
    }}
    for name, source in sources.items():
        sys.modules[name] = module = types.ModuleType(name)
        exec(compile(source, f"{{name}}.py", "exec"), module.__dict__)


{loader}()
'''
_COMMAND_LINE = '''\


def {main}():
    """Call the tool with a JSON object, an argument or standard input, and print JSON."""
    import inspect
    import json
    import sys

    def plain(value):
        for method in ("tolist", "isoformat", "to_dict"):
            if hasattr(value, method):
                return getattr(value, method)()
        return list(value) if isinstance(value, (set, frozenset)) else str(value)

    usage = {usage}
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(usage)
        return 0
    try:
        if len(sys.argv) == 1 and sys.stdin.isatty():
            raise TypeError("no arguments are given")
        given = json.loads(sys.stdin.read() if len(sys.argv) == 1 else " ".join(sys.argv[1:]))
        if not isinstance(given, dict):
            raise TypeError("the arguments are not a JSON object")
        inspect.signature({function}).bind(**given)
    except (TypeError, ValueError) as error:
        print(f"error: {{error}}\\n{{usage}}", file=sys.stderr)
        return 2
    try:
        print(json.dumps({function}(**given), default=plain))
    except Exception as error:
        print(f"{{type(error).__name__}}: {{error}}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit({main}())
'''


@dataclass(frozen=True)
class ExportedTool:
    """A draft with everything that it needs elsewhere."""

    draft: ToolDraft
    version: int
    modules: Mapping[str, str]
    """Sources of the tools that it imports, directly or not, in the pinned versions, by name."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that it needs, as in `numpy==2.4.6`."""
        return packages_of((self.draft.code, *self.modules.values()), self.draft.lock)

    @property
    def ordered_modules(self) -> dict[str, str]:
        """The sources of the imported tools, and of the reader of cells, each after those that it
        imports itself.
        """
        modules = with_reader(self.modules, self.draft.code)
        graph = {name: imported_names(code) & set(modules) for name, code in modules.items()}
        return {name: modules[name] for name in TopologicalSorter(graph).static_order()}


def script(tool: ExportedTool) -> str:
    """The source of the file. `python NAME.py '{"text": "x"}'` calls the tool, `uv run` installs
    its packages first, and as a module it is the tool.
    """
    code, modules = tool.draft.code, tool.ordered_modules
    head, body = _split(code) if modules else ("", code)
    loader = _free("_load_imported_tools", code)
    parts = [_METADATA.format(python=_PYTHON, packages=json.dumps(tool.packages)), head]
    if modules:
        sources = ",\n".join(_entry(name, source) for name, source in modules.items())
        parts.append(_LOADER.format(loader=loader, sources=sources))
    command_line = _COMMAND_LINE.format(
        main=_free("_command_line", code),
        function=tool.draft.name,
        usage=repr(_usage(tool)),
    )
    return "\n".join(filter(None, [*parts, body.rstrip("\n") + "\n"])) + command_line


def _split(code: str) -> tuple[str, str]:
    """The lines that have to stay at the top of a module, its docstring and `__future__` imports,
    and the rest.
    """
    last = 0
    for node in ast.parse(code).body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) if last == 0:
                last = node.end_lineno or 0
            case ast.ImportFrom(module="__future__"):
                last = node.end_lineno or 0
            case _:
                break
    lines = code.split("\n")
    return "\n".join(lines[:last]), "\n".join(lines[last:])


def _entry(name: str, source: str) -> str:
    lines = "\n".join(f"            {line!r}" for line in source.splitlines(keepends=True))
    return f"        {name!r}: (\n{lines}\n        )"


def _free(name: str, code: str) -> str:
    while name in code:
        name = f"_{name}"
    return name


def _usage(tool: ExportedTool) -> str:
    draft = tool.draft
    example = ", ".join(f'"{p.name}": …' for p in draft.signature.parameters if p.required)
    described = [
        f"  {p.name}: {p.description}" for p in draft.signature.parameters if p.description
    ]
    return "\n".join(
        [
            f"usage: {draft.name}.py '{{{example}}}'",
            draft.description,
            str(draft.signature),
            *described,
        ]
    )


_LONGEST_DESCRIPTION = 1024
_REQUESTS = 3
_TEXT = """\
---
name: {name}
description: {description}
compatibility: {compatibility}
metadata:
  version: "{version}"
---

# {title}

{about}

Run the script with the arguments as one JSON object. It prints the result as JSON.

```sh
{command} '{{{example}}}'
```

| argument | type | |
|---|---|---|
{rows}

`{command} --help` says the same. Exit code 1: the tool refused the values; 2: the arguments do not
fit. Stderr says why.

The tests run with pytest: `python -m pytest -o pythonpath=scripts tests`.
"""


def skill_name(tool: str) -> str:
    """The name of the skill, and of its folder: lower case, with single hyphens."""
    return re.sub(r"_+", "-", tool).strip("-")


def skill(tool: ExportedTool) -> dict[str, str]:
    """The files of the skill, by their paths; the first part is the skill's folder."""
    name, function = skill_name(tool.draft.name), tool.draft.name
    return {
        f"{name}/SKILL.md": _instructions(tool, name),
        f"{name}/scripts/{function}.py": script(tool),
        f"{name}/tests/test_{function}.py": tool.draft.tests,
    }


def _instructions(tool: ExportedTool, name: str) -> str:
    draft, packages = tool.draft, tool.packages
    requests_text = "; ".join(draft.example_requests[:_REQUESTS])
    when = f" Use it for requests such as: {requests_text}" if requests_text else ""
    runner = "uv run" if packages else "python3"
    example = ", ".join(f'"{p.name}": …' for p in draft.signature.parameters if p.required)
    needs = f" and {', '.join(packages)}, which uv run installs" if packages else ""
    return _TEXT.format(
        name=name,
        description=_yaml(f"{draft.description}{when}"[:_LONGEST_DESCRIPTION]),
        compatibility=_yaml(f"Needs Python 3.11 or later{needs}."),
        version=tool.version,
        title=name.replace("-", " ").capitalize(),
        about=draft.description,
        command=f"{runner} scripts/{draft.name}.py",
        example=example,
        rows="\n".join(map(_row, draft.signature.parameters)),
    )


def _row(parameter: Parameter) -> str:
    default = "" if parameter.default is None else f" (default `{parameter.default}`)"
    cells = f"`{parameter.name}`", f"`{parameter.annotation}`", f"{parameter.description}{default}"
    return f"| {' | '.join(map(_cell, cells))} |"


def _yaml(text: str) -> str:
    """The text as a double-quoted scalar, which JSON's strings are."""
    return json.dumps(text, ensure_ascii=False)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


ExportForm = Literal["script", "skill", "bundle"]
"""script: one Python file; skill: an Agent Skill, zipped; bundle: for another library."""
Examples = Callable[[ToolDraft], Awaitable[Sequence[str]]]
"""The example requests of a tool that whoever exports it may see."""


class ToolExport:
    def __init__(self, library: ToolLibrary, keys: SigningKeys) -> None:
        self._library, self._keys = library, keys

    async def file(self, names: Sequence[str], form: ExportForm, examples: Examples) -> File:
        """These tools, by default all that are not retired, with the tools that they import.

        Raises:
            RequestError: the form can't hold these tools.
            ToolNotFound, ToolModified, VersionNotFound, ConfigurationError
        """
        tools = await self._tools(names)
        if form == "bundle":
            return await self._bundle(tools, examples)
        return await asyncio.to_thread(
            _file, [await self._with_modules(tool, examples) for tool in tools], form
        )

    async def publish(self, folder: Path, names: Sequence[str], examples: Examples) -> ToolIndex:
        """Write a bundle of each of these tools, by default all that are not retired, and an index
        of them to a folder, whose index stays as it is for other tools and the same versions.

        Raises:
            RequestError: the folder can't be written, or has another file in place of the index.
            ToolNotFound, ToolModified, VersionNotFound, ConfigurationError
        """
        tools = await self._tools(names)
        before = await asyncio.to_thread(_index_of, folder)
        entries = {entry.name: entry for entry in before.tools}
        for tool in tools:
            if (entry := entries.get(tool.name)) and entry.version == tool.version:
                continue
            content = (await self._bundle([tool], examples)).content
            bundle, sha256 = f"{tool.name}-{tool.version}.zip", hashlib.sha256(content).hexdigest()
            await asyncio.to_thread(_write, folder / bundle, content)
            entries[tool.name] = IndexedTool(
                name=tool.name, version=tool.version, sha256=sha256, bundle=bundle
            )
        imported = {tool.name: {pin.name for pin in tool.requires} for tool in tools}
        order = TopologicalSorter({name: imported.get(name, set()) for name in entries})
        index = ToolIndex(tools=tuple(entries[n] for n in order.static_order() if n in entries))
        await asyncio.to_thread(_write, folder / INDEX, index.model_dump_json(indent=1).encode())
        return index

    async def _tools(self, names: Sequence[str]) -> list[Tool]:
        """Raises: RequestError: there are none. ToolNotFound, ToolModified."""
        if names:
            return [await self._library.get(name) for name in dict.fromkeys(names)]
        tools = [t for t in await self._library.tools() if t.standing != "retired"]
        if not tools:
            raise RequestError("the library has no tools", "ask for one first")
        return tools

    async def _with_modules(self, tool: Tool, examples: Examples) -> ExportedTool:
        pinned = [await self._library.version(pin.name, pin.version) for pin in tool.requires]
        draft = await _shareable_draft(tool, examples)
        return ExportedTool(draft, tool.version, {module.name: module.code for module in pinned})

    async def _bundle(self, tools: Sequence[Tool], examples: Examples) -> File:
        """Where tools are pinned to several versions of another one, the newest comes along: the
        gate of the other library judges whether they work with it.
        """
        pins: dict[str, int] = {}
        for pin in (pin for tool in tools for pin in tool.requires):
            pins[pin.name] = max(pin.version, pins.get(pin.name, 0))
        exported_names = {tool.name for tool in tools}
        needed = [
            await self._library.version(name, version)
            for name, version in sorted(pins.items())
            if name not in exported_names
        ]
        drafts = [await _shareable_draft(tool, examples) for tool in (*needed, *tools)]
        exported = [await self._library.version(tool.name, tool.version) for tool in tools]
        versions = {version.name: version for version in (*needed, *exported)}
        content = await asyncio.to_thread(write_bundle, drafts, self._keys.sign, versions)
        return File(name=f"{tools[0].name if len(tools) == 1 else 'tools'}.zip", content=content)


def _index_of(folder: Path) -> ToolIndex:
    path = folder / INDEX
    try:
        return read_index(path.read_bytes()) if path.exists() else ToolIndex()
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error}", "name another folder") from error


def _write(path: Path, content: bytes) -> None:
    """A reader gets the old file or the new one."""
    part = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        raise RequestError(f"{path} can't be written: {error}", "name another folder") from error


async def _shareable_draft(tool: ToolDraft, examples: Examples) -> ToolDraft:
    """The tool with the requests that may be told, as far as others take them; one that has not
    served has those that it came with.
    """
    requests = await examples(tool)
    if not requests and tool.imported:
        requests = tool.imported.requests
    requests = [request for request in requests if not plain_line_problem(request)]
    update = {"example_requests": tuple(requests), "witnesses": ()}
    return tool.draft().model_copy(update=update)


def _file(tools: Sequence[ExportedTool], form: Literal["script", "skill"]) -> File:
    first = tools[0].draft.name
    if form == "skill":
        name = skill_name(first) if len(tools) == 1 else "skills"
        files = {path: text for tool in tools for path, text in skill(tool).items()}
        return File(name=f"{name}.zip", content=zipped(files))
    if len(tools) > 1:
        raise RequestError(
            f"a script holds one tool, not {count(len(tools), 'tool')}",
            "name one tool, or export skills or a bundle",
        )
    return File(name=f"{first}.py", content=script(tools[0]).encode())
