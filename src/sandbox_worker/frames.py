"""Frames: JSON objects, each preceded by its length, which host, judge and judged processes
exchange.

On the wire: four bytes of length, big-endian, then that many bytes of ASCII JSON.
"""

import json
import socket
import struct
from typing import Any, NoReturn

LARGEST = 20 * 1024 * 1024
"""Bytes of the largest frame that is accepted; a claim above it is a broken or forged stream. A
value of `report.DATA` characters takes up to twice as many.
"""

_LENGTH = struct.Struct(">I")
_ENCODER = json.JSONEncoder(separators=(",", ":"))

Message = dict[str, Any]


class BrokenStream(Exception):
    """The bytes are not frames, or the stream ended within one."""


def pack(message: Message) -> bytes:
    """One frame.

    Raises:
        BrokenStream: the message is larger than a frame may be.
    """
    body = _ENCODER.encode(message).encode("ascii")
    if len(body) > LARGEST:
        raise BrokenStream(f"a message of {len(body)} bytes is larger than {LARGEST}")
    return _LENGTH.pack(len(body)) + body


class FrameReader:
    """Cuts a stream of bytes into messages."""

    def __init__(self, largest: int = LARGEST, exact: bool = False) -> None:
        """`exact`: numbers must be finite, and keys unique."""
        self._largest = largest
        self._hooks: dict[str, Any] = (
            {"parse_constant": _refuse, "object_pairs_hook": _distinct} if exact else {}
        )
        self._buffer = bytearray()

    @property
    def empty(self) -> bool:
        """Whether the stream is between two frames."""
        return not self._buffer

    def feed(self, data: bytes) -> list[Message]:
        """The messages that `data` completes.

        Raises:
            BrokenStream: the bytes are not frames of JSON objects.
        """
        self._buffer += data
        messages = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > self._largest:
                raise BrokenStream(f"a frame claims {length} bytes; {self._largest} are allowed")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            messages.append(_parse(body, self._hooks))
        return messages


def _parse(body: bytes, hooks: Message) -> Message:
    try:
        message = json.loads(body, **hooks)
    except (ValueError, RecursionError) as error:
        raise BrokenStream(f"a frame holds no JSON: {error}") from error
    if not isinstance(message, dict):
        raise BrokenStream("a frame holds no JSON object")
    return message


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _distinct(members: list[tuple[str, Any]]) -> Message:
    if len(mapping := dict(members)) < len(members):
        raise ValueError("a key occurs twice")
    return mapping


class Channel:
    """Frames over a stream socket, blocking."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._reader = FrameReader()
        self._waiting: list[Message] = []

    def send(self, message: Message) -> None:
        self.sock.sendall(pack(message))

    def receive(self) -> Message | None:
        """The next message; None when the other side has closed the stream between two frames.

        Raises:
            BrokenStream: the stream contains something else, or ended within a frame.
        """
        while not self._waiting:
            data = self.sock.recv(65536)
            if not data:
                if self._reader.empty:
                    return None
                raise BrokenStream("the stream ended within a frame")
            self._waiting = self._reader.feed(data)
        return self._waiting.pop(0)
