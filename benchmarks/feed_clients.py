"""Socket.IO clients of the feed's benchmark, in a process of their own: few instructions a message,
so that they take little from the server that they measure.

They speak Engine.IO over websockets themselves. While a run lasts they only note what arrived when;
what is in it is read afterwards. A token is `NUMBER@TIME`: the time on the machine's monotonic
clock at which the model sent it.
"""

import gc
import json
import re
import select
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple
from urllib.parse import urlsplit

TRIPS = 100
"""Round trips a second, of all clients together."""
_TOKEN = re.compile(r"(\d+)@(\d+\.\d+)")
_END, _PING, _PONG = b'"turn_finished"', b"2", b"3"
_FIRST = 1_000_000
"""Number of the first round trip's acknowledgement; smaller ones belong to subscriptions."""


class Seen(NamedTuple):
    """The observations of the clients in one run; times in seconds."""

    delays: list[float]
    """From the model to a client, of each token at each client."""
    trips: list[float]
    lost: int
    """Tokens that a client did not get, got twice, or got out of order."""


class Client:
    """A page that follows one conversation."""

    def __init__(self, url: str, header: str, conversation_id: str) -> None:
        parts = urlsplit(url)
        self.peer = socket.create_connection((str(parts.hostname), int(parts.port or 0)))
        self.peer.settimeout(60)
        self.peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received: list[tuple[float, bytes]] = []
        self.waits = self.ended = False
        self._buffer = b""
        lines = [
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1",
            f"Host: {parts.netloc}",
            f"Origin: {url}",
            header,
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        ]
        self.peer.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101"), head
        self.send(b"40")
        self._await(b"40")
        self.send(b'420["subscribe",{"conversation_id":"%s"}]' % conversation_id.encode())
        assert b'"ok":true' in self._await(b"430")
        self.peer.setblocking(False)

    def send(self, message: bytes) -> None:
        size = len(message)
        head = bytes([0x81, 0x80 | size]) if size < 126 else struct.pack("!BBH", 0x81, 0xFE, size)
        self.peer.sendall(head + bytes(4) + message)  # the mask is 0

    def messages(self) -> Iterator[bytes]:
        """The messages that have arrived completely."""
        self._buffer += self._more()
        while len(self._buffer) >= 2:
            size, start = self._buffer[1], 2
            if size > 125:
                start += 2 if size == 126 else 8
                size = int.from_bytes(self._buffer[2:start])
            if len(self._buffer) < start + size:
                break
            message, self._buffer = (
                self._buffer[start : start + size],
                self._buffer[start + size :],
            )
            yield message

    def _await(self, beginning: bytes) -> bytes:
        while True:
            for message in self.messages():
                if message.startswith(beginning):
                    return message

    def _more(self) -> bytes:
        data = self.peer.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed a connection")
        return data


def follow(
    pipe: Connection, server: tuple[str, str], conversations: Sequence[str], count: int, tokens: int
) -> None:
    """Connect `count` clients, spread over the conversations, and say "ready"; when every turn has
    ended send what was `Seen`, and leave when something is received. `server`: its URL, and the
    header that lets clients in.
    """
    gc.disable()
    clients = [Client(*server, conversations[n % len(conversations)]) for n in range(count)]
    pipe.send("ready")
    trips = _run(clients)
    delays, lost = list[float](), 0
    for client in clients:
        got = list[int]()
        for moment, message in client.received:
            for number, sent in _TOKEN.findall(_answer(message)):
                got.append(int(number))
                delays.append(moment - float(sent))
        lost += abs(tokens - len(got)) + sum(a != b for a, b in enumerate(got))
    pipe.send(Seen(delays, trips, lost))
    pipe.recv()


def _answer(message: bytes) -> str:
    """The pieces of an answer in it, without the whole one with which a turn ends."""
    name, *bodies = json.loads(message[2:])
    events = [r["event"] for body in bodies if name == "records" for r in body["records"]]
    return "".join(event["text"] for event in events if event["type"] == "answer_token")


def _run(clients: Sequence[Client], silence: float = 20.0) -> list[float]:
    """Until every client's turn has ended, or nothing but pings came for some seconds."""
    epoll = select.epoll()
    of_descriptor = {client.peer.fileno(): client for client in clients}
    for descriptor in of_descriptor:
        epoll.register(descriptor, select.EPOLLIN)
    trips, sent = list[float](), dict[int, float]()
    news = due = time.monotonic()
    number = 0
    while not all(client.ended for client in clients) and time.monotonic() - news < silence:
        for descriptor, _ in epoll.poll(max(0.0, due - time.monotonic())):
            client = of_descriptor[descriptor]
            for message in client.messages():
                now = time.monotonic()
                if message == _PING:
                    client.send(_PONG)
                elif message.startswith(b"43"):
                    trips.append(now - sent.pop(int(message[2 : message.index(b"[")])))
                    client.waits = False
                else:
                    news = now
                    client.received.append((now, message))
                    client.ended = client.ended or _END in message
        if (now := time.monotonic()) >= due:
            due = max(due + 1 / TRIPS, now - 0.1)
            client = clients[number % len(clients)]
            number += 1
            if not client.waits:
                client.waits, sent[_FIRST + number] = True, time.monotonic()
                client.send(b'42%d["say",{"turn_id":"unknown","word":"pause"}]' % (_FIRST + number))
    return trips
