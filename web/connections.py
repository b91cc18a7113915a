"""Connections: how many may be open, from one address and in all, and how long each may take.

Both servers report when one opens and closes; the WSGI middleware reports when a request begins and
ends. When there are too many, one that has not shown the token yet is closed, so that people with
the token get in while a stranger opens thousands. A connection that takes too long is shut down,
which wakes whatever waits for it, in green and in real threads alike.
"""

import logging
import os
import selectors
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING

from werkzeug.wsgi import ClosingIterator

from selfeng.core.system import open_files

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(f"selfeng.{__name__}")

CONNECTION = "agent.connection"
"""The key of a request's connection in its WSGI environment."""
_MOST = 512
_PIECE = 64 * 1024
_SLOWEST_UPLOAD = 50_000  # bytes in a second
_LOGGED_EVERY = 60.0
_Look = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""It takes no descriptor of its own, of which there may be none left."""


@dataclass(frozen=True)
class Patience:
    """Seconds that a connection may take."""

    head: float = 20.0
    """To send the head of a request, from its opening or the end of the last response; and a whole
    request without the token.
    """
    request: float = 60.0
    """From the head to the first piece of the response; longer than Socket.IO holds a poll. A body
    gets additional time by its size.
    """
    piece: float = 60.0
    """To take each piece of the response."""
    silence: float = 60.0
    """Between two messages of a websocket; an honest client answers a ping every 25 seconds."""


class ClientConnection:
    """An open connection. Others may shut it down at any time; only its server closes it."""

    def __init__(self, peer: socket.socket, address: str, patience: Patience) -> None:
        self.address, self.shown_token = address, False
        self._peer, self._patience = peer, patience
        self.await_head()

    def await_head(self) -> None:
        self.deadline = time.monotonic() + self._patience.head

    def await_response(self, body: int) -> None:
        """The head has come, with the token; a body of `body` bytes follows."""
        self.shown_token = True
        self.deadline = time.monotonic() + self._patience.request + body / _SLOWEST_UPLOAD

    def await_work(self, seconds: float) -> None:
        """The request is whole, and its response may take so long to begin."""
        self.deadline = time.monotonic() + seconds + self._patience.request

    def await_piece(self) -> None:
        self.deadline = time.monotonic() + (
            self._patience.piece if self.shown_token else self._patience.head
        )

    def await_messages(self) -> None:
        """It is a websocket from now on. The kernel ends silent ones; green sockets do not block,
        and Engine.IO watches them.
        """
        self.deadline = float("inf")
        silence = int(self._patience.silence)
        # a timeval; Windows takes milliseconds
        seconds = struct.pack("ll", silence, 0) if os.name == "posix" else 1000 * silence
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._peer.setsockopt(socket.SOL_SOCKET, option, seconds)

    def has_left(self) -> bool:
        """Whether the other side has closed the connection, while a response is being made."""
        with _Look() as look:
            look.register(self._peer, selectors.EVENT_READ)
            try:
                return bool(look.select(0)) and not self._peer.recv(1, socket.MSG_PEEK)
            except OSError:
                return True
            except ValueError:  # TLS has no peeking, and announces an end in a message of its own
                return False

    def shut_down(self) -> None:
        self.deadline = float("inf")
        with suppress(OSError):  # it has gone by itself
            self._peer.shutdown(socket.SHUT_RDWR)


class Connections:
    """The connections of one server. Safe to use from several threads."""

    def __init__(
        self, most_of_one_address: int, most: int | None = None, patience: Patience | None = None
    ) -> None:
        """`most`: of all; by default as many as leave half of the process's descriptors to
        everything else.
        """
        self._most = most or min(_MOST, open_files() // 2)
        self._most_of_one = most_of_one_address
        self._patience = patience or Patience()
        self._open: set[ClientConnection] = set()
        self._lock = threading.Lock()
        self._logged = -_LOGGED_EVERY
        threading.Thread(target=self._watch, name="connections", daemon=True).start()

    def opened(self, peer: socket.socket, address: str) -> ClientConnection | None:
        """Add one; None if there are too many and none can be closed."""
        new = ClientConnection(peer, origin(address), self._patience)
        with self._lock:
            of_address = [c for c in self._open if c.address == new.address]
            crowded = len(of_address) >= self._most_of_one and not may_be_a_proxy(new.address)
            if crowded or len(self._open) >= self._most:
                self._report(new.address)
                if not self._make_room(of_address if crowded else self._open):
                    return None
            self._open.add(new)
        return new

    def closed(self, connection: ClientConnection) -> None:
        with self._lock:
            self._open.discard(connection)

    def make_room(self) -> None:
        """Shut one down that has not shown the token; the process has no descriptor left."""
        with self._lock:
            self._make_room(self._open)

    def _make_room(self, among: Iterable[ClientConnection]) -> bool:
        strangers = [c for c in among if not c.shown_token]
        if not strangers:
            return False
        per_address = Counter(c.address for c in strangers)
        last = max(
            strangers, key=lambda c: (per_address[c.address], -c.deadline)
        )  # of the address with the most, the one that has waited longest
        last.shut_down()
        self._open.discard(last)
        return True

    def _report(self, address: str) -> None:
        if time.monotonic() - self._logged >= _LOGGED_EVERY:
            self._logged = time.monotonic()
            log.warning(
                "there are too many connections (%d), the newest from %s; strangers are shut out",
                len(self._open),
                address,
            )

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._patience.head / 4))
            with self._lock:
                late = [c for c in self._open if c.deadline < time.monotonic()]
            for connection in late:
                connection.shut_down()


class TimedRequests:
    """The outermost WSGI middleware: records what each connection is waiting for."""

    def __init__(self, app: "WSGIApplication") -> None:
        self._app = app

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        connection: ClientConnection = environ[CONNECTION]
        connection.await_piece()
        try:
            response = self._app(environ, start_response)
        except ConnectionError:
            raise
        except Exception as error:
            if not is_websocket(environ):
                raise
            log.warning("a websocket was ended: %s", f"{type(error).__name__}: {error}"[:200])
            connection.shut_down()
            raise ConnectionError from None  # servers treat it as a lost connection
        return ClosingIterator(
            _pieces(response, connection),
            [getattr(response, "close", lambda: None), connection.await_head],
        )


def is_websocket(environ: "WSGIEnvironment") -> bool:
    return "websocket" in environ.get("HTTP_UPGRADE", "").lower()


def origin(address: str) -> str:
    """The key of one person's machine: an IPv4 address, or an IPv6 network, since a machine gets
    billions of IPv6 addresses.
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(ip, IPv6Address):
        return str(ip)
    if ip.ipv4_mapped or ip.is_loopback:
        return str(ip.ipv4_mapped or ip)
    return str(IPv6Address(int(ip) >> 64 << 64))


def may_be_a_proxy(address: str) -> bool:
    """Whether many people may be behind it: only this machine itself connects from there."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return True


def _pieces(response: Iterable[bytes], connection: ClientConnection) -> Iterator[bytes]:
    for data in response:
        for start in range(0, len(data), _PIECE):
            connection.await_piece()
            yield data[start : start + _PIECE]
