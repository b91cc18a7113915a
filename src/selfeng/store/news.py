"""News between the processes that share a PostgreSQL: they name the changed records, and the other
processes read them. SQLite has none: one server uses it, and sees the changes of commands when it
looks.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa

from selfeng.core.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from psycopg import AsyncConnection

log = logging.getLogger(__name__)

Topic = Literal["journal", "conversations", "library", "lessons", "queue", "stop"]
"""journal: events were appended, `<conversation>:<number of the last one>`; stop: the id of a turn
that must be stopped; the others: something of this kind changed.
"""
_CHANNEL = "selfeng"
_NOTIFY = sa.select(
    sa.func.pg_notify(
        sa.bindparam("channel"), sa.func.unnest(sa.bindparam("told", type_=sa.ARRAY(sa.Text)))
    )
)
_PROCESS = secrets.token_hex(4)
_PAUSES = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Seconds before each attempt to connect again; the last holds for all others."""


def announce(connection: sa.Connection, topic: Topic, *about: str) -> None:
    """Notify the other processes when the transaction is committed, and none otherwise; once for
    each thing that it is about.
    """
    if connection.dialect.name == "postgresql":
        payloads = [f"{_origin(connection.engine)} {topic} {subject}" for subject in about or ("",)]
        connection.execute(_NOTIFY, {"channel": _CHANNEL, "told": payloads})


def _origin(engine: sa.Engine) -> str:
    """Names the engine, whose own news its listener does not pass on."""
    return f"{_PROCESS}{id(engine):x}"


class NewsListener:
    """Passes on what other processes announce. Create and use it on one event loop."""

    def __init__(self, engine: sa.Engine, routes: Mapping[Topic, Callable[[str], object]]) -> None:
        """A route gets what an announcement of its topic is about. All get "" whenever the
        connection stands, the first time and after it was lost: anything may have changed unheard.
        """
        self._engine = engine
        self._routes = {str(topic): route for topic, route in routes.items()}
        self._listening = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        if engine.dialect.name == "postgresql":
            self._task = asyncio.create_task(self._listen(), name="news")

    async def started(self) -> None:
        """Wait until the first connection stands."""
        if self._task is not None:
            await self._listening.wait()

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _listen(self) -> None:
        import psycopg

        attempt = 0
        while True:
            await asyncio.sleep(_PAUSES[min(attempt, len(_PAUSES) - 1)])
            attempt += 1
            try:
                async with await self._connected() as connection:
                    await connection.execute(f"LISTEN {_CHANNEL}")
                    for route in self._routes.values():
                        route("")
                    self._listening.set()
                    attempt = 0
                    async for notice in connection.notifies():
                        origin, topic, about = notice.payload.split(" ", 2)
                        if topic in self._routes and origin != _origin(self._engine):
                            self._routes[topic](about)  # other versions know other topics
            except (OSError, psycopg.Error, DatabaseUnavailable) as error:
                level = logging.WARNING if attempt == 1 else logging.DEBUG
                log.log(level, "the database's news are not heard: %s", str(error).strip())
            except Exception:
                log.exception("the database's news can't be read")

    async def _connected(self) -> "AsyncConnection[tuple[Any, ...]]":
        import psycopg
        from psycopg.conninfo import make_conninfo

        _, options = self._engine.dialect.create_connect_args(self._engine.url)
        options.pop("context", None)  # SQLAlchemy's own
        return await psycopg.AsyncConnection.connect(make_conninfo(**options), autocommit=True)
