"""The database: opening it, migrating it to the newest schema, and transactions for reading and
writing.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import wraps
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from filelock import FileLock, Timeout

from selfeng.core.errors import ConfigurationError, DatabaseUnavailable
from selfeng.core.private import make_file_private, make_private
from selfeng.store.schema import properties

P = ParamSpec("P")
T = TypeVar("T")

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
    """The first line of the driver's message."""
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


if TYPE_CHECKING:
    import psycopg
    from alembic.config import Config

MIGRATIONS = Path(__file__).parent / "migrations"

_CACHE_KB = 16_000
"""Cache of each SQLite connection. The default of 2 MB is a fraction of a large library's indexes.
"""
# Of connections to PostgreSQL, unless DATABASE_URL says otherwise: within half a minute they notice
# that the machine of the database is gone.
_IN_TIME = {
    "connect_timeout": "5",
    "tcp_user_timeout": "25000",  # milliseconds
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
_IDLE = "30s"
"""How long a transaction on PostgreSQL may wait for its process, which may be stopped forever."""
_MIGRATING, _WRITING = 0x5E1F_A6E7, 0x5E1F_A6E8
"""Arbitrary numbers: the advisory locks of PostgreSQL that every process of ours takes to migrate,
and to write.
"""
_WRITER = "writer"
"""Option of an engine on SQLite: the lock of its threads that write."""


def open_database(url: str) -> sa.Engine:
    """Open the database, creating it and its folder if needed, and migrate it to the newest schema.

    Any number of processes may do so at once: one migrates, the others wait for it. Blocking: call
    it in a thread.

    Raises:
        DatabaseUnavailable: it can't be opened, or its driver is not installed; names it without
            its password.
    """
    try:
        return _open(url)
    except ImportError as error:
        raise DatabaseUnavailable(
            f"{_without_password(url)} needs the Python package psycopg: {error}",
            "run `pip install 'psycopg[binary]'`, or use SQLite",
        ) from error
    except DatabaseUnavailable as error:
        raise _unopened(url, error.__cause__ or error) from error
    except (OSError, ValueError, sa.exc.SQLAlchemyError, sqlite3.Error) as error:
        raise _unopened(url, error) from error


def attach(url: str) -> sa.Engine:
    """Connect to a database that another process has opened, without migrating it. Errors appear at
    the first use.
    """
    parsed = sa.make_url(url)
    remote = parsed.get_backend_name() == "postgresql"
    engine = sa.create_engine(parsed.set(query={**_IN_TIME, **parsed.query}) if remote else parsed)
    if remote:
        sa.event.listen(engine, "connect", _end_idle_transactions)
        sa.event.listen(engine, "checkout", _check)
    else:
        _speak_sqlite(engine)
        engine.update_execution_options(**{_WRITER: threading.Lock()})
    _close_what_comes_back_late(engine)
    return engine


def _open(url: str) -> sa.Engine:
    engine = attach(url)
    try:
        with _one_process_only(engine.url):
            if engine.dialect.name == "sqlite":
                _keep_a_write_ahead_log(engine)
            _migrate(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _without_password(url: str) -> str:
    return re.sub("//[^/]*@", "//***@", url)


def _unopened(url: str, error: BaseException) -> DatabaseUnavailable:
    remedy = "check that it is reachable and writable, or name another database"
    if isinstance(error, _NotMigrated):
        remedy = (
            "if a newer version of this program wrote it, update; if one before the first release "
            "did, export its tools with that version and name another database"
        )
    return DatabaseUnavailable(
        f"{_without_password(url)} can't be opened: {reason_of(error)}", remedy
    )


@contextmanager
def reading(engine: sa.Engine, *, once: bool = False) -> Iterator[sa.Connection]:
    """A connection that sees one consistent state of the database. `once`: for a single statement,
    which PostgreSQL then runs without a transaction: one round trip instead of three.

    Raises: DatabaseUnavailable.
    """
    of_postgres = {"isolation_level": "AUTOCOMMIT" if once else "REPEATABLE READ"}
    options = of_postgres if engine.dialect.name == "postgresql" else {}
    with explain_errors(engine), engine.connect().execution_options(**options) as connection:
        yield connection


def fetch(engine: sa.Engine, query: sa.Executable) -> Sequence[sa.Row[Any]]:
    """The rows of one query, which on PostgreSQL costs one round trip. Raises:
    DatabaseUnavailable.
    """
    with reading(engine, once=True) as connection:
        return connection.execute(query).all()


def fetch_column(engine: sa.Engine, query: sa.Executable) -> list[Any]:
    """The first column of the rows of one query, as `fetch`."""
    return [row[0] for row in fetch(engine, query)]


def fetch_value(engine: sa.Engine, query: sa.Select[Any]) -> Any | None:
    """The first column of the first row, as `fetch`; None without one."""
    return next(iter(fetch_column(engine, query.limit(1))), None)


def reads(
    function: Callable[Concatenate[sa.Connection, P], T],
) -> Callable[Concatenate[Any, P], T]:
    """A method of a class with an `_engine` that gives the function a connection for reading."""

    @wraps(function)
    def method(self: Any, /, *arguments: P.args, **options: P.kwargs) -> T:
        with reading(self._engine) as connection:
            return function(connection, *arguments, **options)

    return method


@contextmanager
def writing(engine: sa.Engine, *, exclusive: bool = True) -> Iterator[sa.Connection]:
    """A connection in a transaction that is committed at the end, or rolled back by an exception.

    One process at a time writes, so that what was read before stays true until the end: SQLite has
    one write lock, taken at once (`BEGIN IMMEDIATE`); on PostgreSQL an advisory lock does it. Where
    the statements are safe concurrently with those of others, such as the journal's,
    `exclusive=False` lets PostgreSQL run them side by side. The threads of this process wait for
    SQLite's lock in line: SQLite itself has each look again after ever longer pauses, so that some
    wait for seconds where many write.

    Raises: DatabaseUnavailable.
    """
    with (
        explain_errors(engine),
        engine.get_execution_options().get(_WRITER) or nullcontext(),
        engine.connect() as connection,
        connection.execution_options(writing=True).begin(),
    ):
        if exclusive and engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITING)))
        yield connection


def utc(at: datetime) -> datetime:
    """Add the time zone UTC, which SQLite does not store."""
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def storable(text: str) -> str:
    """The text with torn surrogate pairs joined, lone halves replaced by U+FFFD and NUL characters
    removed.
    """
    if text.isascii() and "\0" not in text:
        return text
    return (
        text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def storable_data(data: Any) -> Any:
    """The same for every string within plain data."""
    match data:
        case str():
            return storable(data)
        case dict():
            return {storable_data(key): storable_data(value) for key, value in data.items()}
        case list() | tuple():
            return [storable_data(value) for value in data]
        case _:
            return data


def id_of(engine: sa.Engine) -> str:
    """The random id that the database got when it was created; copies share it."""
    return str(fetch_value(engine, sa.select(properties.c.value).where(properties.c.name == "id")))


def contents_of(engine: sa.Engine) -> str:
    """Names what the database holds, for copies that are kept elsewhere: its id, and that of the
    last backup that was restored to it, after which revisions may have been used twice.
    """
    names = properties.c.name.in_(("id", "restored"))
    query = sa.select(properties.c.value).where(names).order_by(properties.c.name)
    return ":".join(fetch_column(engine, query))


@contextmanager
def sole_worker(engine: sa.Engine, work: str) -> Iterator[bool]:
    """Whether this is the only worker that does this work for the database, of all processes on all
    machines; until the end of the context no other gets True. Never waits.
    """
    if engine.dialect.name == "postgresql":
        key = int.from_bytes(sha256(work.encode()).digest()[:8], signed=True)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            alone = bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(key))))
            try:
                yield alone
            finally:
                if alone:
                    connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
        return
    lock = FileLock(f"{engine.url.database}.{work}.lock", mode=0o600, is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def sole_server(engine: sa.Engine) -> Iterator[None]:
    """Let no other process serve this SQLite meanwhile: what one does, the others would not
    notice. Any number of them share a PostgreSQL.

    Raises: ConfigurationError: another process serves it.
    """
    if engine.dialect.name != "sqlite" or not _is_file(engine.url):
        yield
        return
    path = Path(engine.url.database or "")
    note = path.with_name(f"{path.name}.server")
    with sole_worker(engine, "server") as alone:
        if not alone:
            process = note.read_text() if note.exists() else "that is starting"
            raise ConfigurationError(
                f"another server uses {path.parent}: process {process}",
                "end it, or set another DATA_DIR; several servers can share a PostgreSQL, which "
                "DATABASE_URL names",
            )
        note.write_text(str(os.getpid()))
        yield


def migrations() -> "Config":
    """Alembic's configuration, in place of an alembic.ini."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


class _NotMigrated(ValueError):
    pass


def _is_newest(engine: sa.Engine) -> bool:
    """Whether nothing has to be migrated, checked without Alembic, which takes a quarter of a
    server's start-up time.
    """
    newest = max(path.name for path in MIGRATIONS.glob("versions/[0-9]*.py")).partition("_")[0]
    with reading(engine) as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return False
        return connection.execute(
            sa.text("SELECT version_num FROM alembic_version")
        ).scalars().all() == [newest]


def _migrate(engine: sa.Engine) -> None:
    if _is_newest(engine):
        return
    from alembic import command
    from alembic.util import CommandError

    config = migrations()
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise _NotMigrated(str(error)) from error


def _one_process_only(url: sa.URL) -> AbstractContextManager[object]:
    """Switching SQLite to WAL fails, without waiting, while another process does the same; a lock
    file prevents that.
    """
    if url.get_backend_name() != "sqlite" or not url.database:
        return nullcontext()
    path = Path(url.database)
    if not path.parent.is_dir():
        make_private(path.parent)
    if _is_file(url):
        make_file_private(path)
    return FileLock(f"{path}.lock", mode=0o600)


def _is_file(url: sa.URL) -> bool:
    return not (url.database or ":memory:").startswith((":memory:", "file:"))


def _keep_a_write_ahead_log(engine: sa.Engine) -> None:
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("PRAGMA journal_mode = WAL")  # kept in the file
    finally:
        connection.close()


def _close_what_comes_back_late(engine: sa.Engine) -> None:
    """Close each connection that a thread still uses when the engine is disposed of: SQLAlchemy
    leaves those to the garbage collector.
    """
    disposed = False

    @sa.event.listens_for(engine, "engine_disposed")
    def _dispose(_engine: sa.Engine) -> None:
        nonlocal disposed
        disposed = True

    @sa.event.listens_for(engine, "checkin")
    def _close(_connection, record):  # type: ignore[no-untyped-def]
        if disposed:
            record.invalidate()


def _end_idle_transactions(connection: "psycopg.Connection[Any]", *_: object) -> None:
    """A process that is stopped in the middle of a change would keep the lock of all others."""
    connection.execute(f"SET idle_in_transaction_session_timeout = '{_IDLE}'")
    connection.commit()


def _check(connection: "psycopg.Connection[Any]", *_: object) -> None:
    """Replace a connection whose server was restarted, or does not answer in time: the kernel of a
    server that hangs acknowledges all that is sent, so nothing else ends the wait.

    Raises: InvalidatePoolError.
    """
    from psycopg import Error, generators

    try:
        connection.pgconn.send_query(b"")
        connection.wait(
            generators.execute(connection.pgconn), timeout=float(_IN_TIME["connect_timeout"])
        )
    except Error as error:
        raise sa.exc.InvalidatePoolError from error


def _speak_sqlite(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def _configure(connection, _record):  # type: ignore[no-untyped-def]
        connection.isolation_level = (
            None  # Python's driver must not begin transactions itself: `_begin` does
        )
        for pragma in (
            "busy_timeout = 10000",
            "foreign_keys = ON",
            "secure_delete = ON",  # nothing of a deleted conversation stays in the file
            "synchronous = NORMAL",
            f"cache_size = -{_CACHE_KB}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(
            "BEGIN IMMEDIATE" if connection.get_execution_options().get("writing") else "BEGIN"
        )
