"""The database: migrations, transactions and what SQLite is told."""

import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.migration import MigrationContext

from selfeng.core.errors import ConfigurationError, DatabaseUnavailable
from selfeng.store.database import (
    id_of,
    migrations,
    open_database,
    reading,
    sole_server,
    writing,
)
from selfeng.store.schema import (
    WORD_INDEX,
    conversations,
    metadata,
    properties,
    turns,
)

OF_POSTGRES = {"lexemes", "length", WORD_INDEX}
OURS = {
    "include_object": lambda _, name, kind, *__: (
        name not in OF_POSTGRES and (kind != "table" or not name.startswith(WORD_INDEX))
    )
}
"""The schema knows nothing of virtual tables and of those that SQLite makes for them, nor of what
PostgreSQL computes.
"""


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'new' / 'folder' / 'agent.db'}"


def test_migrations_build_exactly_the_schema(database: sa.Engine) -> None:
    with reading(database) as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": True, **OURS}
        )
        missing = render_python_code(produce_migrations(context, metadata).upgrade_ops)
        assert compare_metadata(context, metadata) == [], missing


def test_a_migration_that_lacks_a_column_would_be_noticed(url: str) -> None:
    engine = open_database(url)
    with writing(engine) as connection:
        connection.exec_driver_sql("ALTER TABLE tools DROP COLUMN uses")
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts=OURS)
        assert [d[0] for d in compare_metadata(context, metadata)] == ["add_column"]
    engine.dispose()


def test_opening_again_keeps_what_is_there(url: str) -> None:
    first = open_database(url)
    with writing(first) as connection:
        connection.execute(
            conversations.insert().values(
                id="c", owner="o", title="t", created_at=sa.func.current_timestamp()
            )
        )
    first.dispose()
    second = open_database(url)
    with reading(second) as connection:
        assert connection.scalars(sa.select(conversations.c.id)).all() == ["c"]
    second.dispose()


def test_a_connection_that_comes_back_after_the_end_is_closed(database: sa.Engine) -> None:
    closed: list[object] = []
    sa.event.listen(database, "close", lambda connection, record: closed.append(connection))
    with database.connect() as used:
        connection = used.connection.dbapi_connection
        database.dispose()
        assert closed == []
    assert closed == [connection]
    with database.connect() as late:
        closed.append(late.connection.dbapi_connection)
    assert closed[1:] == [closed[1]] * 2


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "sqlite:////proc/x/y.db",
            "sqlite:////proc/x/y.db can't be opened: [Errno 2] No such file or directory: "
            "'/proc/x'",
        ),
        (
            "sqlite:///{here}/file/y.db",
            "sqlite:///{here}/file/y.db can't be opened: [Errno 17] File exists: '{here}/file'",
        ),
        ("sqlite:///{here}/file", "sqlite:///{here}/file can't be opened: file is not a database"),
        (
            "sqlite:///{here}/folder",
            "sqlite:///{here}/folder can't be opened: unable to open database file",
        ),
        (
            "postgresql+psycopg://me:secret@127.0.0.1:1/db",
            "postgresql+psycopg://***@127.0.0.1:1/db can't be opened: connection failed",
        ),
        (
            "postgresql+psycopg://me:secret@127.0.0.1:port/db",
            "postgresql+psycopg://***@127.0.0.1:port/db can't be opened: ",
        ),
    ],
)
def test_a_database_that_cannot_be_opened_is_named_with_the_reason(
    tmp_path: Path, url: str, message: str
) -> None:
    (tmp_path / "file").write_text("something else\n" * 100)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(url.format(here=tmp_path))
    assert caught.value.message.startswith(message.format(here=tmp_path))
    assert caught.value.remedy.endswith(("use SQLite", "name another database"))


def test_without_its_driver_a_database_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database("postgresql+psycopg://me:secret@127.0.0.1:1/db")
    assert "***@127.0.0.1:1/db needs the Python package psycopg" in caught.value.message
    assert caught.value.remedy == "run `pip install 'psycopg[binary]'`, or use SQLite"


@pytest.mark.parametrize("revision", ["0001", "0035", "9999"])
def test_a_database_of_an_unknown_revision_is_left_alone(url: str, revision: str) -> None:
    engine = open_database(url)
    with writing(engine) as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
    engine.dispose()
    before = Path(url.removeprefix("sqlite:///")).read_bytes()
    with pytest.raises(DatabaseUnavailable, match=f"'{revision}'") as caught:
        open_database(url)
    assert "if a newer version of this program wrote it, update" in caught.value.remedy
    assert "before the first release" in caught.value.remedy
    assert Path(url.removeprefix("sqlite:///")).read_bytes() == before


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.db'}"
    return str(request.getfixturevalue("postgres").empty())


def test_a_database_of_the_first_migration_is_upgraded_and_keeps_its_rows(empty_url: str) -> None:
    created = datetime(2026, 1, 1, tzinfo=UTC)
    started = created + timedelta(days=1)
    old = sa.create_engine(empty_url)
    with old.begin() as connection:
        config = migrations()
        config.attributes["connection"] = connection
        command.upgrade(config, "0036")
        for name in ("with", "without"):
            values = {"id": name, "owner": "o", "title": "t", "created_at": created}
            connection.execute(conversations.insert().values(values))
        turn = {"id": "t", "conversation_id": "with", "request": "r", "state": "finished"}
        connection.execute(turns.insert().values(started_at=started, **turn))
    old.dispose()
    engine = open_database(empty_url)
    with reading(engine) as connection:
        found = connection.execute(sa.select(conversations.c.id, conversations.c.active_at))
        active = {name: at.replace(tzinfo=at.tzinfo or UTC) for name, at in found}
    assert active == {"with": started, "without": created}
    engine.dispose()


def test_a_database_has_an_id_of_its_own_for_life(url: str, tmp_path: Path) -> None:
    ids = []
    for address in (url, url, f"sqlite:///{tmp_path / 'other.db'}"):
        engine = open_database(address)
        ids.append(id_of(engine))
        engine.dispose()
    assert ids == [ids[0], ids[0], ids[2]]
    assert ids[0] != ids[2]


def _open_and_report(
    url: str, go: "multiprocessing.synchronize.Barrier", results: "multiprocessing.Queue[str]"
) -> None:
    go.wait()
    try:
        open_database(url).dispose()
        results.put("opened")
    except BaseException as error:  # noqa: BLE001 - reported to the test
        results.put(repr(error))


def test_processes_may_open_a_new_database_at_once(url: str) -> None:
    context = multiprocessing.get_context("spawn")
    go, results = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=_open_and_report, args=(url, go, results)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    assert [results.get(timeout=60) for _ in processes] == ["opened"] * 3
    for process in processes:
        process.join()


def test_sqlite_is_told_to_be_safe_and_concurrent(url: str) -> None:
    engine = open_database(url)
    with reading(engine) as connection:
        pragmas = ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        assert [connection.exec_driver_sql(f"PRAGMA {p}").scalar() for p in pragmas] == [
            "wal",
            1,
            1,
            10000,
        ]
    engine.dispose()


def test_a_row_without_its_parent_is_refused_and_rolled_back(url: str) -> None:
    engine = open_database(url)
    row = {
        "id": "t",
        "conversation_id": "nobody",
        "request": "r",
        "state": "running",
        "started_at": sa.func.current_timestamp(),
    }
    with pytest.raises(sa.exc.IntegrityError), writing(engine) as connection:
        connection.execute(turns.insert().values(**row))
    with reading(engine) as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(turns)) == 0
    engine.dispose()


def test_writing_takes_the_lock_at_once_and_reading_never_waits(url: str) -> None:
    engine = open_database(url)
    with writing(engine), reading(engine) as other:
        assert other.scalar(sa.select(sa.func.count()).select_from(turns)) == 0
        other.rollback()
        other.exec_driver_sql("PRAGMA busy_timeout = 1")
        other.rollback()
        with pytest.raises(sa.exc.OperationalError, match="locked"):
            other.execution_options(writing=True).execute(sa.text("SELECT 1"))
    engine.dispose()


def _locked(engine: sa.Engine, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    sa.event.listen(engine, "checkout", lambda c, *_: c.execute("PRAGMA busy_timeout = 1"))
    sa.event.listen(engine, "engine_disposed", lambda _: other.close())


def _read_only(engine: sa.Engine, path: Path) -> None:
    sa.event.listen(engine, "checkout", lambda c, *_: c.execute("PRAGMA query_only = 1"))


def _full(engine: sa.Engine, path: Path) -> None:
    sa.event.listen(engine, "checkout", lambda c, *_: c.execute("PRAGMA max_page_count = 1"))


def _damaged(engine: sa.Engine, path: Path) -> None:
    engine.dispose()
    for file in path.parent.glob("agent.db*"):
        file.unlink()
    path.write_bytes(b"something else" * 1000)


def _gone(engine: sa.Engine, path: Path) -> None:
    engine.dispose()
    shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    ("harm", "words", "remedy"),
    [
        (_locked, "is locked: database is locked", "end the program that holds it"),
        (_read_only, "can't be written: attempt to write a readonly", "make the file and"),
        (_full, "has no space left: database or disk is full", "free space on its disk"),
        (_damaged, "is damaged: file is not a database", "`selfeng restore FILE` brings"),
        (_gone, "can't be opened: unable to open database file", "check that its folder"),
    ],
)
def test_trouble_is_told_with_what_to_do(
    url: str, harm: Callable[[sa.Engine, Path], None], words: str, remedy: str
) -> None:
    engine = open_database(url)
    try:
        harm(engine, Path(url.removeprefix("sqlite:///")))
        many = [{"name": f"{n}", "value": "x" * 4000} for n in range(10)]
        with pytest.raises(DatabaseUnavailable) as caught, writing(engine) as connection:
            connection.execute(properties.insert(), many)
    finally:
        engine.dispose()
    assert caught.value.message.startswith(f"the database agent.db {words}")
    assert remedy in caught.value.remedy


def test_a_mistake_is_no_trouble_of_the_database(database: sa.Engine) -> None:
    with pytest.raises(sa.exc.DBAPIError), reading(database) as connection:
        connection.execute(sa.text("SELECT nothing FROM nowhere"))


def test_a_percent_sign_in_the_path_is_no_problem(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / '50%(off)s.db'}")
    engine.dispose()
    assert (tmp_path / "50%(off)s.db").exists()


_SERVES = """
import sys
from selfeng.store.database import open_database, sole_server

with sole_server(open_database(sys.argv[1])):
    print("serves", flush=True)
    sys.stdin.read()
"""


def test_one_process_serves_a_sqlite_and_its_death_frees_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.db'}"
    command = [sys.executable, "-c", _SERVES, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"serves\n"
        database = open_database(url)  # as commands do beside it
        with pytest.raises(ConfigurationError) as caught, sole_server(database):
            pass
        assert caught.value.message == f"another server uses {tmp_path}: process {other.pid}"
        assert "set another DATA_DIR" in caught.value.remedy
        assert "PostgreSQL" in caught.value.remedy
        other.kill()
        other.wait()
        with sole_server(database):
            pass
        database.dispose()


def test_a_database_in_memory_has_no_other_server(tmp_path: Path) -> None:
    with sole_server(sa.create_engine("sqlite://")):
        assert not list(tmp_path.iterdir())
