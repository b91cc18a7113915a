"""The trouble of a database that works no longer, told with what to do: it is locked, its disk is
full, its server is away.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

import sqlalchemy as sa

from selfeng.core.errors import DatabaseUnavailable

_FREE = "free space on its disk, then ask again"
_RESTORE = "check its disk; `selfeng restore FILE` brings a backup back"
_SQLITE = {
    sqlite3.SQLITE_BUSY: ("is locked", "end the program that holds it, then ask again"),
    sqlite3.SQLITE_LOCKED: ("is locked", "ask again"),
    sqlite3.SQLITE_READONLY: (
        "can't be written",
        "make the file and its folder writable, then ask again",
    ),
    sqlite3.SQLITE_IOERR: ("can't be read or written", _RESTORE),
    sqlite3.SQLITE_CORRUPT: ("is damaged", _RESTORE),
    sqlite3.SQLITE_NOTADB: ("is damaged", _RESTORE),
    sqlite3.SQLITE_FULL: ("has no space left", _FREE),
    sqlite3.SQLITE_CANTOPEN: (
        "can't be opened",
        "check that its folder is there and writable, then ask again",
    ),
}
"""By SQLite's primary result codes; others are mistakes of the program."""
_POSTGRES = {
    "25006": ("takes no changes", "let DATABASE_URL name a server that does, then ask again"),
    "53100": ("has no space left", _FREE),
    "53300": ("has no connection left", "allow more by its max_connections, then ask again"),
}
"""By codes of SQLSTATE."""
_AWAY = "does not answer", "check that its server runs, and DATABASE_URL, then ask again"


@contextmanager
def explain_errors(engine: sa.Engine) -> Iterator[None]:
    """Raises: DatabaseUnavailable: the database works no longer; mistakes in what it is asked for
    stay as they are.
    """
    try:
        yield
    except (sa.exc.DBAPIError, sa.exc.TimeoutError) as error:
        if (diagnosis := _diagnosis(error)) is None:
            raise
        words, remedy = diagnosis
        raise DatabaseUnavailable(
            f"the database {_name(engine.url)} {words}: {reason_of(error)}", remedy
        ) from error


def reason_of(error: BaseException) -> str:
    """What the driver says, in one line."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]


def _name(url: sa.URL) -> str:
    """Without folders and accounts: who only has a shared link may read it, too."""
    name = PurePath(url.database or "").name
    return f"{name} on {url.host}" if url.host else name


def _diagnosis(error: sa.exc.SQLAlchemyError) -> tuple[str, str] | None:
    if isinstance((origin := getattr(error, "orig", None)), sqlite3.Error):
        return _SQLITE.get(getattr(origin, "sqlite_errorcode", 0) & 0xFF)
    away = isinstance(error, sa.exc.OperationalError | sa.exc.TimeoutError)  # all of a pool wait
    away = away or getattr(error, "connection_invalidated", False)
    return _POSTGRES.get(getattr(origin, "sqlstate", None) or "") or (_AWAY if away else None)
