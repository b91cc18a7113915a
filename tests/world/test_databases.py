"""Databases behind the broker, on a real PostgreSQL: what tools get, and what no SQL does."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psycopg
import pytest
import trustme

from selfeng.core.errors import NetworkRefused
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, NetworkAccess, SecretUse
from selfeng.core.places import SOURCES
from selfeng.servers.broker import Broker, BrokerLimits
from tests.databases import Postgres
from tests.world.world import CANARY, PUBLIC, only_key

pytestmark = pytest.mark.postgres

TABLES = """
CREATE TABLE orders (id int, day date, price numeric(10, 2), paid boolean, note text, tags text[]);
INSERT INTO orders VALUES (1, '2026-11-02', 12.50, true, 'a%b', '{x,y}'),
    (2, '2026-11-03', 0.10, null, null, null);
CREATE SEQUENCE counter;
CREATE FUNCTION make() RETURNS int AS 'INSERT INTO orders VALUES (9) RETURNING 9' LANGUAGE sql;
GRANT ALL ON ALL TABLES IN SCHEMA public TO writer;
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO writer;
GRANT CREATE ON SCHEMA public TO writer;
"""
ROLES = f"""
CREATE ROLE writer LOGIN PASSWORD '{CANARY}';
CREATE ROLE files LOGIN;
GRANT pg_read_server_files TO files;
CREATE ROLE climber LOGIN;
GRANT me TO climber;
"""


class Server(NamedTuple):
    """A database with two orders on a server that encrypts; the role `writer` may write there."""

    name: str
    port: int
    authority: str

    def sql(self, statement: str) -> Any:
        address = f"host=127.0.0.1 port={self.port} user=me dbname={self.name}"
        with psycopg.connect(address, autocommit=True) as connection:
            rows = connection.execute(statement)
            return rows.fetchall() if rows.description else None


@pytest.fixture(scope="module")
def server(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("authority")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    issued = authority.issue_cert("db.world.example")
    data = Path(postgres.data)
    for name, content in (
        ("server.key", issued.private_key_pem.bytes()),
        ("server.crt", b"".join(blob.bytes() for blob in issued.cert_chain_pems)),
    ):
        (data / name).write_bytes(content)
        os.chmod(data / name, 0o600)
        if os.geteuid() == 0:
            shutil.chown(data / name, "postgres")
    rules = data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"host all writer 127.0.0.1/32 scram-sha-256\n{before}")
    name = postgres.empty().rpartition("/")[2]
    its = Server(name, postgres.port, str(folder / "authority.pem"))
    its.sql("ALTER SYSTEM SET ssl = on")
    its.sql("SELECT pg_reload_conf()")
    for statement in (*ROLES.split(";"), *TABLES.split(";")):
        if statement.strip():
            its.sql(statement)
    yield its
    rules.write_text(before)
    its.sql("ALTER SYSTEM RESET ssl")
    its.sql("SELECT pg_reload_conf()")
    its.sql("DROP OWNED BY writer")
    for role in ("writer", "files", "climber"):
        its.sql(f"DROP ROLE {role}")


HOME = NetworkAccess(
    host="127.0.0.1",
    port=5432,
    scheme="postgresql",
    private=True,
    secrets=(SecretUse(name="KEY", place="basic", key="writer"),),
)
PUBLIC_HOST = HOME.model_copy(update={"host": "db.world.example", "private": False})
OPEN = HOME.model_copy(update={"secrets": ()})
FEW = BrokerLimits(rate=1e6, seconds=2.0, rows=1000, size=100_000)


async def send(
    server: Server,
    sql: str,
    parameters: object = (),
    *,
    access: NetworkAccess = HOME,
    user: str = "",
) -> tuple[HttpResponse, list[Exchange]]:
    async def resolve(host: str, port: int) -> list[str]:
        return [f"{PUBLIC}9"]

    broker = Broker(
        only_key,
        resolve=resolve,
        route=lambda address, port: ("127.0.0.1", server.port),
        authorities=server.authority,
        limits=FEW,
    )
    query = urlencode({"user": user, "sql": sql, "parameters": json.dumps(parameters)})
    url = f"postgresql://{access.host}:5432/{server.name}?{query}"
    exchanges = list[Exchange]()
    network = broker.network([access], exchanges.append)
    return await network.send(HttpRequest(method="GET", url=url)), exchanges


def value_of(response: HttpResponse) -> Any:
    return json.loads(base64.b64decode(response.body))


async def rows(server: Server, sql: str, parameters: object = ()) -> Any:
    response, _ = await send(server, sql, parameters)
    return value_of(response)


async def test_rows_have_plain_values_by_column(server: Server) -> None:
    response, (exchange,) = await send(server, "SELECT * FROM orders ORDER BY id;")
    assert (response.status, response.headers) == (200, (("content-type", "application/json"),))
    assert value_of(response) == [
        {
            "id": 1,
            "day": "2026-11-02",
            "price": 12.5,
            "paid": True,
            "note": "a%b",
            "tags": ["x", "y"],
        },
        {"id": 2, "day": "2026-11-03", "price": 0.1, "paid": None, "note": None, "tags": None},
    ]
    assert exchange.response == response
    assert CANARY not in exchange.model_dump_json()


async def test_parameters_stand_for_values_and_never_for_sql(server: Server) -> None:
    by_place = "SELECT id FROM orders WHERE note = %s OR id = ANY(%s)"
    assert await rows(server, by_place, ["a%b", [2]]) == [{"id": 1}, {"id": 2}]
    by_name = "SELECT %(text)s AS text"
    hostile = "'; DROP TABLE orders; --"
    assert await rows(server, by_name, {"text": hostile}) == [{"text": hostile}]
    assert await rows(server, "SELECT id FROM orders WHERE note LIKE 'a%'") == [{"id": 1}]
    assert await rows(server, "SELECT id FROM orders WHERE id > 5 -- none") == []
    assert await rows(server, "WITH o AS (SELECT 1 AS n) SELECT n FROM o") == [{"n": 1}]


HOSTILE = {
    "insert": "INSERT INTO orders VALUES (9)",
    "insert and return": "INSERT INTO orders VALUES (9) RETURNING id",
    "insert in a WITH": "WITH w AS (INSERT INTO orders VALUES (9) RETURNING id) SELECT * FROM w",
    "delete": "DELETE FROM orders",
    "drop": "DROP TABLE orders",
    "several statements": "SELECT 1; DELETE FROM orders",
    "out of the brackets": "SELECT 1) AS selected) AS written; DELETE FROM orders; --",
    "an end of the transaction": "SELECT 1) AS selected) AS written; COMMIT; DELETE FROM orders --",
    "commit": "COMMIT",
    "a writing transaction": "SET TRANSACTION READ WRITE",
    "settings": "SELECT set_config('transaction_read_only', 'off', false), make()",
    "settings, then a function": (
        "SELECT make() FROM (SELECT set_config('transaction_read_only', 'off', true)) AS s"
    ),
    "a function that writes": "SELECT make()",
    "a sequence": "SELECT nextval('counter')",
    "a block": "DO $$ BEGIN DELETE FROM orders; END $$",
    "a block in a select": "SELECT 1 AS a; DO $$ BEGIN DELETE FROM orders; END $$",
    "copy in": "COPY orders FROM PROGRAM 'id'",
    "copy out": "COPY orders TO '/tmp/stolen'",
    "copy to a program": "COPY (SELECT 1) TO PROGRAM 'touch /tmp/stolen'",
    "a file": "SELECT pg_read_file('/etc/passwd')",
    "a binary file": "SELECT pg_read_binary_file('/etc/passwd')",
    "a folder": "SELECT pg_ls_dir('/')",
    "a large object": "SELECT lo_import('/etc/passwd')",
    "select into": "SELECT * INTO stolen FROM orders",
    "create table": "CREATE TABLE stolen AS SELECT * FROM orders",
    "locks": "SELECT * FROM orders FOR UPDATE",
    "explain": "EXPLAIN ANALYZE DELETE FROM orders",
    "prepare": "PREPARE p AS DELETE FROM orders",
    "listen": "LISTEN news",
    "SQL in a function": "SELECT query_to_xml('DELETE FROM orders', true, true, '')",
    "another role": "SET ROLE me",
    "another role by a setting": "SELECT set_config('role', 'me', false)",
    "a comment that is not closed": "SELECT 1 /*",
    "nothing": "",
    "a zero": "SELECT 1\0",
    "sleep": "SELECT pg_sleep(60)",
    "sleep for each row": "SELECT pg_sleep(0.3) FROM generate_series(1, 1000)",
    "no time limit": "SELECT set_config('statement_timeout', '0', true), pg_sleep(60)",
    "endless": "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
    "too many rows": "SELECT generate_series(1, 1001)",
    "too large": "SELECT repeat('x', 60000) FROM generate_series(1, 2)",
    "one row that is too large": "SELECT repeat('x', 50000000)",
    "two columns of one name": "SELECT 1 AS a, 2 AS a",
}


@pytest.mark.parametrize("sql", HOSTILE.values(), ids=HOSTILE.keys())
async def test_hostile_queries_change_nothing_and_get_an_error(server: Server, sql: str) -> None:
    response, _ = await send(server, sql)
    assert (response.status, [*value_of(response)]) == (400, ["error"]), value_of(response)
    assert server.sql("SELECT count(*), sum(id) FROM orders") == [(2, 3)]
    assert server.sql("SELECT is_called FROM counter") == [(False,)]
    assert server.sql("SELECT to_regclass('stolen')") == [(None,)]
    active = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'selfeng'"
    assert server.sql(f"{active} AND state = 'active'") == [(0,)]


@pytest.mark.parametrize("user", ["me", "files", "climber"])
async def test_roles_that_may_do_more_than_read_are_refused(server: Server, user: str) -> None:
    with pytest.raises(NetworkRefused, match="may do more than read") as refused:
        await send(server, "SELECT 1", access=OPEN, user=user)
    assert "pg_read_all_data" in refused.value.remedy


async def test_without_the_secret_there_is_no_answer(server: Server) -> None:
    with pytest.raises(NetworkRefused, match=r"127\.0\.0\.1 does not answer"):
        await send(server, "SELECT 1", access=OPEN, user="writer")
    response, _ = await send(server, "SELECT 1", access=OPEN)
    assert "is not postgresql:" in value_of(response)["error"]


async def test_a_public_host_needs_a_certificate_that_is_trusted(server: Server) -> None:
    response, _ = await send(server, "SELECT ssl FROM pg_stat_ssl", access=PUBLIC_HOST)
    assert {"ssl": True} in value_of(response)
    stranger = server._replace(authority="")
    with pytest.raises(NetworkRefused, match="certificate"):
        await send(stranger, "SELECT 1", access=PUBLIC_HOST)


async def test_private_addresses_need_consent_for_databases_too(server: Server) -> None:
    public = HOME.model_copy(update={"private": False})
    with pytest.raises(NetworkRefused, match="which is private"):
        await send(server, "SELECT 1", access=public)


async def test_what_a_database_repeats_of_its_password_is_masked(server: Server) -> None:
    response, _ = await send(server, "SELECT %s AS text", [CANARY])
    assert value_of(response) == [{"text": "${KEY}"}]


async def test_other_databases_and_methods_are_not_allowed(server: Server) -> None:
    other = HOME.model_copy(update={"path": "/other"})
    with pytest.raises(NetworkRefused, match="is not allowed"):
        await send(server, "SELECT 1", access=other)


def test_exported_tools_query_by_psycopg(server: Server) -> None:
    query = (
        "import readcells\n"
        f"url = 'postgresql://me@127.0.0.1:{server.port}/{server.name}'\n"
        "print(readcells.read_query(url, 'SELECT id, day FROM orders WHERE id = %s', [2]))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", query], cwd=SOURCES, capture_output=True, text=True, check=True
    )
    assert found.stdout == "[{'id': 2, 'day': '2026-11-03'}]\n"
