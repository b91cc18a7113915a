"""The databases that tests of stored state run on: SQLite, and a PostgreSQL of their own on
loopback, started from Debian's package when the first test needs it. Both begin as copies of one
that was migrated.
"""

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

from selfeng.store import database as store
from selfeng.store.database import open_database, writing
from selfeng.store.schema import properties

ON_BOTH = {
    "test_adding",
    "test_concurrency",
    "test_database",
    "test_journal",
    "test_turn_queue",
    "test_words",
}
"""Modules of transactions, locks and search by words, in which the databases differ: `make test`
runs them on both. The others run on PostgreSQL with `make test-all`, those of whole turns, whose
statements are these modules', with `make test-everywhere`.
"""
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
TEMPLATE = "migrated"


def address(engine: sa.Engine) -> str:
    """The URL, with its password, for another process; independent of the current folder."""
    url = engine.url
    if engine.dialect.name == "sqlite" and url.database:
        url = url.set(database=str(Path(url.database).resolve()))
    return url.render_as_string(hide_password=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        values = item.callspec.params if hasattr(item, "callspec") else {}
        if values.get("new_database") == "postgres" and item.path.stem not in ON_BOTH:
            item.add_marker("everywhere" if item.path.parent.name == "engine" else "extended")


class Postgres:
    """A server whose databases begin migrated. As root it runs as the user `postgres`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.port = free_port()
        self._run("initdb", "-D", self.data, "-U", "me", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()
        self._sql(f"CREATE DATABASE {TEMPLATE}")
        open_database(self.url(TEMPLATE)).dispose()

    @property
    def data(self) -> str:
        return str(self.folder / "data")

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://me@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """The address of a new database, migrated."""
        name = f"t{uuid4().hex}"
        self._sql(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
        return self.url(name)

    def empty(self) -> str:
        """The address of a new database without tables."""
        name = f"t{uuid4().hex}"
        self._sql(f"CREATE DATABASE {name}")
        return self.url(name)

    def start(self) -> None:
        options = f"-F -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        options += f" -p {self.port} -c max_connections=200"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    @contextmanager
    def stopped(self) -> Iterator[None]:
        self.stop()
        yield
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """None of its processes runs meanwhile; their connections stand."""
        first = Path(self.data, "postmaster.pid").read_text().split()[0]
        processes = [int(first)]
        _send(processes, signal.SIGSTOP)  # so that it starts no more
        try:
            listed = subprocess.run(
                ["pgrep", "-P", first], check=True, capture_output=True, text=True
            )
            processes += map(int, listed.stdout.split())
            _send(processes, signal.SIGSTOP)
            yield
        finally:
            _send(processes, signal.SIGCONT)

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.folder)

    def _sql(self, statement: str) -> None:
        import psycopg

        address = f"host=127.0.0.1 port={self.port} user=me dbname=postgres"
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)

    def _run(self, program: str, *arguments: str) -> None:
        other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        command = [str(PROGRAMS[-1] / program), *arguments]
        subprocess.run(
            [*(other if os.geteuid() == 0 else ()), *command],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )


def _send(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        with suppress(ProcessLookupError):  # its connection was closed meanwhile
            os.kill(pid, number)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


_migrate = store._migrate
_lock = threading.Lock()
_template = sqlite3.connect(":memory:", check_same_thread=False)


def _migrate_or_copy(engine: sa.Engine) -> None:
    """Migrate a database; a new one on SQLite becomes a copy with an id of its own. Migrating takes
    fifty milliseconds of processor time, copying three.
    """
    if engine.dialect.name != "sqlite" or sa.inspect(engine).get_table_names():
        _migrate(engine)
        return
    with _lock:
        is_first = not _template.execute("SELECT * FROM sqlite_master").fetchone()
        if is_first:
            _migrate(engine)
        connection = engine.raw_connection()
        own = connection.driver_connection
        assert isinstance(own, sqlite3.Connection)
        source, target = (own, _template) if is_first else (_template, own)
        source.backup(target)
        connection.close()
    with writing(engine) as changed:
        is_id = properties.c.name == "id"
        changed.execute(properties.update().where(is_id).values(value=uuid4().hex))


@pytest.fixture(autouse=True)
def _quick_databases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.stem != "test_database":
        monkeypatch.setattr(store, "_migrate", _migrate_or_copy)


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """A server that is removed at the end."""
    server = Postgres()
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def new_database(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], sa.Engine]]:
    """Opens a new database, on SQLite and on PostgreSQL."""
    postgres = request.param == "postgres" and request.getfixturevalue("postgres")
    opened: list[sa.Engine] = []

    def new() -> sa.Engine:
        url = postgres.new() if postgres else f"sqlite:///{tmp_path / f'agent{len(opened)}.db'}"
        opened.append(open_database(url))
        return opened[-1]

    yield new
    for engine in opened:
        engine.dispose()


@pytest.fixture
def database(new_database: Callable[[], sa.Engine]) -> sa.Engine:
    return new_database()
