"""Databases: queries of tools, each in a transaction of its own, which only reads."""

import asyncio
import json
import os
import ssl
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.core.errors import NetworkRefused
from selfeng.core.packages import lacking

_AUTHORITIES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_POWERS = ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"]
_POWERFUL = """
    SELECT rolname FROM pg_roles
    WHERE (rolsuper OR rolname = ANY(%s)) AND pg_has_role(session_user, oid, 'MEMBER') LIMIT 1
"""
_ROWS = """
    SELECT CASE WHEN octet_length(row) <= {size} THEN row END
    FROM (SELECT row_to_json(selected)::text AS row FROM (
{sql}
    ) AS selected) AS written
"""
"""In brackets a statement can only select, and one statement is sent at a time."""


async def query(
    server: Mapping[str, Any], fields: Mapping[str, str], *, rows: int, size: int, seconds: float
) -> str:
    """The rows of the SELECT `sql` of the fields as a JSON list of objects; `parameters`, JSON,
    take the places of `%s` or `%(name)s`. `server`: options of libpq.

    Raises:
        ValueError: the database refuses the query, it gives more than so many rows or bytes, or
            takes longer.
        NetworkRefused: the server does not answer, or the role may do more than read.
    """
    options, texts, room = _options(server), list[str](), size
    from psycopg import AsyncConnection, Error, OperationalError, errors

    sql = fields.get("sql", "").strip().rstrip(";")
    try:
        async with (
            asyncio.timeout(seconds),
            await AsyncConnection.connect(**options, autocommit=True) as connection,
            connection.transaction(force_rollback=True),
        ):
            await connection.execute("SET TRANSACTION READ ONLY")
            await connection.execute(f"SET LOCAL statement_timeout = {round(seconds * 1000)}")
            # the first query, after which no SET makes the transaction write
            if role := await (await connection.execute(_POWERFUL, [_POWERS])).fetchone():
                raise NetworkRefused(
                    f"the role {server['user']!r} may do more than read: it is a {role[0]}",
                    "use one that only reads: CREATE ROLE reader LOGIN PASSWORD '…' IN ROLE "
                    "pg_read_all_data",
                )
            async with connection.cursor("rows") as cursor:
                parameters = json.loads(fields.get("parameters") or "null") or None
                await cursor.execute(_ROWS.format(size=size, sql=sql).encode(), parameters)
                while batch := await cursor.fetchmany(500):
                    texts += [text or "" for (text,) in batch]
                    room -= sum(len(text.encode()) + 2 if text else size for (text,) in batch)
                    if len(texts) > rows or room < 0:
                        raise ValueError(
                            f"the query gives more than {rows} rows or {size} bytes; add a LIMIT"
                        )
    except (TimeoutError, errors.QueryCanceled):
        raise ValueError(f"the query takes longer than {seconds:g} seconds") from None
    except OperationalError as error:
        raise NetworkRefused(f"{server['host']} does not answer: {error}") from None
    except Error as error:
        raise ValueError(error.diag.message_primary or str(error)) from None
    _check_names(texts[:1])
    return f"[{', '.join(texts)}]"


def _check_names(rows: Sequence[str]) -> None:
    names = [name for row in rows for name, _ in json.loads(row, object_pairs_hook=list)]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two columns are named {min(twice)!r}; rename one by AS")


def _options(server: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a connection, which has nothing from the environment or files of the user."""
    if lacking("psycopg"):
        remedy = "run `pip install 'psycopg[binary]'`"
        raise NetworkRefused("databases need the Python package psycopg", remedy)
    if not server["user"] or not server["dbname"]:
        raise ValueError("the address is not postgresql://USER@HOST/DATABASE")
    paths = (ssl.get_default_verify_paths().cafile or "", *_AUTHORITIES)
    authorities = next(filter(os.path.isfile, paths), "system")
    return {
        "sslrootcert": authorities if server["sslmode"] == "verify-full" else "",
        "passfile": os.devnull,
        "sslcertmode": "disable",
        "gssencmode": "disable",
        "require_auth": "!gss,!sspi",
        "connect_timeout": 10,
        "client_encoding": "UTF8",
        "application_name": "selfeng",
        "options": "",
        "prepare_threshold": None,
        **server,
    }
