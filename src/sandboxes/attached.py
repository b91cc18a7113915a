"""The attached stream of a container: frames of the judge from its stdout, and what it says on stderr for error messages."""

import socket
import ssl
import struct
import threading
from typing import Any

from src.sandboxes.bridge import bridged
from src.sandboxes.worker.frames import FrameReader, Message

_STDOUT = 1
_HEADER = struct.Struct(">BxxxL")
_NOISE = 4000


class Attached:
    """The socket of one container and what has come through it so far."""

    def __init__(self, raw: Any) -> None:
        """`raw` is what the SDK hands out: a file-like object around the socket, or a socket of TLS or SSH."""
        self._raw = raw
        sock = getattr(raw, "_sock", raw)
        plain = isinstance(sock, socket.socket) and not isinstance(sock, ssl.SSLSocket)
        self.socket: socket.socket = sock if plain else bridged(sock)
        """A plain socket, which the event loop can wait for."""
        self.unread: list[Message] = []
        """Frames that have arrived and concern nobody yet."""
        self._reader = FrameReader()
        self._stream = bytearray()
        self._noise = bytearray()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the other side has neither closed the stream nor said anything that nobody has read."""
        try:
            self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def take(self, data: bytes) -> list[Message]:
        """The frames that `data` completes.

        Raises:
            BrokenStream: the judge's stdout holds no frames.
        """
        self._stream += data
        out = bytearray()
        while len(self._stream) >= _HEADER.size:
            stream, length = _HEADER.unpack_from(self._stream)
            end = _HEADER.size + length
            if len(self._stream) < end:
                break
            payload = self._stream[_HEADER.size : end]
            if stream == _STDOUT:
                out += payload
            else:
                self._noise += payload[: _NOISE - len(self._noise)]
            del self._stream[:end]
        return self._reader.feed(bytes(out))

    def said(self) -> str:
        return self._noise.decode("utf-8", "replace").strip()[-1000:] or "it said nothing"

    def hang_up(self) -> None:
        """Close both directions: the judge ends itself, and whoever waits for it here reads the end. From any thread."""
        with self._lock:
            if self._closed:
                return
            try:
                self.socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it is closed already

    def close(self) -> None:
        self.hang_up()
        with self._lock:
            self._closed = True
        self.socket.close()
        response = getattr(self._raw, "_response", None)
        if response is not None:
            response.close()
