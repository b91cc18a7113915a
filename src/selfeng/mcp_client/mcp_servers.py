"""The other MCP servers: all of mcp.json, which is read again when it has changed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfeng.core.errors import ResourceNotFound
from selfeng.core.files import FileLimits
from selfeng.core.server_tool import ListedServerTool, ServerCandidate, ServerStatus, ServerTool
from selfeng.core.verdict import Execution, Raised
from selfeng.mcp_client.mcp_config import McpConfig, read_mcp_config
from selfeng.store.known_tools import KnownTools

if TYPE_CHECKING:
    from selfeng.mcp_client.server_connection import Progress, ServerConnection

Compare = Callable[[str, Sequence[ServerTool]], Awaitable[tuple[ServerCandidate, ...]]]
"""Ranks tools by how well they fit a request, best first."""

_PATIENCE = 5.0
"""Seconds that a search waits for servers whose tools were never listed."""

log = logging.getLogger(__name__)


class ServerWithTools(NamedTuple):
    """A server, and what it listed last."""

    status: ServerStatus
    tools: tuple[ListedServerTool, ...]

    def as_json(self) -> dict[str, Any]:
        """What the page and `selfeng servers list --json` tell of it."""
        tools = [
            {
                "name": known.tool.tool,
                "description": known.tool.description,
                "read_only": known.tool.read_only,
                "allowed": known.allowed,
            }
            for known in self.tools
        ]
        return {**self.status.model_dump(), "tools": tools}


def _quiet(done: float, total: float | None, words: str) -> None:
    """Nobody wants to know the progress."""


class McpServers:
    """Implements `ServerTools`; used on one event loop. What speaks the protocol is loaded when
    there is a server, as that takes a second.
    """

    def __init__(
        self,
        file: Path,
        known: KnownTools,
        compare: Compare,
        *,
        timeout: float = 60.0,
        limits: FileLimits | None = None,
    ) -> None:
        """`timeout`: seconds that a call may take without progress; `limits`: of the files of a
        result.
        """
        self.file = file
        self._known, self._compare = known, compare
        self._timeout, self._limits = timeout, limits or FileLimits()
        self._config, self._stamp = McpConfig(), (0, 0)
        self._connections: dict[str, ServerConnection] = {}
        self._reading = asyncio.Lock()

    async def search(self, request: str, limit: int = 8) -> tuple[ServerCandidate, ...]:
        """The tools nearest to a request, best first. Servers that were never listed are waited
        for, but not for long.
        """
        await self._read()
        if not self._connections:
            return ()
        tools = [known.tool for known in await self._listed(wait=_PATIENCE)]
        return (await self._compare(request, tools))[:limit] if tools else ()

    async def get(self, name: str) -> ServerTool | None:
        known = await self._one(name)
        return known.tool if known else None

    async def allowed(self, tool: ServerTool) -> bool:
        known = await self._one(tool.name)
        return known is not None and known.allowed and known.tool == tool

    async def allow(self, tool: ServerTool) -> None:
        """Always allow this tool; with one that only reads, all of its server that only read."""
        others = [k.tool for k in await self._listed() if k.tool.server == tool.server]
        reading = [one for one in others if one.read_only] if tool.read_only else []
        await asyncio.to_thread(self._known.allow, [tool, *reading])

    async def allow_named(self, server: str, tool: str = "") -> int:
        """Always allow a tool of a server as it is now, or all; returns how many.

        Raises:
            ResourceNotFound: there is no such server, or it listed no such tool.
        """
        await self._read()
        self._check(server)
        wanted = [k.tool for k in await self._listed() if k.tool.server == server]
        wanted = [one for one in wanted if tool in ("", one.tool)]
        if not wanted:
            raise ResourceNotFound(
                f"{server} has listed no tool {tool!r}" if tool else f"{server} has no tools",
                "`selfeng servers list` shows what there is",
            )
        await asyncio.to_thread(self._known.allow, wanted)
        return len(wanted)

    async def revoke(self, server: str, tool: str = "") -> int:
        """Ask again before this tool, or any of the server, is called; returns how many were
        allowed. A server that mcp.json no longer has may be named, too.
        """
        return await asyncio.to_thread(self._known.revoke, server, tool)

    async def call(
        self, tool: ServerTool, arguments: Mapping[str, Any], on_progress: "Progress" = _quiet
    ) -> Execution:
        """Call a tool once; every failure is a value."""
        await self._read()
        if (connection := self._connections.get(tool.server)) is None:
            return Raised(
                type_name="ServerUnavailable",
                message=f"{self.file} has no server {tool.server!r} now",
            )
        from selfeng.mcp_client.server_connection import ServerFailed
        from selfeng.mcp_client.server_results import execution_of

        try:
            result = await connection.call(tool, arguments, on_progress)
            return await asyncio.to_thread(execution_of, result, self._limits)
        except ServerFailed as error:
            return Raised(type_name="ServerFailed", message=str(error))
        except TimeoutError:
            limit = f"{self._timeout:g} seconds without progress (MCP_TIMEOUT)"
            return Raised(type_name="TimeoutError", message=f"{tool.server} took {limit}")
        except LookupError:
            return Raised(
                type_name="ToolChanged",
                message=f"{tool.server} changed {tool.tool} meanwhile; ask again",
            )

    async def servers(self, wait: float = 0.0) -> tuple[ServerWithTools, ...]:
        """All servers of the file with their tools, and the entries that can't be used. They are
        connected in the background; `wait`: seconds to wait for those that are not yet.
        """
        await self._read()
        known = await self._listed(wait=wait, all_of_them=True)
        found = [
            ServerWithTools(
                ServerStatus(
                    name=name,
                    address=one.config.address,
                    state=one.state,
                    problem=one.problem,
                ),
                tuple(k for k in known if k.tool.server == name),
            )
            for name, one in self._connections.items()
        ]
        wrong = [
            ServerWithTools(ServerStatus(name=name, state="failed", problem=problem), ())
            for name, problem in self._config.problems.items()
        ]
        return (*found, *wrong)

    async def aclose(self) -> None:
        """End all sessions and the processes of servers."""
        connections = tuple(self._connections.values())
        self._connections.clear()
        await asyncio.gather(*(one.aclose() for one in connections))

    def _check(self, server: str) -> None:
        if server not in self._connections:
            names = ", ".join(self._connections) or "none"
            raise ResourceNotFound(f"unknown server {server[:40]!r}", f"{self.file} has: {names}")

    async def _one(self, name: str) -> ListedServerTool | None:
        await self._read()
        return next((k for k in await self._listed() if k.tool.name == name), None)

    async def _listed(
        self, wait: float = 0.0, *, all_of_them: bool = False
    ) -> tuple[ListedServerTool, ...]:
        """What the servers of the file listed last. Opens their connections."""
        for connection in self._connections.values():
            connection.open()
        known = await asyncio.to_thread(self._known.read)
        listed = {k.tool.server for k in known}
        silent = [
            one.asked.wait()
            for name, one in self._connections.items()
            if not one.asked.is_set() and (all_of_them or name not in listed)
        ]
        if wait and silent:
            tasks = [asyncio.ensure_future(one) for one in silent]
            await asyncio.wait(tasks, timeout=wait)
            for task in tasks:
                task.cancel()
            known = await asyncio.to_thread(self._known.read)
        else:
            for one in silent:
                one.close()
        current = {name: one.config.digest for name, one in self._connections.items()}
        return tuple(k for k in known if current.get(k.tool.server) == k.tool.entry)

    async def _read(self) -> None:
        """Read the file if it has changed; end connections to what it says otherwise now."""
        async with self._reading:
            if (stamp := await asyncio.to_thread(_stamp, self.file)) == self._stamp:
                return
            self._stamp = stamp
            self._config = await asyncio.to_thread(read_mcp_config, self.file)
            for problem in self._config.problems.values():
                log.warning("an MCP server is left out: %s", problem)
            wanted = self._config.servers
            await asyncio.to_thread(self._known.forget_addresses)
            known = self._connections.values()
            gone = [one for one in known if wanted.get(one.name) != one.config]
            for one in gone:
                del self._connections[one.name]
            await asyncio.gather(*(one.aclose() for one in gone))
            if wanted:
                await asyncio.to_thread(import_module, "selfeng.mcp_client.server_connection")
                self._connect()

    def _connect(self) -> None:
        from selfeng.mcp_client.server_connection import ServerConnection

        for name, config in self._config.servers.items():
            if name not in self._connections:

                async def keep(tools: Sequence[ServerTool], server: str = name) -> None:
                    await asyncio.to_thread(self._known.replace, server, tools)

                self._connections[name] = ServerConnection(name, config, self._timeout, keep)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
