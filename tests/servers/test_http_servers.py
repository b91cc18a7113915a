"""Servers over HTTP that are slow, point elsewhere or never end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from selfeng.servers import server_connection
from tests.servers.mcp_examples import entry, opened, write

Behave = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(behave: Behave) -> AsyncIterator[tuple[str, list[bytes]]]:
    """The address of a server that answers each request so, and the requests that it got."""
    requests: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            requests.append(await reader.readuntil(b"\r\n\r\n"))
            await behave(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp", requests


def answer(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def dripping(writer: asyncio.StreamWriter) -> None:
    writer.write(answer("200 OK", "Content-Type: application/json"))
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.05)


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(answer("200 OK", "Content-Type: application/json"))
    while True:
        writer.write(b" " * 65536)
        await writer.drain()


async def endless_events(writer: asyncio.StreamWriter) -> None:
    writer.write(answer("200 OK", "Content-Type: text/event-stream"))
    while True:
        writer.write(b": nothing\n" * 1000)
        await writer.drain()


@pytest.mark.parametrize("behave", [silent, dripping, endless, endless_events])
async def test_a_server_that_never_ends_fails_and_disturbs_no_other(
    database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behave: Behave
) -> None:
    monkeypatch.setattr(server_connection, "_OPENING", 1.5)
    monkeypatch.setattr(server_connection, "LARGEST_EVENT", 2 * 1024 * 1024)
    async with serving(behave) as (url, _):
        file = write(tmp_path, bad={"url": url}, good=entry(tmp_path))
        async with opened(database, file) as servers:
            found = {s.status.name: s.status for s in await servers.servers(wait=20)}
    assert (found["bad"].state, found["good"].state) == ("failed", "connected")
    assert found["bad"].problem


async def test_a_redirection_is_not_followed_and_gets_no_headers(database, tmp_path: Path) -> None:
    async def elsewhere(writer: asyncio.StreamWriter) -> None:
        writer.write(answer("307 Temporary Redirect", f"Location: {other}", "Content-Length: 0"))
        await writer.drain()

    async with serving(silent) as (other, reached), serving(elsewhere) as (url, _):
        file = write(tmp_path, s={"url": url, "headers": {"Authorization": "Bearer key"}})
        async with opened(database, file) as servers:
            (server,) = await servers.servers(wait=20)
    assert server.status.state == "failed"
    assert reached == []
