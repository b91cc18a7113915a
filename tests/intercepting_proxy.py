"""A forward proxy on loopback that opens TLS, as a company's does, and counts the hosts behind it."""

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import trustme

_HEAD, _PIECE = 65_536, 65_536
# Python before 3.12 warns at the end of each connection that became one of TLS.
logging.getLogger("asyncio").addFilter(lambda record: "eof_received" not in str(record.msg))


class InterceptingProxy:
    """CONNECT only. `hosts` are those that clients reached, and `distrusted` those whose certificate
    a client refused.
    """

    def __init__(self, upstream: ssl.SSLContext | None = None) -> None:
        """`upstream` checks the servers behind it: as this machine does, unless another is given."""
        self.authority = trustme.CA(organization_name="Example Company")
        self.hosts: set[str] = set()
        self.distrusted: set[str] = set()
        self._upstream = upstream or ssl.create_default_context()
        self._context = cache(self._new_context)
        self._address = cache(self._new_address)
        self._loop = asyncio.new_event_loop()

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        thread.start()
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    def serve(self, listener: socket.socket) -> str:
        """Take connections from a socket that is bound; gives the address for HTTPS_PROXY."""
        started = asyncio.start_server(self._connected, sock=listener, limit=_HEAD)
        asyncio.run_coroutine_threadsafe(started, self._loop).result()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _new_context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(host).configure_cert(context)
        return context

    def _new_address(self, host: str) -> "asyncio.Task[str]":
        """Looked up once: some resolvers drop what is asked many times at once."""

        async def look_up() -> str:
            return (await self._loop.getaddrinfo(host, None, type=socket.SOCK_STREAM))[0][4][0]

        return self._loop.create_task(look_up())

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError, asyncio.CancelledError):
            await self._tunnel(reader, writer)
        with suppress(OSError):
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, *_ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split()
        host, _, port = target.rpartition(":")
        if method != "CONNECT":
            writer.write(b"HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n")
            return
        there, onward = await self._reach(host, int(port))
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            try:
                await writer.start_tls(self._context(host))
            except ssl.SSLError:
                self.distrusted.add(host)
                return
            self.hosts.add(host)
            await asyncio.gather(_pump(reader, onward), _pump(there, writer))
        finally:
            onward.close()

    async def _reach(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect as this machine does, which may need a proxy itself."""
        above = None if proxy_bypass(host) else getproxies().get("https")
        if above is None:
            address = await self._address(host)
            return await asyncio.open_connection(
                address, port, ssl=self._upstream, server_hostname=host
            )
        parts = urlsplit(above)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
        writer.write(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(self._upstream, server_hostname=host)
        return reader, writer


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    finally:
        writer.close()
