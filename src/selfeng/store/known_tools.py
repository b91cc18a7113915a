"""Known tools: what other MCP servers listed last, and which of it a person always allows."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from selfeng.core.server_tool import ListedServerTool, ServerTool
from selfeng.store import schema
from selfeng.store.database import fetch, writing

_TOOLS = schema.server_tools


class KnownTools:
    """All methods block."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def read(self) -> tuple[ListedServerTool, ...]:
        """Those that are listed, by server and name."""
        query = sa.select(_TOOLS).where(_TOOLS.c.definition.is_not(None))
        rows = fetch(self._engine, query.order_by(_TOOLS.c.server, _TOOLS.c.tool))
        pairs = ((ServerTool.model_validate_json(row.definition), row.allowed) for row in rows)
        return tuple(
            ListedServerTool(tool=tool, allowed=tool.digest == allowed_digest)
            for tool, allowed_digest in pairs
        )

    def replace(self, server: str, tools: Iterable[ServerTool]) -> None:
        """Store the tools that a server lists now; consents stay, in case it lists a tool again."""
        listed = {tool.tool: tool.model_dump_json() for tool in tools}
        condition = _TOOLS.c.server == server
        with writing(self._engine) as connection:
            connection.execute(_TOOLS.delete().where(condition, _TOOLS.c.allowed.is_(None)))
            connection.execute(_TOOLS.update().where(condition).values(definition=None))
            stored_names = set(connection.scalars(sa.select(_TOOLS.c.tool).where(condition)))
            for name, definition in listed.items():
                if name in stored_names:
                    change = _TOOLS.update().where(condition, _TOOLS.c.tool == name)
                    connection.execute(change.values(definition=definition))
            new = [
                {"server": server, "tool": name, "definition": definition}
                for name, definition in listed.items()
                if name not in stored_names
            ]
            if new:
                connection.execute(_TOOLS.insert(), new)

    def allow(self, tools: Sequence[ServerTool]) -> None:
        """Always allow exactly these."""
        with writing(self._engine) as connection:
            for tool in tools:
                condition = (_TOOLS.c.server == tool.server) & (_TOOLS.c.tool == tool.tool)
                connection.execute(_TOOLS.update().where(condition).values(allowed=tool.digest))

    def revoke(self, server: str, tool: str = "") -> int:
        """Ask again before this tool is called, or any of the server; returns how many were
        allowed.
        """
        some = (_TOOLS.c.server == server) & _TOOLS.c.allowed.is_not(None)
        if tool:
            some &= _TOOLS.c.tool == tool
        with writing(self._engine) as connection:
            return connection.execute(_TOOLS.update().where(some).values(allowed=None)).rowcount
