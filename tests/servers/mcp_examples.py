"""Other servers for tests: mcp.json with the scripted one, and a ranking that finds all tools."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.servers.mcp_servers import McpServers
from selfeng.store.known_tools import KnownTools

SCRIPT = Path(__file__).with_name("scripted_server.py")


async def all_fit(request: str, tools: Sequence[ServerTool]) -> tuple[ServerCandidate, ...]:
    """All do, and first those that the request names."""
    named = sorted(tools, key=lambda tool: tool.tool not in request)
    return tuple(ServerCandidate(tool=tool, similarity=0.5, confidence=0.9) for tool in named)


def entry(folder: Path, **more: Any) -> dict[str, Any]:
    """The entry of a scripted server whose files are in that folder."""
    return {"command": sys.executable, "args": [str(SCRIPT), str(folder)], **more}


def write(folder: Path, **entries: Any) -> Path:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": entries}))
    return file


@asynccontextmanager
async def opened(
    database: sa.Engine, file: Path, timeout: float = 20.0
) -> AsyncIterator[McpServers]:
    servers = McpServers(file, KnownTools(database), all_fit, timeout=timeout)
    async with aclosing(servers):
        yield servers


async def tool_named(servers: McpServers, name: str) -> ServerTool:
    await servers.servers(wait=20)
    tool = await servers.get(name)
    assert tool is not None, name
    return tool


def calls(folder: Path) -> list[str]:
    """The calls that reached the scripted server of that folder."""
    file = folder / "calls"
    return file.read_text().split() if file.exists() else []
