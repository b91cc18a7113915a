"""ToolExport: tools of the library as files for other programs and libraries."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Literal

from selfeng.core.errors import RequestError
from selfeng.core.files import File, zipped
from selfeng.core.protocols import ToolLibrary
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.visible import plain_line_problem
from selfeng.core.words import count
from selfeng.library.exchange.forms import ExportedTool, script, skill, skill_name
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_bundle import (
    INDEX,
    IndexedTool,
    ToolIndex,
    read_index,
    write_bundle,
)

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
