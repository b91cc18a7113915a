"""The other MCP servers: all of mcp.json, which is read again when it has changed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfeng.core.background import in_thread
from selfeng.core.errors import ResourceNotFound
from selfeng.core.files import FileLimits
from selfeng.core.server_tool import ListedServerTool, ServerCandidate, ServerStatus, ServerTool
from selfeng.core.verdict import Execution, Raised
from selfeng.servers.mcp_config import McpConfig, read_mcp_config
from selfeng.store.known_tools import KnownTools

if TYPE_CHECKING:
    from selfeng.servers.server_connection import Progress, ServerConnection

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
        """The server as the page and `selfeng servers list --json` show it."""
        tools = [
            {
                "name": listed_tool.tool.tool,
                "description": listed_tool.tool.description,
                "read_only": listed_tool.tool.read_only,
                "allowed": listed_tool.allowed,
            }
            for listed_tool in self.tools
        ]
        return {**self.status.model_dump(), "tools": tools}


class McpServers:
    """Implements `ServerTools`; used on one event loop. The protocol's modules are loaded when
    there is a server, as that takes a second.
    """

    def __init__(
        self,
        file: Path,
        known_tools: KnownTools,
        compare: Compare,
        *,
        timeout: float = 60.0,
        limits: FileLimits | None = None,
    ) -> None:
        """`timeout`: seconds that a call may take without progress; `limits`: of the files of a
        result.
        """
        self.file = file
        self._known_tools, self._compare = known_tools, compare
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
        tools = [listed_tool.tool for listed_tool in await self._listed(wait=_PATIENCE)]
        return (await self._compare(request, tools))[:limit] if tools else ()

    async def get(self, name: str) -> ServerTool | None:
        listed_tool = await self._listed_tool(name)
        return listed_tool.tool if listed_tool else None

    async def allowed(self, tool: ServerTool) -> bool:
        listed_tool = await self._listed_tool(tool.name)
        return listed_tool is not None and listed_tool.allowed and listed_tool.tool == tool

    async def allow(self, tool: ServerTool) -> None:
        """Always allow this tool; with one that only reads, all of its server that only read."""
        server_tools = [k.tool for k in await self._listed() if k.tool.server == tool.server]
        reading = (
            [server_tool for server_tool in server_tools if server_tool.read_only]
            if tool.read_only
            else []
        )
        await asyncio.to_thread(self._known_tools.allow, [tool, *reading])

    async def allow_named(self, server: str, tool: str = "") -> int:
        """Always allow a tool of a server as it is now, or all; returns how many.

        Raises:
            ResourceNotFound: there is no such server, or it listed no such tool.
        """
        await self._read()
        self._check(server)
        matches = [k.tool for k in await self._listed() if k.tool.server == server]
        matches = [server_tool for server_tool in matches if tool in ("", server_tool.tool)]
        if not matches:
            raise ResourceNotFound(
                f"{server} has listed no tool {tool!r}" if tool else f"{server} has no tools",
                "`selfeng servers list` shows what there is",
            )
        await asyncio.to_thread(self._known_tools.allow, matches)
        return len(matches)

    revoke = in_thread("_known_tools", KnownTools.revoke)

    async def call(
        self,
        tool: ServerTool,
        arguments: Mapping[str, Any],
        on_progress: "Progress" = lambda progress, total, words: None,
    ) -> Execution:
        """Call a tool once; every failure is a value."""
        await self._read()
        if (connection := self._connections.get(tool.server)) is None:
            return Raised(
                type_name="ServerUnavailable",
                message=f"{self.file} has no server {tool.server!r} now",
            )
        from selfeng.servers.server_connection import ServerFailed
        from selfeng.servers.server_results import execution_of

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
        await self._listed(wait=wait, all_of_them=True)
        statuses = [  # before the tools are read: a server is connected once its tools are stored
            ServerStatus(
                name=name,
                address=connection.config.address,
                state=connection.state,
                problem=connection.problem,
            )
            for name, connection in self._connections.items()
        ]
        tools = await self._listed()
        return (
            *(
                ServerWithTools(s, tuple(k for k in tools if k.tool.server == s.name))
                for s in statuses
            ),
            *(
                ServerWithTools(ServerStatus(name=name, state="failed", problem=problem), ())
                for name, problem in self._config.problems.items()
            ),
        )

    async def aclose(self) -> None:
        """End all sessions and the processes of servers."""
        connections = tuple(self._connections.values())
        self._connections.clear()
        await asyncio.gather(*(connection.aclose() for connection in connections))

    def _check(self, server: str) -> None:
        if server not in self._connections:
            names = ", ".join(self._connections) or "none"
            raise ResourceNotFound(f"unknown server {server[:40]!r}", f"{self.file} has: {names}")

    async def _listed_tool(self, name: str) -> ListedServerTool | None:
        await self._read()
        return next((k for k in await self._listed() if k.tool.name == name), None)

    async def _listed(
        self, wait: float = 0.0, *, all_of_them: bool = False
    ) -> tuple[ListedServerTool, ...]:
        """The tools that the servers of the file listed last. Opens their connections."""
        for connection in self._connections.values():
            connection.open()
        listed_tools = await asyncio.to_thread(self._known_tools.read)
        listed = {k.tool.server for k in listed_tools}
        silent = [
            c
            for name, c in self._connections.items()
            if not c.asked.is_set() and (all_of_them or name not in listed)
        ]
        if wait and silent:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    for connection in silent:
                        await connection.asked.wait()
            listed_tools = await asyncio.to_thread(self._known_tools.read)
        current = {name: c.config.digest for name, c in self._connections.items()}
        return tuple(k for k in listed_tools if current.get(k.tool.server) == k.tool.entry)

    async def _read(self) -> None:
        """Read the file if it has changed; end connections to what it says otherwise now."""
        async with self._reading:
            if (stamp := _stamp(self.file)) == self._stamp:
                return
            self._stamp = stamp
            self._config = await asyncio.to_thread(read_mcp_config, self.file)
            for problem in self._config.problems.values():
                log.warning("an MCP server is left out: %s", problem)
            servers = self._config.servers
            connections = self._connections.values()
            outdated = [
                connection
                for connection in connections
                if servers.get(connection.name) != connection.config
            ]
            for connection in outdated:
                del self._connections[connection.name]
            await asyncio.gather(*(connection.aclose() for connection in outdated))
            if servers:
                await asyncio.to_thread(import_module, "selfeng.servers.server_connection")
                self._connect()

    def _connect(self) -> None:
        from selfeng.servers.server_connection import ServerConnection

        for name, config in self._config.servers.items():
            if name not in self._connections:

                async def keep(tools: Sequence[ServerTool], server: str = name) -> None:
                    await asyncio.to_thread(self._known_tools.replace, server, tools)

                self._connections[name] = ServerConnection(name, config, self._timeout, keep)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
